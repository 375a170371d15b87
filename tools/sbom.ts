import { toolNamed } from './catalogue';
import { licensedPackages, type Lock } from './licences';

/**
 * What an installation is made of, as CycloneDX 1.5: the packages of its lock file with their checksums, and the Pulumi CLI. It has no time and no serial number, so
 * that the same input gives the same bytes; `npm sbom` has both, and leaves out what development needs too.
 */
export function sbomOf(lock: Lock, { name, version }: { name: string; version: string }): object {
  const hashes = new Map(
    Object.entries(lock.packages).map(([path, { version: its = '', integrity = '' }]) => [`${nameAt(path)} ${its}`, integrity]),
  );
  const libraries = licensedPackages(lock).map((one) => ({
    type: 'library',
    'bom-ref': purlOf(one),
    name: one.name,
    version: one.version,
    purl: purlOf(one),
    licenses: [/[ ()]/.test(one.license) ? { expression: one.license } : { license: { name: one.license } }],
    hashes: hashesOf(hashes.get(`${one.name} ${one.version}`) ?? ''),
  }));
  const { version: cli } = toolNamed('pulumi');
  const pulumi = `pkg:golang/github.com/pulumi/pulumi/pkg/v3@${cli}`;
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'application', 'bom-ref': name, name, version, licenses: [{ license: { id: 'Apache-2.0' } }] } },
    components: [
      ...libraries,
      { type: 'application', 'bom-ref': pulumi, name: 'pulumi', version: cli, purl: pulumi, licenses: [{ license: { id: 'Apache-2.0' } }] },
    ],
  };
}

function nameAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function purlOf({ name, version }: { name: string; version: string }): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** npm writes `sha512-` and base64, CycloneDX hexadecimal digits. */
function hashesOf(integrity: string): { alg: string; content: string }[] {
  return integrity
    .split(' ')
    .filter((one) => one.startsWith('sha512-'))
    .map((one) => ({ alg: 'SHA-512', content: Buffer.from(one.slice('sha512-'.length), 'base64').toString('hex') }));
}
