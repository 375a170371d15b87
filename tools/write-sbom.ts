import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../operator/entry';
import type { Lock } from './licences';
import { sbomOf } from './sbom';

const read = (name: string): unknown => JSON.parse(readFileSync(join(PROJECT_ROOT, name), 'utf8'));
const sbom = sbomOf(read('package-lock.json') as Lock, read('package.json') as { name: string; version: string });
process.stdout.write(`${JSON.stringify(sbom, undefined, 2)}\n`);
