import { AWS_LIMITS, cloudLoadBalancerSpec, cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { LoadBalancerStacks, type StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import type { MemberSettlement } from '../../../operator/cloud/stack/stack-kind';
import { MemberKeeper } from '../../../operator/cloud/targets/member-keeper';
import type { RegisteredTargets } from '../../../operator/cloud/targets/registered-targets';
import type { Node } from '../../../operator/kube/object';
import { MemoryStore } from '../../../operator/kube/store';
import { LimitedMembers } from '../../../providers/aws/members/member-limits';
import type { LoadBalancers, Target, TargetGroup } from '../../../providers/provider';
import { membersReady } from '../../../providers/resource-provider/members-ready';
import type { ResourceContext } from '../../../providers/resource-provider/resource-provider';
import type { UpdateContext } from '../../../providers/worker-module';
import { node } from '../loops/objects';
import { fakeRegistry } from './fake-registry';

const GROUP: TargetGroup = { id: 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/k8s/1', port: 30_080 };
const INGRESS = [{ hostname: 'web.elb.example' }];

const named = (name: string, resourceVersion: string): Node => {
  const metadata = { name, uid: name, resourceVersion };
  return node({
    metadata,
    spec: { providerID: `aws:///eu-central-1a/i-0${name}` },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
};

/** A load balancer of one port, whose cloud has room for `most` Nodes of one zone; `registered` is what AWS has. */
async function world(most: number, names: string[]) {
  const registered: string[] = [];
  const inner = {
    writes: 0,
    refuse: false,
    sync: (_group: TargetGroup, targets: Target[]) => {
      if (inner.refuse) return Promise.reject(new OperatorError('Quota', 'no room'));
      inner.writes++;
      registered.splice(0, registered.length, ...targets.map(({ nodeName }) => nodeName));
      return Promise.resolve(1);
    },
    hash: (_group: TargetGroup, targets: Target[]) => targets.map(({ nodeName }) => nodeName).join(),
    assume: () => undefined,
    observe: () => Promise.resolve(new Map<string, string>()),
    skipped: () => [],
  };
  const results = () => ({ ingress: INGRESS, targetGroups: [GROUP] });
  const members = new LimitedMembers(inner, { ...AWS_LIMITS, targetsPerZone: most });
  const registry = fakeRegistry({ members, loadBalancers: { results } as unknown as LoadBalancers });
  await registry.set('one', cloudProviderSpec.parse({ custom: { kind: 'aws' } }));
  const nodes = new MemoryStore<Node>({}, silentLogger);
  nodes.replace(names.map((name) => named(name, '1')));
  const converged: string[] = [];
  const remembered = {
    begin: () => Promise.resolve(),
    vouches: () => true,
    converged: (_provider: string, uid: string) => converged.push(uid),
  };
  const options = { nodes, registry, isValid: () => true, remembered: remembered as unknown as RegisteredTargets, logger: silentLogger };
  const keeper = new MemberKeeper(options);
  const hosts = { tell: (_object: unknown, _nodes: unknown, sync: () => Promise<number>) => sync() };
  const stacks = new LoadBalancerStacks(keeper, { vouch: () => undefined } as never, hosts as never, 'c');
  const cloud = registry.connected('one');
  const spec = cloudLoadBalancerSpec.parse({ provider: 'one', listeners: [{ name: 'http', port: 80 }], custom: { kind: 'aws' } });
  const object = { metadata: { name: 'web', namespace: 'd', uid: 'u' }, spec } as StoredLoadBalancer;
  const settlement = { stack: 's', cloud, targets: true, result: { outputs: {}, incarnation: 'i' } } as unknown as MemberSettlement;
  return {
    ...{ registered, converged, inner },
    /** As the engine makes and updates it, in the course of an update. */
    barrier: () => {
      const syncTargets = (group: TargetGroup): Promise<void> => stacks.syncTargets('s', group, cloud);
      return membersReady('aws', { syncTargets } as unknown as UpdateContext);
    },
    settled: () => stacks.settle(settlement, object, stacks.inputOf(object)),
  };
}

const CONTEXT = { urn: 'urn:barrier', signal: new AbortController().signal } as ResourceContext;
const INPUTS = { group: GROUP.id, port: GROUP.port };

test('of more Nodes than fit the first are targets: their load balancer gets its listeners, and says so', async () => {
  const { registered, converged, inner, barrier, settled } = await world(2, ['a', 'b', 'c']);
  await expect(barrier().create(INPUTS, CONTEXT)).resolves.toMatchObject({ id: GROUP.id });
  expect(registered).toEqual(['a', 'b']);
  const { fields, verdict } = await settled();
  expect(verdict).toMatchObject({ state: 'Ready', reason: 'TooManyNodes' });
  expect(verdict.message).toMatch(/^serving at web\.elb\.example, but 3 Nodes are targets in zone eu-central-1a, .* at most 2 in one zone/);
  expect(inner.writes).toBe(1);
  // For how many there will be room after a restart, nobody knows now.
  expect([fields.targetGroups, converged]).toEqual([undefined, []]);
});

test('after a restart what is remembered is not believed where not all fit', async () => {
  const { registered, settled } = await world(2, ['a', 'b', 'c']);
  await settled();
  expect(registered).toEqual(['a', 'b']);
});

test('fewer fit where a port is added to one that serves: the update goes on', async () => {
  const { registered, converged, barrier, settled } = await world(6, ['a', 'b', 'c']);
  await barrier().create(INPUTS, CONTEXT);
  expect((await settled()).verdict).toEqual({ state: 'Ready', message: 'serving at web.elb.example' });
  expect(converged).toEqual(['u']);
  const access = { rules: [], targetGroups: 3 };
  await expect(barrier().update(GROUP.id, INPUTS, { ...INPUTS, access }, CONTEXT)).resolves.toMatchObject({ outputs: { access } });
  expect(registered).toEqual(['a', 'b']);
});

test('more fit where a port goes: the update that makes the room does not fail for want of it', async () => {
  const { inner, barrier } = await world(6, ['a', 'b', 'c']);
  const before = { ...INPUTS, access: { rules: [], targetGroups: 3 } };
  await barrier().create(before, CONTEXT);
  inner.refuse = true;
  await expect(barrier().update(GROUP.id, before, INPUTS, CONTEXT)).resolves.toMatchObject({ outputs: INPUTS });
  await expect(barrier().create(INPUTS, CONTEXT)).rejects.toMatchObject({ code: 'Quota' });
});
