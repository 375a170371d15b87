import { join, relative } from 'node:path';
import { PROJECT_ROOT } from '../entry';

/**
 * What a person types for this program: `cloud-operator` where it is installed as a package, `npx cloud-operator` inside a checkout, and node with the
 * path of the file elsewhere. Pure.
 */
export function invocation(cwd: string = process.cwd(), root: string = PROJECT_ROOT): string {
  if (root.includes('/node_modules/')) return 'cloud-operator';
  return relative(root, cwd).startsWith('..') ? `node ${join(root, 'bin', 'cloud-operator.js')}` : 'npx cloud-operator';
}
