import { basename, delimiter, dirname, join, relative } from 'node:path';
import { PROJECT_ROOT } from '../entry';

/** What was run, and where. */
export interface Invoked {
  cwd: string;
  /** Folder of the program. */
  root: string;
  /** Absolute path of the script that was run, with symbolic links in it. */
  script: string;
  /** PATH. */
  path: string;
  /** As people call it, where that is said: kubectl's plugin does (bin/kubectl-cloud.js). */
  called?: string | undefined;
}

const COMMAND = 'cloud-operator';
const NPX_FOLDER = join('node_modules', '.bin');

/**
 * What a person types for this program, as they have just done: its name where it is found on PATH, `npx` with it inside a checkout, else the
 * path that was given.
 */
export function invocation(other: Partial<Invoked> = {}): string {
  const { cwd, root, script, path, called } = { ...now(), ...other };
  if (called !== undefined) return called;
  const folder = dirname(script);
  // npx puts that folder on PATH for as long as it runs.
  if (folder.endsWith(NPX_FOLDER)) return `npx ${COMMAND}`;
  if (basename(script) === COMMAND && path.split(delimiter).includes(folder)) return COMMAND;
  if (root.includes('/node_modules/')) return COMMAND;
  if (!relative(root, cwd).startsWith('..')) return `npx ${COMMAND}`;
  return basename(script) === COMMAND ? script : `node ${join(root, 'bin', `${COMMAND}.js`)}`;
}

function now(): Invoked {
  const { CLOUD_OPERATOR_CALLED: called, PATH: path = '' } = process.env;
  return { cwd: process.cwd(), root: PROJECT_ROOT, script: process.argv[1] ?? '', path, called };
}
