import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../operator/base/errors';
import { makeFolder } from '../operator/base/folder';
import { MARKER, outputFiles } from './output';
import type { ManifestOptions } from './manifests';

/**
 * Writes an installation's files below `folder`, and removes those of an earlier run that are no longer part of it.
 * @returns the paths written
 * @throws OperatorError Conflict when a file that we did not write stands in the way
 */
export function writeManifests(folder: string, options: ManifestOptions): string[] {
  const files = new Map([...outputFiles(options)].map(([path, text]) => [join(folder, path), text]));
  for (const path of files.keys()) refuseForeign(path);
  for (const path of generatedIn(folder)) if (!files.has(path)) rmSync(path);
  for (const [path, text] of files) {
    makeFolder(dirname(path));
    writeFileSync(path, text);
  }
  return [...files.keys()];
}

function refuseForeign(path: string): void {
  if (!existsSync(path) || isGenerated(path)) return;
  throw new OperatorError('Conflict', `${path} was not written by this command; move it away or choose another --out`);
}

function generatedIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(folder, name))
    .filter(isGenerated);
}

function isGenerated(path: string): boolean {
  return readFileSync(path, 'utf8').startsWith(`${MARKER}\n`);
}
