import { Script } from 'node:vm';
import { OperatorError } from '../../../base/errors';

const ENTRY = '__cloudOperatorExtensionCall';
const script = new Script(`${ENTRY}()`);

/**
 * Runs synchronous code of an extension with a time limit: code that never returns is stopped by the engine's watchdog thread, and the worker lives on.
 * @throws OperatorError Invalid when it took longer; else whatever `run` throws
 */
export function within<T>(limitMs: number, what: string, run: () => T): T {
  const entries = globalThis as unknown as Record<string, () => T>;
  entries[ENTRY] = run;
  try {
    // The limit holds for everything that the script calls, wherever it was compiled.
    return script.runInThisContext({ timeout: limitMs }) as T;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException | undefined)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
    throw new OperatorError('Invalid', `${what} did not end within ${limitMs / 1000} s and was stopped`, { cause: thrown });
  } finally {
    delete entries[ENTRY];
  }
}
