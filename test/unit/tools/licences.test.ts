import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { toolNamed } from '../../../tools/catalogue';
import { licensedPackages, thirdPartyPage, type Lock } from '../../../tools/licences';
import { sbomOf } from '../../../tools/sbom';

/** Licences that ask for no more than their text and their notices. */
const PERMISSIVE = ['MIT', 'Apache-2.0', 'ISC', '0BSD', 'Python-2.0', 'PSF-2.0', 'BlueOak-1.0.0', 'CC0-1.0', 'CC-BY-3.0', 'Unlicense'];
/** What npm's field doesn't say, read from the file that it points to. */
const READ: Record<string, string> = { '@logdna/tail-file': 'MIT' };

const read = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8');
const lock = JSON.parse(read('package-lock.json')) as Lock;

/** `(MIT OR GPL-3.0)` is one of them, `(MIT AND GPL-3.0)` both. */
function isPermissive(license: string): boolean {
  const words = license.replace(/[()]/g, '');
  const fits = (one: string): boolean => PERMISSIVE.includes(one) || /^BSD-[23]-Clause$/.test(one);
  return words.includes(' OR ') ? words.split(' OR ').some(fits) : words.split(' AND ').every(fits);
}

test('THIRD_PARTY.md is what the lock file says', () => {
  expect(read('THIRD_PARTY.md')).toBe(thirdPartyPage(lock));
});

test('every package of an installation has a licence that lets anybody pass it on', () => {
  const packages = licensedPackages(lock);
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ name, license }) => !isPermissive(READ[name] ?? license))).toEqual([]);
});

test.each([
  ['(MIT OR GPL-3.0-only)', true],
  ['(MIT AND GPL-3.0-only)', false],
  ['', false],
])('"%s" is permissive: %s', (license, verdict) => {
  expect(isPermissive(license)).toBe(verdict);
});

describe('the SBOM', () => {
  const { components } = sbomOf(lock, { name: 'cloud-operator', version: '1.2.3' }) as {
    components: { name: string; version: string; purl: string; hashes?: { content: string }[] }[];
  };

  it('has every package of an installation with its checksum, and the Pulumi CLI', () => {
    const [pulumi, ...packages] = [...components].reverse();
    expect(packages.reverse().map(({ name, version }) => `${name} ${version}`)).toEqual(
      licensedPackages(lock).map(({ name, version }) => `${name} ${version}`),
    );
    // What comes within another package has no archive of its own.
    const bundled = Object.entries(lock.packages).flatMap(([path, { inBundle, version }]) =>
      inBundle === true ? [`${path.slice(path.lastIndexOf('node_modules/') + 13)} ${version}`] : [],
    );
    const without = packages.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes?.[0]?.content ?? ''));
    expect(without.map(({ name, version }) => `${name} ${version}`).filter((one) => !bundled.includes(one))).toEqual([]);
    expect(without.length).toBeLessThan(packages.length / 4);
    expect(pulumi).toMatchObject({ name: 'pulumi', version: toolNamed('pulumi').version });
  });

  it('names packages as package URLs are written', () => {
    expect(components.map(({ purl }) => purl)).toContain(`pkg:npm/%40pulumi/aws@${lock.packages['node_modules/@pulumi/aws']?.version}`);
    expect(new Set(components.map(({ purl }) => purl)).size).toBe(components.length);
  });
});
