import { keyOf } from '../../operator/kube/object';
import { resourcesOf } from '../../operator/updates/checkpoint';
import { driftOf, match } from '../../operator/updates/drift';
import { discover } from '../../providers/local/discover';
import type { StackRecord } from '../../operator/updates/state/stack-record';
import type { DiscoveredResource } from '../../providers/provider';
import { carriedOf, carriedProblems, carrierProblems } from './carried';
import type { Operator } from './operator';
import { look, sameSet, type Seen, type StoredLoadBalancer, type StoredStack } from './seen';
import type { FaultSystem } from './system';
import type { WantedService, World } from './world';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
/** One is kept warm, two work at most. */
const MOST_WORKERS = 2;

/** Everything that is not as the world has it, in words; empty = all is well. */
export async function problemsOf(world: World, system: FaultSystem, operators: readonly Operator[]): Promise<string[]> {
  const seen = await look(system);
  const carried = carriedOf(world, seen);
  const balanced = Object.entries(world.services).filter(([, { type }]) => type === 'LoadBalancer');
  return [
    ...nodeProblems(world, seen),
    ...sameSet(
      'CloudLoadBalancers',
      seen.loadBalancers.map(({ metadata }) => keyOf(metadata)),
      [...balanced.map(([name]) => name), ...Object.keys(world.balancers)].map((name) => `default/${name}`),
    ),
    ...sameSet(
      'CloudStacks',
      seen.stacks.map(({ metadata }) => metadata.name),
      [...new Set(seen.loadBalancers.map(({ status }) => status?.stack ?? '?'))],
    ),
    ...seen.loadBalancers.flatMap(objectProblems),
    ...seen.stacks.flatMap(stackProblems),
    ...Object.entries(world.services).flatMap(([name, service]) => serviceProblems(name, service, seen)),
    ...carrierProblems(carried, seen),
    ...carried.flatMap((one) => carriedProblems(one, world, seen)),
    ...(await stateProblems(system, seen)),
    ...operators.flatMap(processProblems),
  ];
}

function nodeProblems(world: World, { nodes, instances }: Seen): string[] {
  const wanted = Object.keys(world.nodes);
  const tainted = nodes.filter(({ spec }) => (spec.taints ?? []).some(({ key }) => key === UNINITIALIZED));
  return [
    ...sameSet(
      'Nodes',
      nodes.map(({ metadata }) => metadata.name),
      wanted,
    ),
    ...sameSet(
      'CloudInstances',
      instances.map(({ metadata }) => metadata.name),
      wanted,
    ),
    ...tainted.map(({ metadata }) => `Node ${metadata.name} is not initialized`),
  ];
}

function objectProblems({ metadata, status }: StoredLoadBalancer): string[] {
  const name = `CloudLoadBalancer ${keyOf(metadata)}`;
  if (metadata.deletionTimestamp !== undefined) return [`${name} is still being deleted`];
  if (status?.observedGeneration !== metadata.generation) return [`${name}: its status is of generation ${status?.observedGeneration}`];
  return conditionProblems(name, status?.conditions ?? []);
}

function stackProblems({ metadata, status }: StoredStack): string[] {
  const name = `CloudStack ${metadata.name}`;
  const running = (status?.attempts ?? []).filter(({ result }) => result === 'Running');
  return [...conditionProblems(name, status?.conditions ?? []), ...running.map(() => `${name} shows an attempt that still runs`)];
}

function conditionProblems(
  name: string,
  conditions: readonly { type: string; status: string; reason: string; message: string }[],
): string[] {
  const is = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === 'True');
  if (is('Ready') && !is('Reconciling') && !is('Stalled')) return [];
  const words = conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
  return [`${name} is not Ready (${words.join('; ')})`];
}

/** What only a Service has; its load balancer is looked at with all others. */
function serviceProblems(name: string, wanted: WantedService, seen: Seen): string[] {
  const service = seen.services.find(({ metadata }) => metadata.name === name);
  if (service === undefined) return [`Service ${name} is missing`];
  if (wanted.type === 'LoadBalancer') {
    const ports = (service.spec?.ports ?? []).map(({ port }) => String(port));
    return sameSet(`ports of Service ${name}`, ports, wanted.ports.map(String));
  }
  const published = (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
  const finalizers = service.metadata.finalizers ?? [];
  return [
    ...(published.length > 0 ? [`Service ${name} is no LoadBalancer, and still shows ${published.join(', ')}`] : []),
    ...(finalizers.length > 0 ? [`Service ${name} is no LoadBalancer, and still has finalizers ${finalizers.join(', ')}`] : []),
  ];
}

/** The state can be read, nothing in it is open or pending, and it holds what the cloud has, property by property. */
async function stateProblems({ states, resources }: FaultSystem, { stacks, cloud }: Seen): Promise<string[]> {
  const { stacks: stored, damaged } = await states.list();
  const problems = damaged.map(({ message }) => message);
  problems.push(
    ...sameSet(
      'states',
      stored.map(({ stack }) => stack),
      stacks.map(({ metadata }) => metadata.name),
    ),
  );
  const found = await discover(resources, stored[0]?.clusterID ?? '');
  const all = [...cloud.addresses, ...cloud.pools, ...cloud.loadbalancers];
  for (const { stack } of stored) {
    const record = (await states.read(stack))?.record;
    if (record === undefined) continue; // it went since it was listed; the next look tells
    const inCloud = all.filter(({ tags }) => tags.stack === stack).map(({ id }) => id);
    const inState = resourcesOf(record.checkpoint).map(({ id }) => id);
    problems.push(...sameSet(`resources of state ${stack}`, inState, inCloud), ...recordProblems(record, found.get(stack) ?? []));
  }
  return problems;
}

function recordProblems({ stack, project, open, inputsHash, checkpoint }: StackRecord, found: DiscoveredResource[]): string[] {
  const { resources = [], pending_operations: pending } = checkpoint?.deployment ?? {};
  const drift = driftOf(match(resources, found, { project, name: stack }));
  return [
    ...(open ? ['is open'] : []),
    ...(inputsHash === '' ? ['is not of what the cloud was last brought to'] : []),
    ...((pending ?? []).length > 0 ? ['has pending operations'] : []),
    ...(resources.some((resource) => resource.delete === true) ? ['has resources to delete'] : []),
    ...drift.map((one) => `is not what the cloud has: ${JSON.stringify(one)}`),
  ].map((problem) => `state ${stack} ${problem}`);
}

/** Only the running operator's own workers are left, and no engine. */
function processProblems(operator: Operator): string[] {
  const children = operator.children();
  const workers = new Set(operator.workers());
  const pid = operator.running ? operator.pid : undefined;
  const left = children.filter((child) => child.pid !== pid && !(workers.has(child.pid) && child.parent === pid));
  return [
    ...left.map((child) => `process ${child.pid} is left: ${child.commandLine.slice(0, 120)}`),
    ...(workers.size > MOST_WORKERS ? [`${workers.size} workers run`] : []),
  ];
}
