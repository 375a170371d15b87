import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../operator/base/errors';
import { digestOf, findExtension, importsOwnFiles } from '../../../operator/updates/extension-module';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'cloud-operator-extension-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, content);
  return path;
}

describe('an extension is found', () => {
  test.each([
    ['by its path', 'dns.ts', 'dns.ts', 'dns.ts'],
    ['by a relative path', 'ext/dns.ts', './ext/dns.ts', 'ext/dns.ts'],
    ['without its ending', 'dns.js', './dns', 'dns.js'],
    ['by its folder', 'dns/index.ts', 'dns', 'dns/index.ts'],
    ['as a package', 'node_modules/dns-records/main.js', 'dns-records', 'node_modules/dns-records/main.js'],
  ])('%s', (_how, file, name, found) => {
    write(file, 'export function extra() {}');
    if (file.includes('node_modules')) write('node_modules/dns-records/package.json', JSON.stringify({ main: 'main.js' }));
    expect(findExtension(name, folder).path).toBe(join(folder, found));
  });

  test('or the error says what was looked for, and where', () => {
    const message = `--extension ./nowhere.ts: there is no such file or package, looked for from ${folder}`;
    expect(() => findExtension('./nowhere.ts', folder)).toThrow(new OperatorError('Invalid', message));
  });
});

describe('the digest', () => {
  const entry = `import { zone } from './lib/zone.ts';\nimport { Bucket } from '@pulumi/aws/s3';\nconst more = require("./more");\nexport { x } from '../outside.js'`;

  beforeEach(() => {
    write('ext/index.ts', entry);
    write('ext/lib/zone.ts', "import '../index.ts'; export const zone = 'a';");
    write('ext/more.cjs', 'exports.a = 1;');
    write('outside.js', 'export const x = 1;');
    write('ext/unrelated.ts', 'export const y = 1;');
  });

  const digest = (): string => digestOf(join(folder, 'ext/index.ts'));

  test.each(['ext/index.ts', 'ext/lib/zone.ts', 'ext/more.cjs', 'outside.js'])('changes with %s', (file) => {
    const before = digest();
    write(file, `${file === 'ext/index.ts' ? entry : ''} // changed`);
    expect(digest()).not.toBe(before);
  });

  test.each([
    ['.', 'lib/index.ts'],
    ['./', 'lib/index.ts'],
    ['..', 'index.ts'],
    ['../', 'index.ts'],
    ['./..', 'index.ts'],
    ['../lib', 'lib/index.ts'],
  ])('changes with what the folder %s leads to', (name, file) => {
    const text = `const folder = require('${name}');`;
    const path = write('lib/entry.ts', text);
    if (name === '.') write('lib.ts', 'a file, which is not meant');
    write(file, 'one');
    const before = digestOf(path);
    write(file, 'two');
    expect(digestOf(path)).not.toBe(before);
    expect(importsOwnFiles(text)).toBe(true);
  });

  test('does not change with a file that nothing imports, nor with the folder that all of it is in', () => {
    const before = digest();
    write('ext/unrelated.ts', 'export const y = 2;');
    expect(digest()).toBe(before);
    const copy = mkdtempSync(join(tmpdir(), 'cloud-operator-extension-'));
    cpSync(folder, copy, { recursive: true });
    expect(digestOf(join(copy, 'ext/index.ts'))).toBe(before);
    rmSync(copy, { recursive: true });
  });

  test('changes when what one file says moves to another', () => {
    write('a.ts', "import './b.ts'; import './c.ts';");
    write('b.ts', 'one');
    write('c.ts', 'two');
    const before = digestOf(join(folder, 'a.ts'));
    write('b.ts', 'onetwo');
    write('c.ts', '');
    expect(digestOf(join(folder, 'a.ts'))).not.toBe(before);
  });
});
