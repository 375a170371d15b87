import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { EVENTS } from '../../../operator/kube/object';
import { kstatusOf } from '../../harness/kstatus';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { snippetsOf } from '../../harness/snippets';
import { secretsWith } from '../state/planted';
import { NONE, Scene, serviceOf, type StoredStack } from '../operator/scene';

const folder = mkdtempSync(join(tmpdir(), 'cloud-operator-extension-'));
let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  useExample();
  cluster = await OperatorCluster.start({ flags: [`--extension=${folder}`] });
  scene = new Scene(cluster);
  await scene.addNode('n1');
  await scene.initialized('n1');
}, OPERATOR_CLUSTER_START_MS);

afterEach(() => scene.faults());

afterAll(async () => {
  await cluster?.stop();
  rmSync(folder, { recursive: true });
});

function useExample(): void {
  cpSync(join(PROJECT_ROOT, 'examples/extension/index.ts'), join(folder, 'index.ts'));
}

/** Rolls another extension out, as an operator's new Pod does. */
async function use(write: () => void): Promise<void> {
  await cluster.stopOperator();
  write();
  await cluster.startOperator();
}

/** Addresses in the cloud that are no load balancer's: how the extension has named the newest, by owner. */
async function spareNames(): Promise<Record<string, string>> {
  const { addresses } = await scene.content();
  const named = addresses.flatMap(({ name, tags }) => {
    const kind = /^(spare|reserve)(?=-)/.exec(name)?.[0];
    return kind === undefined ? [] : [[tags.owner?.replace('default/', '') ?? '', kind] as const];
  });
  return Object.fromEntries(named);
}

/** Names of their owners. */
async function spares(): Promise<string[]> {
  return Object.keys(await spareNames());
}

async function drains(name: string): Promise<number[]> {
  const { pools } = await scene.content();
  return pools.filter(({ tags }) => tags.owner === `default/${name}`).map(({ drainMs }) => drainMs);
}

async function extraStackOf(name: string): Promise<StoredStack> {
  const { metadata } = await scene.stackOf(name);
  return scene.until(`the extra stack of ${name} to have ended an attempt`, async () => {
    const stack = await scene.stack(`${metadata.name}-extra`);
    return stack?.status?.attempts?.[0]?.result === 'Running' ? undefined : stack;
  });
}

test('the example changes an argument, adds a resource in a stack of its own, and refuses what it should', async () => {
  await cluster.apply(serviceOf('web'), serviceOf('ssh', { ports: [{ name: 'ssh', port: 22 }] }));
  await scene.published('web');
  expect(await drains('web')).toEqual([30_000]);
  await scene.until('the spare address', async () => (await spares()).includes('web'));
  const extra = await extraStackOf('web');
  expect(extra).toMatchObject({
    spec: { kind: 'Extra', provider: 'local' },
    status: { members: ['default/web'], resourceCount: 1, attempts: [{ kind: 'Update', result: 'Succeeded' }] },
  });

  const { message } = await scene.condition('ssh', 'Stalled', 'Invalid');
  expect(message).toMatch(/refused by the extension: port 22 must not be published; use the bastion/);
  expect(await scene.counts('ssh')).toEqual(NONE);
  await scene.deleteServices('ssh');
  const web = await scene.ready('web');
  expect(kstatusOf(web)).toBe('Current');
});

test('unchanged, it runs nothing, not even after a restart', async () => {
  await scene.settled();
  const attempts = async (): Promise<unknown> =>
    (await scene.list<StoredStack>(CLOUD_STACKS)).map(({ metadata, status }) => [metadata.name, status?.attempts]);
  const before = await attempts();
  await cluster.cloud.resetCalls();
  await cluster.stopOperator();
  await cluster.startOperator();
  await scene.settled();
  expect(await attempts()).toEqual(before);
  expect((await cluster.operatorCalls()).writes).toBe(0);
});

test('another text that makes the same updates nothing; one that changes an argument is rolled out as an upgrade', async () => {
  const hashes = async (): Promise<unknown[]> =>
    (await scene.list<StoredStack>(CLOUD_STACKS)).map(({ status }) => status?.inputsHash).sort();
  const attempts = async (): Promise<unknown> =>
    (await scene.list<StoredStack>(CLOUD_STACKS)).map(({ metadata, status }) => [metadata.name, status?.attempts]);
  const [before, olds, text] = [await attempts(), await hashes(), readFileSync(join(folder, 'index.ts'), 'utf8')];
  await use(() => writeFileSync(join(folder, 'index.ts'), `${text}\n// Nothing else.\n`));
  await scene.until('both stacks to be known as the other text’s', async () => (await hashes()).every((hash) => !olds.includes(hash)));
  await scene.ready('web');
  expect(await attempts()).toEqual(before);

  await use(() => writeFileSync(join(folder, 'index.ts'), text.replaceAll('30_000', '20_000')));
  await scene.until('the other drain time', async () => (await drains('web'))[0] === 20_000);
  await scene.until('its record', async () => (await scene.stackOf('web')).status?.lastAttempt?.startsWith('Update (upgrade) Succeeded'));
});

test('with approval: Manual, what it adds waits for a person; another text that makes the same asks nobody', async () => {
  const text = readFileSync(join(folder, 'index.ts'), 'utf8');
  const policy = (approval: string): Promise<string> =>
    cluster.kubectl(['patch', 'clb', 'web', '--type', 'merge', '-p', JSON.stringify({ spec: { updatePolicy: { approval } } })]);
  await policy('Manual');
  await use(() => writeFileSync(join(folder, 'index.ts'), text.replace('`spare-${uid}`', '`reserve-${uid}`')));
  const { message } = await scene.condition('web', 'ExtraAwaitingApproval', 'AwaitingApproval');
  await scene.until('nothing else to wait', async () => (await scene.stackOf('web')).status?.plans === undefined);
  const { metadata } = await scene.stackOf('web');
  const extra = await scene.stack(`${metadata.name}-extra`);
  const plan = extra?.status?.plans?.find(({ member }) => member === 'default/web');
  expect(plan?.operations.map(({ op, type }) => `${op} ${type}`)).toEqual(['replace local:index:Address']);
  expect(message).toContain(`cloud-operator.dev/approve=${plan?.hash}`);
  await scene.ready('web');
  expect(await spareNames()).toEqual({ web: 'spare' });
  await cluster.kubectl(['annotate', 'clb', 'web', '--overwrite', `cloud-operator.dev/approve=${plan?.hash}`]);
  await scene.until('what was approved', async () => (await spareNames()).web === 'reserve');
  await scene.until('nothing to wait any more', async () => (await scene.ready('web')).status?.conditions?.length === 1);
  await policy('Auto');
  await use(() => writeFileSync(join(folder, 'index.ts'), text));
  await scene.until('it to be as before', async () => (await spareNames()).web === 'spare');
});

describe('levers hold what it adds too', () => {
  const ANNOTATION = 'cloud-operator.dev/pause';
  const patch = (kind: string, name: string, spec: object): Promise<string> =>
    cluster.kubectl(['patch', kind, name, '--type', 'merge', '-p', JSON.stringify({ spec })]);
  const become = (expected: Record<string, string>): Promise<boolean> =>
    scene.until(`spare addresses ${JSON.stringify(expected)}`, async () => {
      const now = await spareNames();
      if (isDeepStrictEqual(now, expected)) return true;
      throw new Error(JSON.stringify(now));
    });
  const pause = (name: string, value: string): Promise<string> => cluster.kubectl(['annotate', 'clb', name, `${ANNOTATION}${value}`]);
  const remove = (name: string): Promise<string> => cluster.kubectl(['delete', 'service', name, '--wait=false']);
  const bothGone = async (stack: string): Promise<void> => {
    for (const one of [stack, `${stack}-extra`]) await scene.gone(`CloudStack ${one}`, () => scene.stack(one));
  };

  beforeAll(async () => {
    const names = ['all', 'updates', 'seen'];
    await cluster.apply(...names.map((name) => serviceOf(name)));
    for (const name of names) await scene.published(name);
    await become({ web: 'spare', all: 'spare', updates: 'spare', seen: 'spare' });
  });

  test('pause, Observe and freeze: its change waits, and goes on when the lever goes', async () => {
    await pause('all', '=All');
    await pause('updates', '=Updates');
    await patch('clb', 'seen', { managementPolicy: 'Observe' });
    await use(() =>
      writeFileSync(join(folder, 'index.ts'), readFileSync(join(folder, 'index.ts'), 'utf8').replace('`spare-${uid}`', '`reserve-${uid}`')),
    );
    await become({ web: 'reserve', all: 'spare', updates: 'spare', seen: 'spare' });
    await scene.settled();
    await patch('cloudprovider', 'local', { freeze: true });
    await pause('all', '-');
    await pause('updates', '-');
    await patch('clb', 'seen', { managementPolicy: 'Default' });
    for (const name of ['all', 'updates', 'seen']) await scene.condition(name, 'Ready', 'Frozen');
    await scene.settled();
    await become({ web: 'reserve', all: 'spare', updates: 'spare', seen: 'spare' });
    await patch('cloudprovider', 'local', { freeze: false });
    await become({ web: 'reserve', all: 'reserve', updates: 'reserve', seen: 'reserve' });
  });

  test('a deletion that waits keeps it; one that only lets the object go leaves it until it is released', async () => {
    await pause('all', '=All');
    await remove('all');
    await scene.until('the deletion to wait', async () =>
      (await scene.condition('all', 'Ready', 'Paused', { status: 'False' })).message.includes('its deletion waits'),
    );
    await patch('clb', 'seen', { managementPolicy: 'Observe' });
    await scene.condition('seen', 'Ready', 'Observed');
    const { metadata } = await scene.stackOf('seen');
    const { uid } = (await scene.loadBalancer('seen'))?.metadata ?? {};
    await remove('seen');
    await scene.gone('CloudLoadBalancer seen', () => scene.loadBalancer('seen'));
    await scene.settled();
    await become({ web: 'reserve', all: 'reserve', updates: 'reserve', seen: 'reserve' });
    await pause('all', '-');
    await scene.gone('CloudLoadBalancer all', () => scene.loadBalancer('all'));
    await cluster.kubectl(['annotate', 'cloudstack', metadata.name, `cloud-operator.dev/release=${uid}`]);
    await bothGone(metadata.name);
    await become({ web: 'reserve', updates: 'reserve' });
    expect([await scene.counts('all'), await scene.counts('seen')]).toEqual([NONE, NONE]);
  });

  test('deletionPolicy: Orphan leaves it, marked like the rest', async () => {
    await patch('clb', 'updates', { deletionPolicy: 'Orphan' });
    await scene.ready('updates');
    const { metadata } = await scene.stackOf('updates');
    await remove('updates');
    await bothGone(metadata.name);
    const { addresses, pools, loadbalancers } = await scene.content();
    const left = [...addresses, ...pools, ...loadbalancers].filter(({ tags }) => tags.owner === 'default/updates');
    expect(left.map(({ tags }) => tags.released)).toEqual(['true', 'true', 'true', 'true']);
    for (const [collection, resources] of Object.entries({ loadbalancers, pools, addresses }))
      for (const { id, tags } of resources) if (tags.released === 'true') await cluster.resources.remove(collection as 'addresses', id, {});
  });
});

const BROKEN_EXTRA = `
interface Outputs { loadBalancers: { name: string }[] }
function zoneOf(name: string): string {
  if (name === 'web') throw new Error('no zone for ' + name);
  return name;
}
export function extra({ loadBalancers }: Outputs) {
  loadBalancers.forEach(({ name }) => zoneOf(name));
}`;

test('an extra stack that fails is a warning with the stack trace, and the load balancer stays Ready; other load balancers don’t notice', async () => {
  await use(() => writeFileSync(join(folder, 'index.ts'), BROKEN_EXTRA));
  await cluster.apply(serviceOf('other'));
  const { message } = await scene.condition('web', 'ExtraFailed', 'Invalid');
  expect(message).toMatch(/failed: Error: no zone for web\n {4}at zoneOf \(index\.ts:4:29\)/);
  const web = await scene.ready('web');
  expect(kstatusOf(web)).toBe('Current');
  // The transform is gone with the example, the spare address stays until its own program says otherwise.
  await scene.until('the drain time to be the default', async () => (await drains('web'))[0] === 5_000);
  expect(await spares()).toEqual(['web']);
  const { attempts = [] } = (await extraStackOf('web')).status ?? {};
  // It may have been tried again by now.
  expect([attempts[0], attempts.find(({ result }) => result !== 'Failed')]).toMatchObject([
    { result: 'Failed', code: 'Invalid' },
    { result: 'Succeeded' },
  ]);
  const events = await scene.until('a Warning', async () =>
    (await scene.events('CloudLoadBalancer', 'web')).find(({ reason }) => reason === 'ExtraFailed'),
  );
  expect(events).toMatchObject({ type: 'Warning', message: expect.stringContaining('no zone for web') as string });

  await scene.published('other');
  await extraStackOf('other');
  expect((await scene.ready('other')).status?.conditions?.map(({ type }) => type)).toEqual(['Ready']);
});

test('an extension that can’t be loaded stalls what would need it, serving goes on; repaired, all is well', async () => {
  await use(() => writeFileSync(join(folder, 'index.ts'), 'export function transform() {}\nthrow new Error("not today");'));
  const { message } = await scene.condition('web', 'Stalled', 'Invalid');
  expect(message).toMatch(/can't be loaded: Error: not today\n {4}at index\.ts:2:7/);
  expect(cluster.operatorLog()).toMatch(/not today.*the extension can't be loaded: load balancers that are new or change wait/);
  expect(await scene.inCloud('web')).toBeDefined();
  expect((await scene.service('web'))?.status?.loadBalancer?.ingress).toHaveLength(1);
  await scene.addNode('n2');
  await scene.initialized('n2');

  const [snippet = ''] = snippetsOf(readFileSync(join(PROJECT_ROOT, 'docs/extend.md'), 'utf8'), 'ts');
  await use(() => writeFileSync(join(folder, 'index.ts'), snippet));
  await scene.ready('web');
  await scene.until('the warning to go', async () => (await scene.ready('web')).status?.conditions?.length === 1);
  await scene.until('both spares', async () => (await spares()).length === 2);
});

const PLANTED = 'dulcimer-15162342';
const SECRET_EXTRA = `
import { CustomResource, secret } from '@pulumi/pulumi';
import { defineExtension } from 'cloud-operator/extensions';

class Address extends CustomResource {}

export default defineExtension({
  extra({ loadBalancers }) {
    for (const { uid, namespace, name } of loadBalancers)
      new Address('local:index:Address', 'spare-' + name, {
        name: secret('spare-${PLANTED}-' + uid), ownerUID: uid, owner: namespace + '/' + name, family: 'IPv4', ip: undefined,
      });
    return { token: secret('${PLANTED}') };
  },
});`;

test('a secret of an extension is the cloud’s alone: no object, Event, log or Secret has it in clear', async () => {
  await use(() => writeFileSync(join(folder, 'index.ts'), SECRET_EXTRA));
  await scene.until('both with the secret', async () => {
    const { addresses } = await scene.content();
    return addresses.filter(({ name }) => name.includes(PLANTED)).length === 2;
  });
  for (const name of ['web', 'other']) await extraStackOf(name);
  const objects = await Promise.all([CLOUD_STACKS, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, EVENTS].map((kind) => scene.list(kind)));
  expect(JSON.stringify(objects)).toContain('-extra');
  expect([JSON.stringify(objects), cluster.operatorLog()].filter((text) => text.includes(PLANTED))).toEqual([]);
  expect(await secretsWith(cluster.kube, PLANTED)).toEqual([]);
});

test('a load balancer’s extra stack is destroyed before its own, and an extra that can’t be deleted holds it', async () => {
  await scene.faults({ match: { verb: 'delete', collection: 'addresses' }, act: { status: 503, code: 'Unavailable' } });
  await cluster.kubectl(['delete', 'service', '--wait=false', 'other']);
  await scene.acted(0);
  expect(await scene.counts('other')).toEqual({ addresses: 2, pools: 1, loadbalancers: 1 });
  await scene.faults();
  await scene.gone('CloudLoadBalancer other', () => scene.loadBalancer('other'));
  expect(await scene.counts('other')).toEqual(NONE);
});

test('without an extension any more, what it made goes', async () => {
  const extra = await extraStackOf('web');
  await use(() => writeFileSync(join(folder, 'index.ts'), 'export function transform() {}'));
  await scene.gone('the spare address', async () => (await spares())[0]);
  await scene.gone('its CloudStack', () => scene.stack(extra.metadata.name));
  expect(await drains('web')).toEqual([5_000]);
  await scene.ready('web');
  await scene.deleteServices('web');
  expect(await scene.counts()).toEqual(NONE);
});
