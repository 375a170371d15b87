import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { ociArchive } from '../../../synth/oci/artifact';
import { tarOf } from '../../../synth/oci/tar';

const digestOf = (data: Buffer): string => `sha256:${createHash('sha256').update(data).digest('hex')}`;

describe('the OCI artifact', () => {
  const long = `${'folder/'.repeat(14)}${'n'.repeat(90)}.yaml`;
  const files = new Map([
    ['operator/b.yaml', 'b: 1\n'],
    ['crds/ä.yaml', 'a: "ü"\n'],
    [long, ''],
  ]);
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cloud-operator-oci-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** By the system's own tar, which knows nothing of ours. */
  function unpack(archive: Buffer, to: string): void {
    const { status, stderr } = spawnSync('tar', ['--extract', '--file', '-', '--one-top-level=' + to], {
      input: archive,
      cwd: folder,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }

  const blob = (digest: string): Buffer => readFileSync(join(folder, 'layout/blobs', digest.replace(':', '/')));

  it('is a layout in which each part is what its digest and size say, down to the files', () => {
    const { archive, digest } = ociArchive(files, 'v1');
    unpack(archive, 'layout');
    const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, 'layout', name), 'utf8'));
    expect(read('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
    const { manifests } = read('index.json') as { manifests: { digest: string; size: number; annotations: object }[] };
    expect(manifests).toMatchObject([{ digest, annotations: { 'org.opencontainers.image.ref.name': 'v1' } }]);
    expect(digestOf(blob(digest))).toBe(digest);
    const { config, layers } = JSON.parse(blob(digest).toString()) as Record<'config', Descriptor> & { layers: Descriptor[] };
    expect([config, ...layers].map(({ mediaType }) => mediaType)).toEqual([
      'application/vnd.cncf.flux.config.v1+json',
      'application/vnd.cncf.flux.content.v1.tar+gzip',
    ]);
    for (const { digest: own, size } of [config, ...layers]) {
      expect(digestOf(blob(own))).toBe(own);
      expect(blob(own)).toHaveLength(size);
    }
    const content = gunzipSync(blob(layers[0]?.digest ?? ''));
    expect(JSON.parse(blob(config.digest).toString())).toMatchObject({ rootfs: { diff_ids: [digestOf(content)] } });
    unpack(content, 'content');
    for (const [path, text] of files) expect(readFileSync(join(folder, 'content', path), 'utf8')).toBe(text);
  });

  it('is the same bytes every time, in whatever order its files come', () => {
    const { archive, digest } = ociArchive(files, 'v1');
    const again = ociArchive(new Map([...files].reverse()), 'v1');
    expect(again.archive.equals(archive)).toBe(true);
    expect(again.digest).toBe(digest);
    expect(ociArchive(new Map([['operator/b.yaml', 'b: 2\n']]), 'v1').digest).not.toBe(digest);
  });

  it('refuses a path that tar has no room for', () => {
    expect(() => tarOf([{ path: 'x'.repeat(101), content: Buffer.alloc(0) }])).toThrow(RangeError);
  });
});

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}
