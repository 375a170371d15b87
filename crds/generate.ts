import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files';

/** This file runs compiled, from lib/crds. */
const PROJECT_ROOT = join(__dirname, '..', '..');

for (const [path, text] of generatedFiles()) {
  const target = join(PROJECT_ROOT, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  process.stdout.write(`${path}\n`);
}
