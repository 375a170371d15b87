import * as fc from 'fast-check';
import { cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import { MemberKeeper } from '../../../operator/cloud/targets/member-keeper';
import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { Node } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';
import { localProvider } from '../../../providers/local';
import type { TargetPool } from '../../../providers/local/api';
import { LocalCloudClient } from '../../../providers/local/client';
import type { TargetGroup } from '../../../providers/provider';
import { readFileSync } from 'node:fs';
import { LocalCloudProcess } from './local-cloud-process';

const CLUSTER = 'cluster-1';
const MACHINES = 5;
const GROUPS = 3;

let cloud: LocalCloudProcess;
let client: LocalCloudClient;
let machines: string[];

beforeAll(async () => {
  cloud = await LocalCloudProcess.start();
  const token = readFileSync(cloud.tokenFile, 'utf8').trim();
  client = new LocalCloudClient({ endpoint: cloud.endpoint, token: () => Promise.resolve(token), caller: 'test' });
  machines = [];
  for (let number = 0; number < MACHINES; number++) machines.push((await cloud.createInstance(`n${number}`, CLUSTER)).providerID);
});

afterAll(async () => {
  await client.close();
  await cloud.stop();
});

/** The operator's members path as it is after a start: Nodes in a store, groups as stacks have made them. */
class Fleet {
  readonly nodes = new Map<number, { excluded: boolean }>();
  readonly groups = new Map<number, TargetGroup>();
  private readonly store = new MemoryStore<Node>({}, silentLogger);
  private registry!: CloudRegistry;
  private keeper!: MemberKeeper;
  private serial = 0;

  async restart(): Promise<void> {
    await this.close();
    this.registry = new CloudRegistry({
      loadModule: () => Promise.resolve(localProvider),
      clusterID: CLUSTER,
      readSecret: () => Promise.reject(new Error('no secrets here')),
    });
    await this.registry.set('local', cloudProviderSpec.parse({ local: { endpoint: cloud.endpoint, tokenFile: cloud.tokenFile } }));
    this.keeper = new MemberKeeper({ nodes: this.store, registry: this.registry, isValid: () => true, logger: silentLogger });
  }

  /** As an update of a stack does: a pool of another name is another pool. */
  async makeGroup(number: number, port: number): Promise<void> {
    await this.dropGroup(number);
    const name = `pool-${process.pid}-${this.serial++}`;
    const stack = `stack-${number}`;
    const { id } = await client.create('pools', { name, protocol: 'TCP', tags: { clusterID: CLUSTER, stack } }, name, {});
    this.groups.set(number, { id, port, stack });
  }

  async dropGroup(number: number): Promise<void> {
    const group = this.groups.get(number);
    if (group !== undefined) await client.remove('pools', group.id, {});
    this.groups.delete(number);
  }

  /** Brings all groups up to date as the passes over their stacks do: what fails is tried again. */
  async sync(): Promise<void> {
    this.store.replace([...this.nodes].map(([number, { excluded }]) => nodeOf(number, excluded)));
    for (let tries = 0; ; tries++) {
      const all = [...this.groups.values()].map((group) => this.keeper.sync('local', [group]));
      const outcomes = await Promise.allSettled(all);
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed === undefined) return;
      if (tries > 3) throw failed.reason;
    }
  }

  drifted(): Promise<boolean> {
    return this.keeper.drifted('local', false);
  }

  async expectRight(): Promise<void> {
    const pools = new Map((await client.list('pools')).map((pool) => [pool.id, pool]));
    const eligible = [...this.nodes].filter(([, { excluded }]) => !excluded).map(([number]) => machines[number]?.split('/').at(-1) ?? '');
    for (const { id, port } of this.groups.values()) {
      expect(targetsOf(pools.get(id))).toEqual(eligible.map((instanceID) => `${instanceID}:${port}`).sort());
    }
  }

  async close(): Promise<void> {
    await this.registry?.close();
  }

  async clear(): Promise<void> {
    for (const number of [...this.groups.keys()]) await this.dropGroup(number);
    await this.close();
  }
}

function nodeOf(number: number, excluded: boolean): Node {
  const labels = excluded ? { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } : {};
  const metadata = { name: `n${number}`, uid: `uid-${number}`, resourceVersion: String(excluded), labels };
  return { metadata, spec: { providerID: machines[number] }, status: { addresses: [] } } as unknown as Node;
}

function targetsOf(pool: TargetPool | undefined): string[] {
  return (pool?.targets ?? []).map(({ instanceID, port }) => `${instanceID}:${port}`).sort();
}

/** Calls of the operator, by verb. */
async function calls(): Promise<{ targets: number; total: number }> {
  const own = (await cloud.calls()).calls.filter(({ caller }) => caller !== 'test');
  const sum = (some: typeof own): number => some.reduce((total, { count }) => total + count, 0);
  return { targets: sum(own.filter(({ verb }) => verb === 'targets')), total: sum(own) };
}

type Step =
  | { kind: 'add' | 'remove' | 'exclude'; node: number }
  | { kind: 'make'; group: number; port: number }
  | { kind: 'drop'; group: number }
  | { kind: 'tamper'; group: number }
  | { kind: 'lose' | 'refuse' | 'restart' };

const nodeStep = fc.record({ kind: fc.constantFrom('add' as const, 'remove' as const, 'exclude' as const), node: fc.nat(MACHINES - 1) });
const groupStep = fc.oneof(
  fc.record({ kind: fc.constant('make' as const), group: fc.nat(GROUPS - 1), port: fc.constantFrom(30_000, 30_001) }),
  fc.record({ kind: fc.constantFrom('drop' as const, 'tamper' as const), group: fc.nat(GROUPS - 1) }),
);
const troubleStep = fc.record({ kind: fc.constantFrom('lose' as const, 'refuse' as const, 'restart' as const) });
/** Steps between two passes. */
const turn = fc.array(
  fc.oneof({ weight: 5, arbitrary: nodeStep }, { weight: 3, arbitrary: groupStep }, { weight: 1, arbitrary: troubleStep }),
  {
    minLength: 1,
    maxLength: 4,
  },
);

async function carryOut(fleet: Fleet, step: Step): Promise<void> {
  switch (step.kind) {
    case 'add':
      return void fleet.nodes.set(step.node, { excluded: false });
    case 'exclude':
      return void fleet.nodes.set(step.node, { excluded: true });
    case 'remove':
      return void fleet.nodes.delete(step.node);
    case 'make':
      return fleet.makeGroup(step.group, step.port);
    case 'drop':
      return fleet.dropGroup(step.group);
    case 'tamper': {
      const group = fleet.groups.get(step.group);
      if (group !== undefined) await cloud.drift({ kind: 'setTargets', id: group.id, targets: [] });
      return void (await fleet.drifted());
    }
    case 'lose':
      return void (await cloud.faults({ match: { verb: 'targets', caller: 'cloud-operator' }, times: 1, act: { loseResponse: true } }));
    case 'refuse':
      return void (await cloud.faults({
        match: { verb: 'targets', caller: 'cloud-operator' },
        times: 1,
        act: { status: 403, code: 'Forbidden' },
      }));
    case 'restart':
      return fleet.restart();
  }
}

test('whatever happens to Nodes and groups: all targets are right, at most one write per group, and none when nothing has changed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), async (turns) => {
      const fleet = new Fleet();
      await fleet.restart();
      await fleet.makeGroup(0, 30_000);
      try {
        for (const steps of turns) {
          for (const step of steps as Step[]) await carryOut(fleet, step);
          await cloud.resetCalls();
          await fleet.sync();
          const troubled = steps.some(({ kind }) => kind === 'lose' || kind === 'refuse');
          if (!troubled) expect((await calls()).targets).toBeLessThanOrEqual(fleet.groups.size);
          await fleet.expectRight();
          await cloud.faults();
          await cloud.resetCalls();
          await fleet.sync();
          expect((await calls()).total).toBe(0);
        }
      } finally {
        await cloud.faults();
        await fleet.clear();
      }
    }),
    { numRuns: 25, timeout: 30_000 },
  );
}, 60_000);

test('a Node change costs one call per group and nothing else', async () => {
  const fleet = new Fleet();
  await fleet.restart();
  for (let group = 0; group < GROUPS; group++) await fleet.makeGroup(group, 30_000);
  fleet.nodes.set(0, { excluded: false });
  await fleet.sync();
  fleet.nodes.set(1, { excluded: false });
  await cloud.resetCalls();
  await fleet.sync();
  expect(await calls()).toEqual({ targets: GROUPS, total: GROUPS });
  await fleet.clear();
});

test.each([
  ['another cluster', { clusterID: 'cluster-2', stack: 'stack-1' }, /belongs to cluster cluster-2/],
  ['another stack', { clusterID: CLUSTER, stack: 'stack-2' }, /belongs to stack stack-2/],
  ['nobody', {}, /belongs to cluster unknown/],
])('a group whose id is that of %s is never written to, also when its set is known', async (_whose, tags, message) => {
  const fleet = new Fleet();
  await fleet.restart();
  fleet.nodes.set(0, { excluded: false });
  const name = `foreign-${JSON.stringify(tags).length}`;
  const { id } = await client.create('pools', { name, protocol: 'TCP', tags }, name, {});
  fleet.groups.set(0, { id, port: 30_000, stack: 'stack-1' });
  await expect(fleet.sync()).rejects.toThrow(message);
  await fleet.drifted();
  await expect(fleet.sync()).rejects.toMatchObject({ code: 'Conflict', resource: id });
  expect(targetsOf((await client.list('pools', { name }))[0])).toEqual([]);
  await fleet.clear();
});
