import { fork } from 'node:child_process';
import { compileCache } from '../base/node-flags';
import { OperatorError } from '../base/errors';
import { compiled } from '../entry';
import type { ExtensionModule } from './extension-module';
import { fromWire } from './protocol';
import type { Inspection } from './worker/extension/inspect';

/** More than an extension may take to load. */
const LIMIT_MS = 60_000;

/**
 * Finds out in a process of its own which functions an extension exports: `transform`, `extra`.
 * @throws OperatorError Invalid when it can't be loaded
 */
export function exportsOf(module: ExtensionModule): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = fork(compiled('operator/updates/worker/extension/inspect'), [JSON.stringify(module)], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...compileCache() },
      execArgv: ['--no-warnings'],
      // A signal to the operator's group is not meant for it: it ends with its channel.
      detached: true,
      timeout: LIMIT_MS,
      killSignal: 'SIGKILL',
    });
    child.once('message', (said) => {
      const inspection = said as Inspection;
      if ('error' in inspection) reject(fromWire(inspection.error));
      else resolve(inspection.exports);
      // Whatever it left running has no purpose.
      child.kill('SIGKILL');
    });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new OperatorError('Invalid', `the extension ended the process that loaded it (${signal ?? `exit code ${code}`})`));
    });
  });
}
