import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NAMESPACES, SECRETS } from '../../../operator/kube/object';
import { withNewKey } from '../../../operator/updates/state/keyring';
import { SecretStateStore } from '../../../operator/updates/state/secret-state-store';
import { type Secret, secretName } from '../../../operator/updates/state/state-secret';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { recordOf } from './record';

let cluster: TestCluster;
let api: KubeClient;

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false });
  api = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
}, CLUSTER_START_MS);

afterAll(async () => {
  await api?.close();
  await cluster?.stop();
});

async function newStore(namespace: string): Promise<SecretStateStore> {
  await api.create(NAMESPACES, undefined, { metadata: { name: namespace } });
  return new SecretStateStore({ api, namespace });
}

async function secretOf(namespace: string, stack: string): Promise<Secret> {
  const secret = await api.get<Secret>(SECRETS, `${namespace}/${secretName(stack)}`);
  if (secret === undefined) throw new Error(`no Secret of ${stack}`);
  return secret;
}

function changeSecret(namespace: string, stack: string, change: object): Promise<Secret> {
  return api.patch<Secret>(SECRETS, `${namespace}/${secretName(stack)}`, 'merge', change);
}

describe('SecretStateStore', () => {
  test('gives back what was written, one Secret for each stack', async () => {
    const store = await newStore('whole');
    expect(await store.read('web')).toBeUndefined();
    const first = await store.write(recordOf('web'), undefined);
    const changed = recordOf('web', { revision: 2, open: true, checkpoint: null });
    const second = await store.write(changed, first);
    expect(await store.read('web')).toMatchObject({ record: changed, version: second });
    await store.write(recordOf('Odd/name_of.a stack'), undefined);
    expect((await store.read('Odd/name_of.a stack'))?.record.stack).toBe('Odd/name_of.a stack');
    const found = await api.list<Secret>(SECRETS, { namespace: 'whole', fieldSelector: 'type=cloud-operator.dev/stack-state' });
    expect(found.map(({ metadata }) => metadata.name).sort()).toEqual([secretName('Odd/name_of.a stack'), 'stack-web']);
  });

  test('a Secret that has not changed is opened once; another write of it, by whomever, is read', async () => {
    const store = await newStore('opened');
    const other = new SecretStateStore({ api, namespace: 'opened' });
    const first = await store.write(recordOf('web'), undefined);
    const read = await store.read('web');
    expect((await store.read('web'))?.record).toBe(read?.record);
    const second = await other.write(recordOf('web', { revision: 2, inputs: { b: 2 } }), first);
    expect(await store.read('web')).toMatchObject({ version: second, record: { revision: 2, inputs: { b: 2 } } });
    await other.remove('web', second);
    expect(await store.read('web')).toBeUndefined();
    await other.write(recordOf('web', { revision: 1, inputs: { c: 3 } }), undefined);
    expect((await store.read('web'))?.record.inputs).toEqual({ c: 3 });
  });

  test('holds what `pulumi stack export` prints, and the inputs encrypted', async () => {
    const store = await newStore('export');
    const record = recordOf('web', { inputs: { word: 'swordfish' } });
    await store.write(record, undefined);
    const { data = {} } = await secretOf('export', 'web');
    const unzip = (key: string): string => gunzipSync(Buffer.from(data[key] ?? '', 'base64')).toString();
    expect(JSON.parse(unzip('checkpoint.json.gz'))).toEqual(record.checkpoint);
    expect(unzip('record.json.gz')).not.toContain('swordfish');
    expect((await store.read('web'))?.record.inputs).toEqual({ word: 'swordfish' });
  });

  test('lists from metadata alone, also what it can not read', async () => {
    const store = await newStore('list');
    await store.write(recordOf('good', { inputsHash: 'abc' }), undefined);
    await store.write(recordOf('bad'), undefined);
    await changeSecret('list', 'bad', { metadata: { annotations: { 'cloud-operator.dev/state-format': '2' } } });
    // Whoever opened the Secrets would stumble.
    await changeSecret('list', 'good', { data: { 'record.json.gz': 'bm9uc2Vuc2U=' } });
    const { stacks, damaged } = await store.list();
    expect(stacks).toEqual([expect.objectContaining({ stack: 'good', inputsHash: 'abc', open: false, epoch: 1, resourceCount: 1 })]);
    expect(damaged).toEqual([expect.objectContaining({ reason: 'NewerVersion' })]);
  });

  test('refuses an old version, a wrong "absent" and a write after removal', async () => {
    const store = await newStore('races');
    const first = await store.write(recordOf('web'), undefined);
    const second = await store.write(recordOf('web', { revision: 2 }), first);
    await expect(store.write(recordOf('web', { revision: 2, holder: 'other' }), first)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(store.write(recordOf('web', { revision: 9 }), undefined)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(store.remove('web', first)).rejects.toMatchObject({ code: 'Conflict' });
    await store.remove('web', second);
    expect(await store.read('web')).toBeUndefined();
    await expect(store.write(recordOf('web', { revision: 3 }), second)).rejects.toMatchObject({ code: 'Conflict' });
  });

  test('of many writers with one version exactly one wins', async () => {
    const store = await newStore('many');
    const start = await store.write(recordOf('web'), undefined);
    const holders = Array.from({ length: 20 }, (_, at) => `holder-${at}`);
    const results = await Promise.allSettled(holders.map((holder) => store.write(recordOf('web', { revision: 2, holder }), start)));
    const winners = results.flatMap((result, at) => (result.status === 'fulfilled' ? [holders[at]] : []));
    expect(winners).toHaveLength(1);
    expect((await store.read('web'))?.record.holder).toBe(winners[0]);
  });

  test('a write whose answer was lost is known again when it is repeated', async () => {
    const store = await newStore('lost');
    const created = await store.write(recordOf('web'), undefined);
    expect(await store.write(recordOf('web'), undefined)).toBe(created);
    const written = await store.write(recordOf('web', { revision: 2 }), created);
    expect(await store.write(recordOf('web', { revision: 2 }), created)).toBe(written);
  });

  test('a write that was given up and came late is not taken for the one after it, though that has its revision', async () => {
    const store = await newStore('late');
    const start = await store.write(recordOf('web'), undefined);
    const givenUp = recordOf('web', { revision: 2, updatedAt: '2026-01-01T00:00:01.000Z' });
    await store.write(givenUp, start);
    const next = recordOf('web', { revision: 2, updatedAt: '2026-01-01T00:02:00.000Z', open: true });
    await expect(store.write(next, start)).rejects.toMatchObject({ code: 'Conflict' });
    expect((await store.read('web'))?.record).toMatchObject({ updatedAt: givenUp.updatedAt, open: false });
  });

  test('somebody else’s label takes no lease away, and stays', async () => {
    const store = await newStore('labels');
    const first = await store.write(recordOf('web'), undefined);
    await changeSecret('labels', 'web', { metadata: { labels: { backup: 'yes' } } });
    const second = await store.write(recordOf('web', { revision: 2 }), first);
    expect((await secretOf('labels', 'web')).metadata.labels).toMatchObject({ backup: 'yes' });
    await changeSecret('labels', 'web', { metadata: { labels: { backup: 'again' } } });
    await store.remove('web', second);
    expect(await store.read('web')).toBeUndefined();
  });

  test.each([
    ['corrupt', { data: { 'record.json.gz': Buffer.from('nonsense').toString('base64') } }, 'StateDamaged'],
    ['truncated', { data: { 'checkpoint.json.gz': Buffer.from('H4sIAAAAAAAA', 'base64').toString('base64') } }, 'StateDamaged'],
    ['without annotations', { metadata: { annotations: { 'cloud-operator.dev/incarnation': null } } }, 'StateDamaged'],
    ['of a newer format', { metadata: { annotations: { 'cloud-operator.dev/state-format': '7' } } }, 'NewerVersion'],
  ])('a Secret that is %s is refused and left as it is', async (what, change, reason) => {
    const namespace = `refused-${what.replaceAll(' ', '-')}`;
    const store = await newStore(namespace);
    await store.write(recordOf('web'), undefined);
    const { metadata } = await changeSecret(namespace, 'web', change);
    await expect(store.read('web')).rejects.toMatchObject({ code: 'Invalid', reason, remedy: expect.any(String) as string });
    expect((await secretOf(namespace, 'web')).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test('a state that no Secret can hold is refused with the way to split it', async () => {
    await newStore('large');
    const store = new SecretStateStore({ api, namespace: 'large', maxBytes: 200 });
    await expect(store.write(recordOf('web'), undefined)).rejects.toMatchObject({
      code: 'Quota',
      reason: 'StateTooLarge',
      remedy: expect.stringContaining('spec.placement') as string,
    });
  });

  test('the last room is not for what grows', async () => {
    await newStore('grown');
    const store = new SecretStateStore({ api, namespace: 'grown', limitBytes: 10, maxBytes: 10_000 });
    const text = randomBytes(5_000).toString('hex');
    const record = recordOf('web', { outputs: { text } });
    await expect(store.write(record, undefined, true)).rejects.toMatchObject({
      reason: 'StateTooLarge',
      message: expect.stringMatching(/^the state of stack web would have \d KB; an update makes it 5 KB at most$/) as string,
    });
    await expect(store.write(record, undefined, false)).resolves.toEqual(expect.any(String));
  });
});

describe('the data key', () => {
  test('is made once, however many begin at the same time', async () => {
    await newStore('first');
    const stores = Array.from({ length: 5 }, () => new SecretStateStore({ api, namespace: 'first' }));
    const rings = await Promise.all(stores.map((store) => store.keyring()));
    expect(new Set(rings.map((ring) => JSON.stringify(ring))).size).toBe(1);
  });

  test('that another process has rotated is found by whoever reads', async () => {
    const store = await newStore('rotated');
    const first = await store.write(recordOf('web'), undefined);
    const person = new SecretStateStore({ api, namespace: 'rotated' });
    await person.changeKeyring((ring) => withNewKey(ring, '2026-01-01T00:00:00Z'));
    await person.write(recordOf('web', { revision: 2, inputs: { a: 2 } }), first);
    expect((await store.read('web'))?.record.inputs).toEqual({ a: 2 });
  });

  test('that is gone, or another one, is one clear error, and no new key is made', async () => {
    const store = await newStore('wrong');
    await store.write(recordOf('web'), undefined);
    await api.remove(SECRETS, 'wrong/cloud-operator-state-key');
    const later = (): SecretStateStore => new SecretStateStore({ api, namespace: 'wrong' });
    await expect(later().read('web')).rejects.toMatchObject({ reason: 'WrongKey', message: expect.stringContaining('is gone') as string });
    const other = await api.get<Secret>(SECRETS, 'rotated/cloud-operator-state-key');
    await api.create(SECRETS, 'wrong', { metadata: { name: 'cloud-operator-state-key' }, type: other?.type, data: other?.data });
    await expect(later().read('web')).rejects.toMatchObject({ code: 'Invalid', reason: 'WrongKey' });
  });

  test('a namespace that is not there is named, with what to do', async () => {
    const store = new SecretStateStore({ api, namespace: 'nowhere' });
    await expect(store.write(recordOf('web'), undefined)).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('state store (the Secrets in namespace nowhere)') as string,
      remedy: 'create the namespace, or name another one with --state-namespace',
    });
  });
});
