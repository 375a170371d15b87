import { CloudLoadBalancerKind, cloudLoadBalancerSpec, cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import { OperatorError } from '../../../operator/base/errors';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import { MemberKeeper } from '../../../operator/cloud/targets/member-keeper';
import type { StoredProvider } from '../../../operator/cloud/providers/provider-reconciler';
import { RegisteredTargets } from '../../../operator/cloud/targets/registered-targets';
import type { KubeApi } from '../../../operator/kube/api';
import type { Node } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';
import type { Members, Target, TargetGroup } from '../../../providers/provider';
import { node } from '../loops/objects';
import { fakeRegistry } from './fake-registry';

const SPEC = cloudProviderSpec.parse({ custom: { kind: 'fake' } });
const GROUPS: TargetGroup[] = ['web', 'mail'].map((id, index) => ({ id, port: 30_000 + index }));
let versions = 0;
const names = (targets: Target[]): string => targets.map(({ nodeName }) => nodeName).join(' ');

const version = (name: string) => ({ name, uid: name, namespace: 'd', resourceVersion: `${++versions}` });

function named(name: string): Node {
  return node({ metadata: { name, uid: name, resourceVersion: `${++versions}` }, spec: { providerID: `fake://${name}` } });
}

/** A cluster with one CloudProvider and a load balancer for each of GROUPS; everything in Kubernetes and in the cloud outlives a restart. */
class World {
  /** What is registered in the cloud, by group. */
  readonly cloud = new Map<string, string>();
  /** Writes to the cloud and to Kubernetes, in order. */
  readonly log: string[] = [];
  readonly nodes = new MemoryStore<Node>({}, silentLogger);
  refuse = false;
  /** What a look at what is registered gives in place of what is there. */
  looking: Promise<Map<string, string>> | undefined;
  /** No look at what is registered succeeds. */
  unreadable = false;
  /** Another connection to the cloud, as after a change of the CloudProvider. */
  reconnect: () => Promise<unknown> = () => Promise.resolve();
  /** The next write of targets is made, and its answer is lost. */
  lose = false;
  /** Awaited before a write of targets is made. */
  onWrite: () => Promise<unknown> = () => Promise.resolve();
  /** Called before what is remembered is written. */
  onRecord: () => void = () => undefined;
  private readonly providers = new MemoryStore<StoredProvider>({}, silentLogger);
  readonly loads = new MemoryStore<StoredLoadBalancer>({}, silentLogger);
  private keeper!: MemberKeeper;

  async start(nodeNames: string[]): Promise<void> {
    this.nodes.replace(nodeNames.map(named));
    const { apiVersion, kind } = { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudProvider' };
    this.providers.replace([{ apiVersion, kind, metadata: { name: 'one', uid: 'p', resourceVersion: '1' }, spec: SPEC } as StoredProvider]);
    const spec = cloudLoadBalancerSpec.parse({ provider: 'one', listeners: [{ name: 'a', port: 80 }], custom: { kind: 'fake' } });
    const load = ({ id }: TargetGroup) => ({
      apiVersion,
      kind: CloudLoadBalancerKind.kind,
      metadata: { name: id, uid: id, namespace: 'd', resourceVersion: '1' },
      spec,
    });
    this.loads.replace(GROUPS.map((group) => load(group) as unknown as StoredLoadBalancer));
    await this.restart();
  }

  async restart(): Promise<void> {
    const connection = (): Members => this.connection();
    const registry = fakeRegistry({
      get members() {
        return connection();
      },
    });
    this.reconnect = () => registry.set('one', { ...SPEC, freeze: false, region: `r${++versions}` });
    await registry.set('one', SPEC);
    const remembered = new RegisteredTargets({
      ...{ api: this.api(), providers: this.providers, loadBalancers: this.loads, clusterID: 'c' },
      ...{ isValid: () => true, logger: silentLogger },
    });
    this.keeper = new MemberKeeper({ nodes: this.nodes, registry, isValid: () => true, remembered, logger: silentLogger });
    this.log.length = 0;
  }

  private connection(): Members {
    return {
      sync: async ({ id }, targets) => {
        await this.onWrite();
        this.log.push(`${id}: ${names(targets)}`);
        this.cloud.set(id, names(targets));
        const lost = this.lose;
        this.lose = false;
        if (lost) throw new OperatorError('Transient', 'no answer');
        return 1;
      },
      hash: (_group, targets) => names(targets),
      observe: () =>
        this.looking !== undefined
          ? this.looking
          : this.unreadable
            ? Promise.reject(new OperatorError('Throttled', 'too many'))
            : Promise.resolve(new Map(this.cloud)),
      assume: ({ id }, targets) => void this.log.push(`${id} is assumed: ${names(targets)}`),
    };
  }

  /** A pass over these load balancers, as LoadBalancerStacks makes it: targets, then status. @returns what was written meanwhile */
  async pass(...ids: string[]): Promise<string[]> {
    this.log.length = 0;
    for (const group of GROUPS.filter(({ id }) => ids.length === 0 || ids.includes(id))) {
      const load = this.load(group.id);
      await this.keeper.sync('one', [group], load);
      this.claim(group.id, this.keeper.claimOf('one', [group]));
    }
    await new Promise(setImmediate); // the record follows by itself
    return this.log;
  }

  claim(id: string, targetGroups: string | undefined): void {
    const { status = {}, metadata, ...load } = this.load(id);
    this.loads.set({
      ...load,
      metadata: { ...metadata, resourceVersion: `${++versions}` },
      status: { objectUID: id, clusterID: 'c', ...status, targetGroups },
    });
  }

  load(id: string): StoredLoadBalancer {
    return this.loads.get(`d/${id}`)!;
  }

  get record(): string | undefined {
    return this.providers.get('one')?.status?.registeredTargets;
  }

  drifted(): Promise<boolean> {
    return this.keeper.drifted('one', false);
  }

  private api(): Pick<KubeApi, 'get' | 'patch'> {
    const patch = (_resource: unknown, _key: unknown, _type: unknown, body: object): Promise<never> => {
      if (this.refuse) return Promise.reject(new OperatorError('Transient', 'no API server'));
      const { status } = body as { status: { registeredTargets: string | null } };
      this.log.push(status.registeredTargets === null ? 'forgotten' : 'remembered');
      const provider = this.providers.get('one')!;
      const metadata = { ...provider.metadata, resourceVersion: `${++versions}` };
      this.providers.set({ ...provider, metadata, status: { registeredTargets: status.registeredTargets ?? undefined } });
      return Promise.resolve({} as never);
    };
    const get = (): Promise<never> => {
      this.onRecord();
      return Promise.resolve(this.providers.get('one') as never);
    };
    return { get, patch };
  }
}

let world: World;

beforeEach(async () => {
  world = new World();
  await world.start(['a', 'b']);
});

test('a look that failed halfway is no reason to take what somebody has changed for right', async () => {
  await world.pass();
  world.cloud.set('web', 'a');
  world.unreadable = true;
  await expect(world.drifted()).rejects.toMatchObject({ code: 'Throttled' });
  expect(await world.pass('mail')).toEqual([]);
  world.unreadable = false;
  expect(await world.drifted()).toBe(true);
  expect(await world.pass()).toEqual(['web: a b']);
});

test('nobody who writes waits for a look, which tells nothing of what was written meanwhile', async () => {
  await world.pass();
  const before = new Map(world.cloud);
  let answer!: (seen: Map<string, string>) => void;
  world.looking = new Promise((resolve) => (answer = resolve));
  const looking = world.drifted();
  await new Promise(setImmediate);
  world.nodes.set(named('c'));
  expect(await world.pass()).toEqual(['forgotten', 'web: a b c', 'mail: a b c', 'remembered']);
  answer(before);
  expect(await looking).toBe(false);
  expect(await world.pass()).toEqual([]);
});

test('another connection looks for itself: it knows nothing of what the one before was told', async () => {
  await world.pass();
  await world.reconnect();
  expect(await world.drifted()).toBe(false);
  expect(await world.pass()).toEqual(['web is assumed: a b', 'mail is assumed: a b']);
  expect(await world.pass()).toEqual([]);
});

test('a restart with the same Nodes makes no call; afterwards a change is written from what was taken as known', async () => {
  expect(await world.pass()).toEqual(['web: a b', 'remembered', 'mail: a b']);
  await world.restart();
  expect(await world.pass()).toEqual(['web is assumed: a b', 'mail is assumed: a b']);
  expect(await world.pass()).toEqual([]);
  world.nodes.set(named('c'));
  expect(await world.pass()).toEqual(['forgotten', 'web: a b c', 'mail: a b c', 'remembered']);
  expect(await world.drifted()).toBe(false);
});

test('what was remembered is forgotten before the first write of other targets, and remembered when the last load balancer has them', async () => {
  await world.pass();
  world.nodes.set(named('c'));
  expect(await world.pass('web')).toEqual(['forgotten', 'web: a b c']);
  await world.restart();
  world.nodes.delete('c');
  // One group has another set than the other, and nothing says which.
  expect(await world.pass()).toEqual(['web: a b', 'mail: a b', 'remembered']);
});

test('while it can’t be forgotten, nothing is written', async () => {
  await world.pass();
  world.nodes.set(named('c'));
  world.refuse = true;
  await expect(world.pass()).rejects.toMatchObject({ code: 'Transient' });
  expect(world.cloud.get('web')).toBe('a b');
  world.refuse = false;
  expect(await world.pass()).toEqual(['forgotten', 'web: a b c', 'mail: a b c', 'remembered']);
});

describe('a write whose answer is lost', () => {
  beforeEach(async () => {
    await world.pass();
    world.nodes.set(named('c'));
    world.lose = true;
    await expect(world.pass()).rejects.toMatchObject({ code: 'Transient' });
    expect(world.cloud.get('web')).toBe('a b c');
    world.nodes.delete('c');
  });

  test('is not forgotten when the Nodes are again what they were before it', async () => {
    expect(await world.pass()).toEqual(['web: a b', 'remembered']);
    expect(world.cloud.get('web')).toBe('a b');
  });

  test('also over a restart: nothing is remembered meanwhile', async () => {
    expect(world.record).toBeUndefined();
    await world.restart();
    expect(await world.pass()).toEqual(['web: a b', 'mail: a b', 'remembered']);
  });
});

test('a look at the cloud in the middle of a write proves nothing of that group', async () => {
  await world.pass();
  await world.drifted();
  world.nodes.set(named('c'));
  world.onWrite = () => {
    world.onWrite = () => Promise.resolve();
    return world.drifted();
  };
  await world.pass();
  world.nodes.delete('c');
  expect(await world.pass()).toEqual(['forgotten', 'web: a b', 'mail: a b', 'remembered']);
});

test('neither does one that begins while what was remembered is taken away before the write', async () => {
  await world.pass();
  await world.drifted();
  world.nodes.set(named('c'));
  let look: Promise<boolean> | undefined;
  world.onRecord = () => {
    look ??= world.drifted();
  };
  await world.pass();
  await look;
  world.nodes.delete('c');
  expect(await world.pass()).toEqual(['forgotten', 'web: a b', 'mail: a b', 'remembered']);
});

test('a load balancer that does not say so of these very groups is looked at, and so are all under other Nodes', async () => {
  await world.pass();
  await world.restart();
  world.claim('web', undefined);
  expect(await world.pass()).toEqual(['web: a b', 'mail is assumed: a b']);
  await world.restart();
  world.claim('web', world.load('mail').status?.targetGroups);
  expect(await world.pass()).toEqual(['web: a b', 'mail is assumed: a b']);
  await world.restart();
  world.loads.set({
    ...world.load('mail'),
    metadata: version('mail'),
    status: { ...world.load('mail').status, clusterID: 'other' },
  } as never);
  expect(await world.pass()).toEqual(['web is assumed: a b', 'mail: a b']);
  world.nodes.set(named('c'));
  await world.restart();
  expect((await world.pass()).filter((entry) => entry.includes('assumed'))).toEqual([]);
});

test('what is forged, the drift pass finds out', async () => {
  await world.pass();
  const { record } = world;
  world.cloud.set('web', 'a');
  await world.restart();
  expect(world.record).toBe(record);
  expect(await world.pass()).toEqual(['web is assumed: a b', 'mail is assumed: a b']);
  expect(await world.drifted()).toBe(true);
  expect(await world.pass()).toEqual(['web: a b']);
  expect(await world.drifted()).toBe(false);
});
