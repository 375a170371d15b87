import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { OperatorError } from '../../operator/base/errors';
import { isRunning, type LiveProcess } from '../../tools/live-process';

export interface ProcessState extends LiveProcess {
  name: string;
  log: string;
}

/** A development cluster as its supervisor describes it for `status`, `logs` and `down`. */
export interface DevState {
  supervisor: LiveProcess;
  phase: 'Starting' | 'Ready' | 'Stopping' | 'Failed';
  /** Why it ended by itself. */
  failure?: string;
  /** RFC 3339. */
  startedAt: string;
  kubeconfig?: string;
  apiServer?: string;
  cloud?: { endpoint: string; tokenFile: string; tier: string; reason: string };
  /** File with the spec of the CloudProvider for an operator here. */
  cloudConfig?: string;
  /** Base URL of the operator's health and metrics. */
  operator?: string;
  /** The operator's extension in code. */
  extension?: string;
  /** How many Nodes it keeps. */
  nodes?: number;
  processes: ProcessState[];
}

/** @returns undefined when there is none @throws OperatorError when the file can't be understood */
export function readState(path: string): DevState | undefined {
  const text = textOf(path);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as DevState);
  } catch (thrown) {
    throw new OperatorError('Invalid', `${path} can't be read: ${(thrown as Error).message}`, {
      remedy: 'delete that file, once none of its processes runs any more',
      cause: thrown,
    });
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

export function writeState(path: string, state: DevState): void {
  const temporary = `${path}.new`;
  writeFileSync(temporary, `${JSON.stringify(state, undefined, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}

/** Everything of a cluster that runs now, its supervisor first. */
export function runningProcesses(state: DevState): ProcessState[] {
  return [{ name: 'supervisor', log: '', ...state.supervisor }, ...state.processes].filter(isRunning);
}
