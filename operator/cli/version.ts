import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../entry';

/** Version of this program, from package.json. */
export function programVersion(): string {
  return (JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The git commit that was compiled, as the compilation wrote it down; undefined = that was no checkout. */
export function programCommit(): string | undefined {
  const path = join(PROJECT_ROOT, 'lib', 'commit');
  const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  return text === '' ? undefined : text;
}

/** What `--version` prints: the version, and the commit where it is known. */
export function versionText(): string {
  const commit = programCommit();
  return commit === undefined ? programVersion() : `${programVersion()} (commit ${commit})`;
}
