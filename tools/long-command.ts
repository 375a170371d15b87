import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { OperatorError } from '../operator/base/errors';
import { startHeartbeat } from './heartbeat';

export interface LongCommand {
  /** In words, for its failure: `go build of etcd`. */
  what: string;
  command: string;
  args: string[];
  /** Absent = that of this process. */
  cwd?: string;
  environment: NodeJS.ProcessEnv;
  report: (line: string) => void;
  /** The line that says it goes on. @param lines that it has written to standard error so far */
  progress: (elapsed: string, lines: number) => string;
}

const SHOWN_LINES = 12;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command that takes long, and ends it with this process.
 * @throws OperatorError with the end of its standard error
 */
export async function runLongCommand({ what, command, args, cwd, environment, report, progress }: LongCommand): Promise<void> {
  const child = spawn(command, args, { ...(cwd === undefined ? {} : { cwd }), env: environment, stdio: ['ignore', 'ignore', 'pipe'] });
  const release = endWithUs(child);
  const last: string[] = [];
  let lines = 0;
  const stop = startHeartbeat(report, (elapsed) => progress(elapsed, lines));
  try {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines += 1;
      last.push(line);
      if (last.length > SHOWN_LINES) last.shift();
    });
    const how = await ending(child);
    if (how !== undefined) throw new OperatorError('Unknown', `${what} ended with ${how}:\n${last.map((line) => `  ${line}`).join('\n')}`);
  } finally {
    stop();
    release();
  }
}

/** Resolves with undefined when all went well, else with how it ended. */
function ending(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(undefined);
      else resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
}

/** It must not go on when the person who waits for it gives up. */
function endWithUs(child: ChildProcess): () => void {
  const handlers = SIGNALS.map((signal) => {
    const handler = (): void => {
      child.kill('SIGKILL');
      release();
      process.kill(process.pid, signal);
    };
    process.once(signal, handler);
    return { signal, handler };
  });
  const release = (): void => handlers.forEach(({ signal, handler }) => process.off(signal, handler));
  return release;
}
