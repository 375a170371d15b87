import { join } from 'node:path';

/** Root of the project: the folder that holds package.json, both for the sources (tests) and for the compiled files in lib/. */
export const PROJECT_ROOT = __dirname.includes(`${join('lib', 'operator')}`) ? join(__dirname, '..', '..') : join(__dirname, '..');

/** Path of a compiled module, for child processes: `compiled('operator/updates/worker/main')`. */
export function compiled(module: string): string {
  return join(PROJECT_ROOT, 'lib', `${module}.js`);
}
