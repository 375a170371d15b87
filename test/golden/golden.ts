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

/** Compares a text with a file of the project that is made from the code. `UPDATE_GOLDEN=1` writes the file instead. @param path in the project */
export function expectFile(path: string, text: string): void {
  expectGolden(join('..', '..', path), text);
}

/**
 * Compares a part of a documentation page with what the code says: what stands between `<!-- generated: name -->` and `<!-- end: name -->`.
 * `UPDATE_GOLDEN=1` writes it instead.
 */
export function expectGenerated(page: string, name: string, text: string): void {
  const path = join(__dirname, '..', '..', page);
  const [begin, end] = [`<!-- generated: ${name} -->\n`, `<!-- end: ${name} -->`];
  const [before = '', rest = ''] = readFileSync(path, 'utf8').split(begin);
  const [inside, after = ''] = rest.split(end);
  const block = `<!-- prettier-ignore-start -->\n\n${text.trim()}\n\n<!-- prettier-ignore-end -->\n`;
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, `${before}${begin}${block}${end}${after}`);
  else expect(inside).toBe(block);
}
