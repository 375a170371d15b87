import { type Dirent, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { KubeClient } from '../../../operator/kube/client';
import { SECRETS } from '../../../operator/kube/object';
import type { Secret } from '../../../operator/updates/state/state-secret';

/** Names of the cluster's Secrets that have a text in clear, zipped ones unzipped. */
export async function secretsWith(api: KubeClient, text: string): Promise<string[]> {
  const secrets = await api.list<Secret>(SECRETS);
  return secrets.filter((secret) => textsOf(secret).some((one) => one.includes(text))).map(({ metadata }) => metadata.name);
}

/** Those of the files that have a text in clear. */
export function filesWith(files: string[], text: string): string[] {
  return files.filter((file) => holds(file, text));
}

/** All files in the folders in `folder` whose names begin with `prefix`; others may take theirs away meanwhile. */
export function filesBelow(folder: string, prefix = ''): string[] {
  const found = entriesOf(folder).filter((entry) => entry.isDirectory() && entry.name.startsWith(prefix));
  return found.flatMap(({ name }) => allFilesIn(join(folder, name)));
}

function allFilesIn(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return allFilesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}

/** Processes of this machine that have a text in their arguments or environment. */
export function processesWith(text: string): string[] {
  const folders = readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name));
  return folders.filter((pid) => ['cmdline', 'environ'].some((file) => holds(join('/proc', pid, file), text)));
}

function textsOf({ metadata, data = {} }: Secret): string[] {
  const values = Object.entries(data).map(([key, value]) => {
    const bytes = Buffer.from(value, 'base64');
    return (key.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
  });
  return [JSON.stringify(metadata), ...values];
}

/** False for a file that has gone meanwhile, or is somebody else's. */
function holds(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'latin1').includes(text);
  } catch {
    return false;
  }
}
