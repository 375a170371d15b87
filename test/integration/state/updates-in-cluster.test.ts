import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../../operator/base/log';
import { KubeClient } from '../../../operator/kube/client';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { NAMESPACES, SECRETS } from '../../../operator/kube/object';
import type { UpdateEngine } from '../../../operator/updates/engine';
import { newKeyring } from '../../../operator/updates/state/keyring';
import { SecretStateStore } from '../../../operator/updates/state/secret-state-store';
import type { Secret } from '../../../operator/updates/state/state-secret';
import type { UpdateResult } from '../../../operator/updates/update';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import type { FakeInputs } from '../updates/fake-provider';
import { UpdatesHarness } from '../updates/harness';
import { ApiProxy } from './api-proxy';
import { kmsCases } from './kms-cases';
import { filesBelow, filesWith, processesWith, secretsWith } from './planted';

const NAMESPACE = 'state';
const KEY = `${NAMESPACE}/cloud-operator-state-key`;
const web = { name: 'web', size: 1 };
const four: FakeInputs = { things: [web, { name: 'b', size: 1 }, { name: 'c', size: 1, on: 'b' }, { name: 'd', size: 1, on: 'c' }] };

const harness = new UpdatesHarness();
let cluster: TestCluster;
let proxy: ApiProxy;
let admin: KubeClient;
let api: KubeClient;
let logFile: string;

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false });
  admin = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0 });
  await admin.create(NAMESPACES, undefined, { metadata: { name: NAMESPACE } });
  proxy = new ApiProxy(cluster);
  await proxy.start();
  api = new KubeClient(proxy.kubeConfig(), { qps: 0 });
  logFile = join(cluster.directory, 'operator.log');
  await harness.start({ store: newStore(), storeHoldMs: 1_500, logger: createLogger('test', { level: 'trace', destination: logFile }) });
}, CLUSTER_START_MS);

afterAll(async () => {
  await harness.stop();
  await Promise.all([api?.close(), admin?.close()]);
  await proxy?.stop();
  await cluster?.stop();
});

beforeEach(() => {
  proxy.fault = () => undefined;
  proxy.writes.length = 0;
  proxy.faults = 0;
  harness.cloud.calls.length = 0;
});

function newStore(more: { limitBytes?: number; maxBytes?: number } = {}): SecretStateStore {
  return new SecretStateStore({ api, namespace: NAMESPACE, ...more });
}

async function secretOf(stack: string): Promise<Secret> {
  const secret = await admin.get<Secret>(SECRETS, `${NAMESPACE}/stack-${stack}`);
  if (secret === undefined) throw new Error(`stack ${stack} has no Secret`);
  return secret;
}

function change(stack: string, patch: object): Promise<Secret> {
  return admin.patch<Secret>(SECRETS, `${NAMESPACE}/stack-${stack}`, 'merge', patch);
}

describe('an update', () => {
  test('of N resources writes its Secret at most 2N+7 times, and a skipped one never', async () => {
    await harness.run('count', four);
    expect(proxy.writes.filter((write) => write === 'POST stack-count')).toHaveLength(1);
    expect(proxy.writes.filter((write) => write.endsWith('stack-count')).length).toBeLessThanOrEqual(2 * 4 + 7);
    proxy.writes.length = 0;
    expect((await harness.run('count', four)).result).toBe('Unchanged');
    expect((await harness.run('count', four, { force: true })).result).toBe('Updated');
    expect(proxy.writes).toEqual([]);
  });

  test('is told by the listing without opening a Secret', async () => {
    await harness.run('listed', four);
    const [summary] = (await harness.engine.states()).filter(({ stack }) => stack === 'listed');
    const state = await harness.engine.state('listed');
    expect(summary).toMatchObject({
      open: false,
      resourceCount: 4,
      inputsHash: state?.inputsHash,
      incarnation: state?.incarnation,
      epoch: 1,
    });
  });

  test('goes on when answers to its writes are lost, without a second create', async () => {
    let lost = 0;
    proxy.fault = (write) => (write.endsWith('stack-lossy') && lost++ % 2 === 0 ? 'lost' : undefined);
    const result = await harness.run('lossy', { things: [web] });
    expect(result.changes.create).toBe(1);
    expect(proxy.faults).toBeGreaterThan(1);
    expect(harness.cloud.named('web', 'lossy')).toHaveLength(1);
    expect(await harness.engine.state('lossy')).toMatchObject({ open: false });
  });

  test('is held while etcd is full for a moment', async () => {
    let full = 3;
    proxy.fault = (write) => (write.endsWith('stack-moment') && full-- > 0 ? 'full' : undefined);
    // However late its tries come on a busy machine.
    const engine = harness.newEngine({ store: newStore(), storeHoldMs: 30_000 });
    await engine.run(harness.update('moment', { things: [web] }), harness.hooks('moment'));
    expect(proxy.faults).toBe(3);
    expect(harness.cloud.named('web', 'moment')).toHaveLength(1);
  });

  test('stops when etcd stays full, names the store, and is recovered when there is room again', async () => {
    let writes = 0;
    // The stack is marked open, and what the cloud has made can't be stored.
    proxy.fault = (write) => (write.endsWith('stack-full') && writes++ >= 3 ? 'full' : undefined);
    const error = await harness.run('full', four).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'Transient',
      reason: 'StateStoreUnavailable',
      message: expect.stringMatching(
        /no write succeeded for [0-9]+ s; state store \(the Secrets in namespace state\): .*database space exceeded/,
      ) as string,
    });
    expect(harness.cloud.calls.filter((call) => call.startsWith('POST')).length).toBeLessThan(4);
    proxy.fault = () => undefined;
    await harness.run('full', four);
    for (const { name } of four.things ?? []) expect(harness.cloud.named(name, 'full')).toHaveLength(1);
  });

  test('whose state would be too large is refused before anything is done', async () => {
    const engine = harness.newEngine({ store: newStore({ limitBytes: 20_000 }) });
    const label = Array.from({ length: 4_000 }, (_, at) => `${at * 7919}`).join('-');
    const inputs = { things: [{ ...web, labels: { label } }] };
    const error = await engine.run(harness.update('large', inputs), harness.hooks('large')).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'Quota', reason: 'StateTooLarge', remedy: expect.stringContaining('split it') as string });
    expect([harness.cloud.calls, proxy.writes, engine.workerPids]).toEqual([[], [], []]);
  });
});

describe('an update whose state grows larger than was expected (R-44)', () => {
  /** Secret values: their inputs compress well, and what is stored of them not at all. */
  const many = (count: number): FakeInputs => ({
    things: Array.from({ length: count }, (_, n) => ({
      ...{ name: `t${n}`, size: 1, password: 'x'.repeat(1_000) },
      ...(n > 0 && { on: `t${n - 1}` }),
    })),
  });
  const ALL = 14;
  const namesIn = (stack: string): string[] =>
    harness.cloud
      .discover(stack)
      .map(({ name }) => name)
      .sort();
  const wanted = (count: number): string[] => (many(count).things ?? []).map(({ name }) => name).sort();
  /** An engine whose store has room for a few things, but not for all of them. */
  let cramped: UpdateEngine;
  const run = (stack: string, inputs: FakeInputs | undefined): Promise<UpdateResult> =>
    cramped.run(harness.update(stack, inputs), harness.hooks(stack));
  const isStopped = async (stack: string): Promise<void> => {
    const error = await run(stack, many(ALL)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'Quota',
      reason: 'StateTooLarge',
      message: expect.stringMatching(
        /update was stopped because its state could not be stored: .* would have \d+ KB; .* \d+ KB at most/,
      ) as string,
      remedy: expect.stringContaining('split the stack') as string,
    });
  };

  beforeAll(async () => {
    const sizeWith = async (count: number): Promise<number> => {
      await harness.run('measured', many(count));
      return (await newStore().read('measured'))?.bytes ?? 0;
    };
    const [one, all] = [await sizeWith(1), await sizeWith(ALL)];
    const each = (all - one) / (ALL - 1);
    const store = newStore({ limitBytes: Math.round(one + 7 * each), maxBytes: Math.round(one + 12 * each) });
    cramped = harness.newEngine({ store });
  });

  test('stops, and can be tried again, deleted, or go on where there is room: nothing is lost or doubled', async () => {
    for (const stack of ['grown', 'given-up']) {
      await isStopped(stack);
      expect(await harness.engine.state(stack)).toMatchObject({ open: true });
      const made = namesIn(stack);
      expect(made.length).toBeGreaterThan(0);
      expect(made.length).toBeLessThan(ALL);
      await isStopped(stack);
      // What was found in the cloud may take less room than what was made: enough for one more.
      const again = namesIn(stack);
      expect([...new Set(again)]).toEqual(again);
      expect(again.length).toBeLessThanOrEqual(made.length + 1);
    }
    await harness.run('grown', many(ALL));
    expect(namesIn('grown')).toEqual(wanted(ALL));

    expect(await run('given-up', undefined)).toMatchObject({ result: 'Destroyed' });
    expect(namesIn('given-up')).toEqual([]);
    expect(await admin.get(SECRETS, `${NAMESPACE}/stack-given-up`)).toBeUndefined();
  });

  test('has a way back to what there was, and to less than was asked for', async () => {
    await run('back', many(1));
    await isStopped('back');
    expect(await run('back', many(1))).toMatchObject({ result: 'Updated' });
    expect([namesIn('back'), (await harness.engine.state('back'))?.open]).toEqual([wanted(1), false]);

    await isStopped('smaller');
    expect(await run('smaller', many(3))).toMatchObject({ result: 'Updated' });
    expect([namesIn('smaller'), (await harness.engine.state('smaller'))?.open]).toEqual([wanted(3), false]);
  });
});

describe('a secret value', () => {
  test('stands in clear in no Secret, no log, no file and no process’s arguments or environment', async () => {
    const planted = 'xylophone-48151623';
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const running = harness.run('plant', { things: [{ ...web, password: planted }] });
    await harness.cloud.until(() => harness.cloud.named('web', 'plant').length === 1);
    const during = filesBelow(tmpdir(), 'cloud-operator-worker-');
    expect(during.length).toBeGreaterThan(0);
    expect(filesWith(during, planted)).toEqual([]);
    expect(processesWith(planted)).toEqual([]);
    harness.cloud.release();
    await running;
    expect(harness.cloud.named('web', 'plant')[0]?.properties.password).toBe(planted);
    expect(await secretsWith(admin, 'stack-plant')).toContain('stack-plant');
    expect(await secretsWith(admin, planted)).toEqual([]);
    expect(filesWith([logFile, ...filesBelow(harness.directory)], planted)).toEqual([]);
    const material = Object.values((await newStore().keyring()).keys).map((key) => key.material);
    expect(material.filter((key) => filesWith([logFile], key).length > 0)).toEqual([]);
  });
});

kmsCases(() => ({ harness, cluster, admin, logFile }));

describe('lost state', () => {
  test('is rebuilt from the cloud: nothing is doubled, replaced or changed', async () => {
    await harness.run('lost', four);
    const before = harness.cloud.discover('lost').map(({ id }) => id);
    await admin.remove(SECRETS, `${NAMESPACE}/stack-lost`);
    harness.cloud.calls.length = 0;
    const result = await harness.run('lost', four, { mayExist: true });
    expect(result.changes).toMatchObject({ create: 0, replace: 0, delete: 0 });
    expect(harness.cloud.calls.filter((call) => /^(POST|DELETE)/.test(call))).toEqual([]);
    expect(harness.cloud.discover('lost').map(({ id }) => id)).toEqual(before);
    const known = (await harness.engine.state('lost'))?.resources.map(({ id }) => id) ?? [];
    expect(known.sort()).toEqual([...before].sort());
  });

  test('does not keep a deletion from removing what is there', async () => {
    await harness.run('gone', four);
    await admin.remove(SECRETS, `${NAMESPACE}/stack-gone`);
    expect(await harness.run('gone', undefined)).toMatchObject({ result: 'Destroyed', changes: { delete: 4 } });
    expect(harness.cloud.discover('gone')).toEqual([]);
  });
});

describe('state that is not to be touched', () => {
  afterEach(async () => {
    // Whatever a test broke hides nobody else.
    expect((await harness.engine.states()).map(({ stack }) => stack)).toContain('count');
  });

  async function expectRefused(stack: string, more: object, update: Parameters<UpdatesHarness['update']>[2] = {}): Promise<void> {
    const { metadata } = await secretOf(stack);
    const engine = harness.newEngine({ store: newStore() });
    for (const inputs of [{ things: [{ ...web, size: 9 }] }, undefined]) {
      harness.cloud.calls.length = 0;
      const error = await engine.run(harness.update(stack, inputs, update), harness.hooks(stack)).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ ...more, remedy: expect.any(String) as string });
      expect(harness.cloud.calls).toEqual([]);
    }
    expect((await secretOf(stack)).metadata.resourceVersion).toBe(metadata.resourceVersion);
    expect(harness.cloud.named('web', stack)[0]?.properties.size).toBe(1);
  }

  test.each([
    ['corrupt', { data: { 'record.json.gz': Buffer.from('nonsense').toString('base64') } }, 'StateDamaged'],
    ['newer', { metadata: { annotations: { 'cloud-operator.dev/state-format': '2' } } }, 'NewerVersion'],
  ])('%s: one clear error for update and deletion', async (stack, patch, reason) => {
    await harness.run(stack, { things: [web] });
    await change(stack, patch);
    await expectRefused(stack, { code: 'Invalid', reason });
  });

  test('truncated: the same', async () => {
    await harness.run('truncated', { things: [web] });
    const text = (await secretOf('truncated')).data?.['checkpoint.json.gz'] ?? '';
    const half = Buffer.from(text, 'base64').subarray(0, 200).toString('base64');
    await change('truncated', { data: { 'checkpoint.json.gz': half } });
    await expectRefused('truncated', { code: 'Invalid', reason: 'StateDamaged' });
  });

  test('of another cluster: the same', async () => {
    await harness.run('foreign', { things: [web] }, { clusterID: 'another' });
    await expectRefused('foreign', { code: 'Invalid', reason: 'ForeignState' });
  });

  test('of a newer program: the same', async () => {
    await harness.run('program', { things: [web] }, { programVersion: '10' });
    await expectRefused('program', { code: 'Invalid', reason: 'NewerVersion' }, { programVersion: '9' });
  });

  test('under another key: the same', async () => {
    await harness.run('key', { things: [web] });
    const right = await admin.get<Secret>(SECRETS, KEY);
    const data = { 'keyring.json': Buffer.from(JSON.stringify(newKeyring())).toString('base64') };
    await admin.patch(SECRETS, KEY, 'merge', { data });
    await expectRefused('key', { code: 'Invalid', reason: 'WrongKey' });
    await admin.patch(SECRETS, KEY, 'merge', { data: right?.data });
    expect((await harness.newEngine({ store: newStore() }).state('key'))?.resources).toHaveLength(1);
  });
});
