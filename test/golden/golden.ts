import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Compares a text with the reviewed file of that name in this folder. `UPDATE_GOLDEN=1` writes the file instead; look at the
 * difference before committing it.
 */
export function expectGolden(name: string, text: string): void {
  const path = join(__dirname, name);
  if (process.env.UPDATE_GOLDEN === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(existsSync(path) ? readFileSync(path, 'utf8') : `no ${name}; run the test with UPDATE_GOLDEN=1`).toBe(text);
}
