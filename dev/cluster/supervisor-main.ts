import { toOperatorError } from '../../operator/base/errors';
import type { DevClusterOptions } from './dev-cluster';
import type { DevState } from './state';
import { Supervisor } from './supervisor';

/** What the background process tells the `dev up` that started it. */
export type SupervisorMessage =
  | { message: 'progress'; line: string }
  | { message: 'ready'; state: DevState }
  | { message: 'failed'; code: string; text: string; remedy?: string };

/** The background process of `dev up`: gets its options as the first argument, and tells how it goes until it is ready. */
async function main(): Promise<void> {
  const options = JSON.parse(process.argv[2] ?? '{}') as Omit<DevClusterOptions, 'report'>;
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  process.on('SIGHUP', () => undefined); // the terminal that it was started from is closed
  let ready = false;
  process.on('disconnect', () => {
    if (!ready) stop.abort(); // who waited for it has given up
  });
  const report = (line: string): void => {
    process.stderr.write(`${new Date().toISOString()} ${line}\n`);
    if (!ready) tell({ message: 'progress', line });
  };
  try {
    await new Supervisor({ ...options, report }).run(stop.signal, (state) => {
      ready = true;
      tell({ message: 'ready', state });
    });
  } catch (thrown) {
    const error = toOperatorError(thrown);
    process.stderr.write(`${new Date().toISOString()} ${error.message}\n`);
    tell({ message: 'failed', code: error.code, text: error.message, ...(error.remedy === undefined ? {} : { remedy: error.remedy }) });
    process.exitCode = 1;
  }
  if (process.connected) process.disconnect();
}

function tell(message: SupervisorMessage): void {
  // An error here means that nobody listens any more; 'disconnect' has told that.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

void main();
