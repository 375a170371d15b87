import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../../../operator/base/folder';

const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-folder-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('makeFolder', () => {
  it('makes all that is missing, with the mode', () => {
    makeFolder(join(folder, 'a/b/c'), 0o700);
    for (const name of ['a', 'a/b', 'a/b/c']) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
  });

  it('leaves one that is there as it is', () => {
    mkdirSync(join(folder, 'there'), { mode: 0o750 });
    makeFolder(join(folder, 'there'), 0o700);
    expect(statSync(join(folder, 'there')).mode & 0o777).toBe(0o750);
  });

  it.each([
    ['a file is in its place', 'file', 'EEXIST'],
    ['a file is above it', 'file/below', 'ENOTDIR'],
  ])('throws where %s', (_, name, code) => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => makeFolder(join(folder, name))).toThrow(expect.objectContaining({ code }) as Error);
  });

  it('throws where the system makes none, and does not try for ever', () => {
    expect(() => makeFolder('/proc/none/below')).toThrow(expect.objectContaining({ code: 'ENOENT', path: '/proc/none' }) as Error);
  });
});
