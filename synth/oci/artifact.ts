import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { GROUP } from '../../crds';
import { GENERATED } from '../marker';
import { tarOf } from './tar';

/** What Flux's own command line gives to the artifacts that it pushes. */
const CONFIG_TYPE = 'application/vnd.cncf.flux.config.v1+json';
const CONTENT_TYPE = 'application/vnd.cncf.flux.content.v1.tar+gzip';
const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';
const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
/** In gzip's header: the file system on which it was made; 255 = unknown. */
const OS_BYTE = 9;
const UNKNOWN_OS = 255;

interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/**
 * The given files as an OCI artifact, in an archive of an OCI image layout, which tools such as skopeo, oras and crane copy into a registry. The same
 * files give the same bytes, and so the same digest, on every machine.
 * @param tag of the artifact in the layout
 * @returns the archive, and the digest by which a registry knows the artifact
 */
export function ociArchive(files: ReadonlyMap<string, string>, tag: string): { archive: Buffer; digest: string } {
  const entries = [...files].map(([path, text]) => ({ path, content: Buffer.from(text) }));
  const content = tarOf(entries.sort((a, b) => (a.path < b.path ? -1 : 1)));
  const layer = stored(content);
  const config = json({ architecture: '', os: '', config: {}, rootfs: { type: 'layers', diff_ids: [digestOf(content)] } });
  const manifest = json({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: descriptor(CONFIG_TYPE, config),
    layers: [descriptor(CONTENT_TYPE, layer)],
  });
  const named = { ...descriptor(MANIFEST_TYPE, manifest), annotations: { 'org.opencontainers.image.ref.name': tag } };
  const archive = tarOf([
    ...[config, manifest, layer].map((blob) => ({ path: `blobs/${digestOf(blob).replace(':', '/')}`, content: blob })),
    {
      path: 'index.json',
      content: json({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests: [named], annotations: { [`${GROUP}/note`]: GENERATED } }),
    },
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
  ]);
  return { archive, digest: named.digest };
}

/** gzip without compression: how well zlib compresses differs between its versions and processors. */
function stored(content: Buffer): Buffer {
  const zipped = gzipSync(content, { level: 0 });
  zipped.writeUInt8(UNKNOWN_OS, OS_BYTE);
  return zipped;
}

function descriptor(mediaType: string, blob: Buffer): Descriptor {
  return { mediaType, digest: digestOf(blob), size: blob.length };
}

function digestOf(blob: Buffer): string {
  return `sha256:${createHash('sha256').update(blob).digest('hex')}`;
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}
