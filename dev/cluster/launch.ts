import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, type ErrorCode } from '../../operator/base/errors';
import { makeFolder } from '../../operator/base/folder';
import { compiled } from '../../operator/entry';
import type { DevClusterOptions } from './dev-cluster';
import { devPathsIn } from './paths';
import { minimalEnvironment } from './process-guard';
import type { DevState } from './state';
import type { SupervisorMessage } from './supervisor-main';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Starts the supervisor of a development cluster in the background, and waits until it is ready. When this process ends before, all ends.
 * @throws OperatorError why it isn't ready; nothing is left running then
 */
export async function launch({ report, ...options }: DevClusterOptions): Promise<DevState> {
  const { root, logs } = devPathsIn(options.directory);
  makeFolder(root, 0o700);
  makeFolder(logs, 0o700);
  const log = openSync(join(logs, 'supervisor.log'), 'a', 0o600);
  const child = spawn(process.execPath, [compiled('dev/cluster/supervisor-main'), JSON.stringify(options)], {
    cwd: root,
    env: minimalEnvironment(),
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const giveUp = new AbortController();
  const onSignal = (): void => giveUp.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const state = await outcome(child, { report, log: join(logs, 'supervisor.log'), giveUp: giveUp.signal });
    child.disconnect();
    child.unref();
    return state;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

interface Watch {
  report: (line: string) => void;
  log: string;
  giveUp: AbortSignal;
}

function outcome(child: ChildProcess, { report, log, giveUp }: Watch): Promise<DevState> {
  return new Promise((resolve, reject) => {
    let failure: OperatorError | undefined;
    giveUp.addEventListener('abort', () => {
      failure = new OperatorError('Canceled', 'ended before it was ready');
      if (child.connected) child.disconnect(); // then it ends everything, and itself
    });
    child.on('message', (told: SupervisorMessage) => {
      if (told.message === 'progress') report(told.line);
      else if (told.message === 'ready') resolve(told.state);
      else failure ??= failureOf(told);
    });
    child.once('error', reject);
    // Its exit, not its message: only then is nothing left.
    child.once('exit', (code, signal) => {
      reject(
        failure ?? new OperatorError('Unknown', `the supervisor ended with ${signal ?? `exit code ${code}`}`, { remedy: `see ${log}` }),
      );
    });
  });
}

function failureOf(told: Extract<SupervisorMessage, { message: 'failed' }>): OperatorError {
  return new OperatorError(told.code as ErrorCode, told.text, told.remedy === undefined ? {} : { remedy: told.remedy });
}
