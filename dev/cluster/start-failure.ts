import { OperatorError } from '../../operator/base/errors';
import { logTail } from './log-tail';
import type { Exit, GuardedProcess } from './process-guard';

const TAIL_LINES = 12;
const WIDTH = 300;

/**
 * Why a process is not ready: how it ended (or that it still isn't ready after `waitedMs`), and the end of its log.
 * Make it before the process is stopped.
 */
export async function startFailure(process: GuardedProcess, waitedMs: number): Promise<OperatorError> {
  const tail = (await logTail(process.log, TAIL_LINES)).map((line) => `  ${line.slice(0, WIDTH)}`);
  const how = process.exit === undefined ? `was not ready after ${waitedMs / 1000} s` : `ended with ${describeExit(process.exit)}`;
  const end = tail.length === 0 ? `its log ${process.log} is empty` : `its log ${process.log} ends with\n${tail.join('\n')}`;
  return new OperatorError('Unknown', `${process.name} ${how}; ${end}`);
}

/** How a process ended, in words. */
export function describeExit({ code, signal }: Exit): string {
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
