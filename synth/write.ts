import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { OperatorError } from '../operator/base/errors';
import { makeFolder } from '../operator/base/folder';
import { helmChart } from './helm/chart';
import type { ManifestOptions } from './manifests';
import { GENERATED, MARKER } from './marker';
import { ociArchive } from './oci/artifact';
import { outputFiles } from './output';

/** What else an installation is packed as. */
export interface Packages {
  /** Version of a Helm chart, which is written below `helm/`; absent = none. */
  helm?: string;
  /** Tag of an OCI artifact, which is written to `oci.tar`; absent = none. */
  oci?: string;
}

/**
 * Writes an installation's files below `folder`, and removes those of an earlier run that are no longer part of it.
 * @returns the paths written, and the digest of the OCI artifact
 * @throws OperatorError Conflict when a file that we did not write stands in the way
 */
export function writeManifests(
  folder: string,
  options: ManifestOptions,
  { helm, oci }: Packages = {},
): { paths: string[]; digest?: string } {
  const manifests = outputFiles(options);
  const chart = helm === undefined ? [] : helmChart(options, helm);
  const artifact = oci === undefined ? undefined : ociArchive(manifests, oci);
  const packed: [string, string | Buffer][] = artifact === undefined ? [] : [['oci.tar', artifact.archive]];
  const files = new Map([...manifests, ...chart, ...packed].map(([path, content]) => [join(folder, path), content]));
  for (const path of files.keys()) refuseForeign(path);
  for (const path of generatedIn(folder)) if (!files.has(path)) rmSync(path);
  for (const [path, content] of files) {
    makeFolder(dirname(path));
    writeFileSync(path, content);
  }
  return { paths: [...files.keys()], ...(artifact === undefined ? {} : { digest: artifact.digest }) };
}

function refuseForeign(path: string): void {
  if (!existsSync(path) || isGenerated(path)) return;
  throw new OperatorError('Conflict', `${path} was not written by this command; move it away or choose another --out`);
}

function generatedIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => /\.(yaml|json|tar)$/.test(name))
    .map((name) => join(folder, name))
    .filter(isGenerated);
}

/** An archive and JSON have no comments: there the words are a field. */
function isGenerated(path: string): boolean {
  const content = readFileSync(path);
  return path.endsWith('.yaml') ? content.subarray(0, MARKER.length + 1).toString() === `${MARKER}\n` : content.includes(GENERATED);
}
