import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLOUD_LOAD_BALANCERS } from '../../../crds';
import { NODES, SECRETS } from '../../../operator/kube/object';
import { kstatusOf } from '../../harness/kstatus';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { encodeSecret, type Secret } from '../../../operator/updates/state/state-secret';
import { newKeyring, type Keyring } from '../../../operator/updates/state/keyring';
import type { StackRecord } from '../../../operator/updates/state/stack-record';
import { addressOf, type Scene, serviceOf, withScene } from './scene';
import { older, rewriteState, stateStore, withProperties } from './stored-state';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

/** The machine goes, and its Node with it. */
async function removeNode(name: string): Promise<void> {
  const machine = (await cluster.resources.list('instances')).find((instance) => instance.name === name);
  await cluster.cloud.drift({ kind: 'delete', collection: 'instances', id: machine?.id ?? '' });
  await cluster.kube.remove(NODES, name);
}

async function storedVersion(name: string): Promise<string | undefined> {
  return (await cluster.kube.get(SECRETS, await scene.stateSecretOf(name)))?.metadata.annotations?.['cloud-operator.dev/program-version'];
}

test('damaged state: one clear condition, nothing is touched, and the remedy helps', async () => {
  await cluster.apply(serviceOf('damaged'));
  const address = await scene.published('damaged');
  const secret = await scene.stateSecretOf('damaged');
  await scene.settled();
  await cluster.kube.patch(SECRETS, secret, 'merge', { data: { 'record.json.gz': Buffer.from('nonsense').toString('base64') } });
  const version = (await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion;
  await cluster.cloud.resetCalls();
  await scene.askFor('damaged');
  const { message } = await scene.condition('damaged', 'StateUnavailable', 'StateDamaged');
  expect(message).toMatch(/^State Secret|^state Secret/);
  expect(message).toContain('restore it from a backup, or delete it to have the stack rebuilt');
  expect([await scene.cloudWrites(), (await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion]).toEqual([0, version]);
  expect((await scene.service('damaged'))?.status?.loadBalancer?.ingress?.[0]?.ip).toBe(address);
  await cluster.kube.remove(SECRETS, secret);
  await scene.askFor('damaged');
  await scene.ready('damaged');
  expect(await scene.counts('damaged')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  expect(await scene.published('damaged')).toBe(address);
});

describe('state that can not be used', () => {
  /** What is wrong with a Secret: its data and annotations, made from the good record. */
  type Spoil = (record: StackRecord, good: Secret) => Promise<Partial<Secret>>;
  const sealed = async (record: StackRecord, key?: Keyring): Promise<Partial<Secret>> => {
    const { metadata, data } = await encodeSecret(record, key ?? (await stateStore(cluster).keyring()));
    return { metadata: metadata as Secret['metadata'], data: data as Record<string, string> };
  };
  const half = (text = ''): string => {
    const bytes = Buffer.from(text, 'base64');
    return bytes.subarray(0, bytes.length / 2).toString('base64');
  };
  let address: string;

  beforeAll(async () => {
    await cluster.apply(serviceOf('spoilt'), serviceOf('other'));
    address = await scene.published('spoilt');
    await scene.published('other');
  });
  afterAll(() => scene.deleteServices('spoilt', 'other'));

  test.each<[string, string, RegExp, Spoil]>([
    [
      'of another cluster',
      'ForeignState',
      /belongs to cluster c0ffee, not to this one.*delete it here/,
      (record) => sealed({ ...record, clusterID: 'c0ffee' }),
    ],
    [
      'of another kind of cloud',
      'Conflict',
      /belongs to .* \(aws\), not to .*remove the old stack first/,
      (record) => sealed({ ...record, providerKind: 'aws' }),
    ],
    ['under a key that is lost', 'WrongKey', /key/, (record) => sealed(record, newKeyring())],
    [
      'cut off',
      'StateDamaged',
      /its content is not readable.*restore it from a backup/,
      (_record, { data }) => Promise.resolve({ data: { 'checkpoint.json.gz': half(data?.['checkpoint.json.gz']) } }),
    ],
  ])('%s: one clear condition, what serves goes on, others are not delayed, nothing is written', async (_what, reason, says, spoil) => {
    await scene.settled();
    const secret = await scene.stateSecretOf('spoilt');
    const stored = await stateStore(cluster).read((await scene.stackOf('spoilt')).metadata.name);
    const good = await cluster.kube.get<Secret>(SECRETS, secret);
    if (stored === undefined || good === undefined) throw new Error('spoilt has no state');
    await cluster.kube.patch(SECRETS, secret, 'merge', await spoil(stored.record, good));
    const version = (await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion;
    const inCloud = await scene.inCloud('spoilt');
    const range = `10.8.${reason.charCodeAt(0)}.0/24`;
    const change = { spec: { loadBalancerSourceRanges: [range] } };
    await cluster.apply(serviceOf('spoilt', change), serviceOf('other', change));
    const { message } = await scene.condition('spoilt', reason === 'Conflict' ? 'Reconciling' : 'Stalled', reason);
    expect(message).toMatch(says);
    expect(message).toContain('The last good version keeps serving.');
    await scene.until('the other one to be changed', async () => (await scene.inCloud('other')).sourceRanges.includes(range));
    if (reason === 'ForeignState') {
      // Nor are its targets followed where only those are kept: they may be the other cluster's.
      await cluster.kubectl(['annotate', 'clb', 'spoilt', 'cloud-operator.dev/pause=Updates']);
      await scene.settled();
      await scene.condition('spoilt', 'Stalled', reason);
      await cluster.kubectl(['annotate', 'clb', 'spoilt', 'cloud-operator.dev/pause-']);
    }
    if (reason === 'WrongKey') {
      // A new leader knows of it only what the status says.
      await cluster.stopOperator();
      await cluster.startOperator();
      await cluster.apply(serviceOf('other'));
      await scene.until('the new leader at work', async () => !(await scene.inCloud('other')).sourceRanges.includes(range));
      await scene.settled();
      await scene.condition('spoilt', 'Stalled', reason);
    }
    expect(await scene.inCloud('spoilt')).toEqual(inCloud);
    expect((await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion).toBe(version);
    expect(addressOf(await scene.service('spoilt'))).toBe(address);

    await cluster.kube.patch(SECRETS, secret, 'merge', { metadata: { annotations: good.metadata.annotations }, data: good.data });
    await scene.askFor('spoilt');
    await scene.until('the change to be made', async () => (await scene.inCloud('spoilt')).sourceRanges.includes(range));
    await scene.ready('spoilt');
  });
});

describe('state that can not be read, of load balancers that are unchanged', () => {
  const shared = { annotations: { 'cloud-operator.dev/placement': 'edge' } };
  /** One by itself, and two that share one load balancer, each with its listener. */
  const listeners = { alone: 'http', one: 'http', two: 'https' };
  const names = Object.keys(listeners);
  /** The Secrets as they were. */
  const good = new Map<string, Secret>();
  let addresses: string[];

  function targetsAre(count: number): Promise<boolean> {
    return scene.until(
      `${count} targets of each`,
      async () => {
        const found = await Promise.all(Object.entries(listeners).map(([name, listener]) => scene.targetsOf(name, listener)));
        if (found.every((targets) => targets.length === count)) return true;
        throw new Error(JSON.stringify(found));
      },
      50_000,
    );
  }

  async function areStillReady(): Promise<void> {
    for (const name of names) {
      const { message } = await scene.condition(name, 'StateUnavailable', 'WrongKey');
      expect(message).toMatch(
        /encrypted with key [0-9a-f]{8}, which this state store does not have.*restore the data key.*goes on as it is/,
      );
      const found = await scene.ready(name);
      expect(found.status?.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
        ['Ready', 'Ready'],
        ['StateUnavailable', 'WrongKey'],
      ]);
      expect(kstatusOf(found)).toBe('Current');
    }
    expect(await Promise.all(names.map(async (name) => addressOf(await scene.service(name))))).toEqual(addresses);
  }

  beforeAll(async () => {
    await cluster.apply(
      serviceOf('alone'),
      serviceOf('one', shared),
      serviceOf('two', { ...shared, ports: [{ name: 'https', port: 443 }] }),
    );
    for (const name of names) await scene.ready(name, { timeoutMs: 50_000 });
    addresses = await Promise.all(names.map((name) => scene.published(name)));
    await scene.settled();
    for (const name of ['alone', 'one']) {
      const secret = await scene.stateSecretOf(name);
      const stored = await stateStore(cluster).read((await scene.stackOf(name)).metadata.name);
      const found = await cluster.kube.get<Secret>(SECRETS, secret);
      if (stored === undefined || found === undefined) throw new Error(`${name} has no state`);
      good.set(secret, found);
      const { metadata, data } = await encodeSecret(stored.record, newKeyring());
      await cluster.kube.patch(SECRETS, secret, 'merge', { metadata, data });
    }
  }, 90_000);

  test('they stay Ready, and their targets follow the Nodes', async () => {
    await scene.askFor('alone');
    await scene.askFor('one');
    await areStillReady();
    await scene.addNode('joins');
    await targetsAre(2);
  });

  test('also after a restart, and whatever a status says: the cloud’s tags say what is whose', async () => {
    await cluster.stopOperator();
    await removeNode('joins');
    const forged = { status: { address: '203.0.113.6', ingress: [{ ip: '203.0.113.6', ipMode: 'VIP' }] } };
    await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/two', 'merge', forged, { subresource: 'status' });
    await cluster.startOperator();
    await targetsAre(1);
    await areStillReady();
    await scene.askFor('two');
    await scene.until('the status to be put right', async () => (await scene.loadBalancer('two'))?.status?.address === addresses[2]);
  });

  test('a change waits, and says until when; a neighbour is not blamed, and targets go on following', async () => {
    await cluster.apply(serviceOf('one', { ...shared, spec: { loadBalancerSourceRanges: ['10.7.0.0/16'] } }));
    const nextTry = / Next try at [0-9T:-]+Z\.$/;
    expect((await scene.condition('one', 'Stalled', 'WrongKey')).message).toMatch(nextTry);
    expect((await scene.loadBalancer('two'))?.status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True' });
    const [ready] = (await scene.stackOf('one')).status?.conditions ?? [];
    expect(ready).toMatchObject({ type: 'Ready', status: 'False', reason: 'WrongKey', message: expect.stringMatching(nextTry) as string });
    await scene.addNode('joins-later');
    await targetsAre(2);
  });

  test('the key is back: the change is made, and no word of it is left', async () => {
    for (const [secret, { metadata, data }] of good) {
      await cluster.kube.patch(SECRETS, secret, 'merge', { metadata: { annotations: metadata.annotations }, data });
    }
    for (const name of names) await scene.askFor(name);
    await scene.until('no word of it any more', async () => {
      const all = await Promise.all(names.map((name) => scene.ready(name)));
      return all.every(({ status }) => status?.conditions?.length === 1);
    });
    await removeNode('joins-later');
    await targetsAre(1);
  });
});

test('a CloudLoadBalancer that an earlier version wrote is taken on: its spec stays, and what its status says of another cluster is not believed', async () => {
  const path = join(__dirname, '../../fixtures/objects/v1/cloudloadbalancers.json');
  const [{ spec, status }] = JSON.parse(readFileSync(path, 'utf8')) as [{ spec: object; status: { address: string } }];
  const kind = { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer' };
  await cluster.apply({ ...kind, metadata: { name: 'earlier', namespace: 'default' }, spec });
  await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/earlier', 'merge', { status }, { subresource: 'status' });
  const taken = await scene.ready('earlier');
  expect(taken.spec).toEqual(spec);
  expect(taken.status?.objectUID).toBe(taken.metadata.uid);
  expect(await scene.counts('earlier')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  await cluster.kubectl(['delete', 'clb', 'earlier', '--timeout=20s']);
});

describe('state of a newer version', () => {
  const format = (version: string): object => ({ metadata: { annotations: { 'cloud-operator.dev/state-format': version } } });
  let current = '';

  test.each<[string, (name: string) => Promise<unknown>, (name: string) => Promise<unknown>]>([
    [
      'of the state’s format',
      async (name) => cluster.kube.patch(SECRETS, await scene.stateSecretOf(name), 'merge', format('2')),
      async (name) => cluster.kube.patch(SECRETS, await scene.stateSecretOf(name), 'merge', format('1')),
    ],
    [
      'of the program',
      async (name) => {
        current = (await storedVersion(name)) ?? '';
        await rewriteState(scene, name, (record) => ({ ...record, programVersion: '99' }));
      },
      (name) => rewriteState(scene, name, (record) => ({ ...record, programVersion: current })),
    ],
  ])('%s is not touched: one condition, what serves goes on, others are not delayed', async (_what, raise, lower) => {
    await cluster.apply(serviceOf('newer'));
    const address = await scene.published('newer');
    await scene.settled();
    await raise('newer');
    const version = (await cluster.kube.get(SECRETS, await scene.stateSecretOf('newer')))?.metadata.resourceVersion;
    const good = await scene.inCloud('newer');
    const changed = { spec: { loadBalancerSourceRanges: ['10.7.0.0/16'] } };
    await cluster.apply(serviceOf('newer', changed), serviceOf('beside'));
    const { message } = await scene.condition('newer', 'Stalled', 'NewerVersion');
    expect(message).toContain('run the newer version of cloud-operator that');
    await scene.published('beside');
    expect(await scene.inCloud('newer')).toEqual(good);
    expect((await cluster.kube.get(SECRETS, await scene.stateSecretOf('newer')))?.metadata.resourceVersion).toBe(version);
    expect((await scene.service('newer'))?.status?.loadBalancer?.ingress?.[0]?.ip).toBe(address);
    await lower('newer');
    await scene.askFor('newer');
    await scene.until('the change to be made', async () => (await scene.inCloud('newer')).sourceRanges.includes('10.7.0.0/16'));
    await scene.deleteServices('newer', 'beside');
  });
});

test('an upgrade of the operator updates only the stacks of which its program makes something else', async () => {
  const names = ['up1', 'up2'];
  await cluster.apply(...names.map((name) => serviceOf(name)));
  for (const name of names) await scene.published(name);
  await scene.settled();
  await cluster.stopOperator();
  const version = await storedVersion('up1');
  for (const name of names) await rewriteState(scene, name, older);
  // The program of that version gave the load balancer source ranges.
  await rewriteState(scene, 'up2', (record) =>
    withProperties(record, 'LoadBalancer', (properties) => ({ ...properties, sourceRanges: ['10.9.0.0/16'] })),
  );
  const attempts = async (name: string): Promise<unknown[]> => (await scene.stackOf(name)).status?.attempts ?? [];
  const before = await Promise.all(names.map(attempts));
  await cluster.cloud.resetCalls();
  await cluster.startOperator();
  for (const name of names) await scene.until(`${name} to be upgraded`, async () => (await storedVersion(name)) === version);
  await scene.settled();
  const [first, second] = await Promise.all(names.map(attempts));
  expect(first).toEqual(before[0]);
  expect(second?.[0]).toMatchObject({ cause: 'Upgrade', result: 'Succeeded', changes: '+0 ~1 -0 =2' });
  expect((second?.length ?? 0) - (before[1]?.length ?? 0)).toBe(1);
  expect(await scene.cloudWrites()).toBe(1);
  for (const name of names) await scene.ready(name);
  await scene.deleteServices(...names);
});
