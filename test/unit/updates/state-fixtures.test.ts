import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isSecret, type Deployment } from '../../../operator/updates/checkpoint';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import { checkedKeyring, type Keyring, unseal } from '../../../operator/updates/state/keyring';
import { STATE_FORMAT } from '../../../operator/updates/state/sealed-record';
import type { StackRecord } from '../../../operator/updates/state/stack-record';
import { decodeSecret, type Secret } from '../../../operator/updates/state/state-secret';
import { updateHash } from '../../../operator/updates/update-hash';

/** State as earlier versions wrote it: read for ever. A new format gets a folder of its own; these files are never made anew. */
const FIXTURES = join(__dirname, '../../fixtures/state');

function read<T>(version: string, name: string): T {
  return JSON.parse(readFileSync(join(FIXTURES, version, name), 'utf8')) as T;
}

function ringOf(secret: Secret): Keyring {
  return checkedKeyring(JSON.parse(Buffer.from(secret.data?.['keyring.json'] ?? '', 'base64').toString()), 'fixture');
}

/** The planted password, decrypted. */
function passwordIn({ deployment }: Deployment, ring: Keyring): string {
  const sealed = deployment?.resources?.find(({ urn }) => urn.endsWith('::web'))?.inputs?.password;
  if (!isSecret(sealed)) throw new Error('the password is no secret');
  const { ciphertext } = sealed as { ciphertext: string };
  return unseal(ring, Buffer.from(ciphertext, 'base64'), 'web').toString();
}

function expectWhole(record: StackRecord | undefined, ring: Keyring): void {
  expect(record).toMatchObject({ stack: 'web', project: 'fake', providerKind: 'fake', clusterID: 'cluster', open: false, epoch: 1 });
  expect(record?.inputs).toEqual({
    things: [
      { name: 'pool', size: 1 },
      { name: 'web', size: 2, on: 'pool', password: 'swordfish' },
    ],
  });
  expect(record?.accepted).toEqual({ uid: { listeners: 1 } });
  expect(record?.checkpoint?.deployment?.resources?.map(({ urn }) => urn.split('::').at(-1))).toEqual([
    'fake-web',
    'default',
    'pool',
    'web',
  ]);
  expect(passwordIn(record?.checkpoint as Deployment, ring)).toBe('"swordfish"');
}

test('there is a fixture of every format', () => {
  expect(readdirSync(FIXTURES).sort()).toEqual(Array.from({ length: STATE_FORMAT }, (_, at) => `v${at + 1}`));
});

describe.each(readdirSync(FIXTURES))('state of format %s', (version) => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'cloud-operator-fixture-'));
    for (const [path, content] of Object.entries(read<Record<string, string>>(version, 'directory.json'))) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), Buffer.from(content, 'base64'));
    }
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  test('in a Secret is read', () => {
    const ring = ringOf(read<Secret>(version, 'key-secret.json'));
    expectWhole(decodeSecret(read<Secret>(version, 'stack-secret.json'), ring, 'fixture').record, ring);
  });

  test('in a folder is read', async () => {
    const store = new DirectoryStateStore(folder);
    expectWhole((await store.read('web'))?.record, await store.keyring());
    expect((await store.list()).stacks).toEqual([expect.objectContaining({ stack: 'web', resourceCount: 2 })]);
  });

  test('means the same: an update to what it says is no update', () => {
    const { record } = decodeSecret(
      read<Secret>(version, 'stack-secret.json'),
      ringOf(read<Secret>(version, 'key-secret.json')),
      'fixture',
    );
    const { inputs, programVersion, providerKind, inputsHash } = record;
    expect(updateHash({ programVersion, providerKind, inputs: inputs ?? undefined })).toBe(inputsHash);
  });
});

test('a format from the future is refused, and told', () => {
  const secret = read<Secret>('v1', 'stack-secret.json');
  const annotations = { ...secret.metadata.annotations, 'cloud-operator.dev/state-format': String(STATE_FORMAT + 1) };
  const newer = { ...secret, metadata: { ...secret.metadata, annotations } };
  const ring = ringOf(read<Secret>('v1', 'key-secret.json'));
  const message = `Secret x has format ${STATE_FORMAT + 1}; this program knows up to ${STATE_FORMAT}`;
  const refusal: unknown = expect.objectContaining({ code: 'Invalid', reason: 'NewerVersion', message });
  expect(() => decodeSecret(newer, ring, 'Secret x')).toThrow(refusal as Error);
});
