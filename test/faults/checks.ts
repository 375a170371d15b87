import { isDeepStrictEqual } from 'node:util';
import { CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_STACKS, type CloudLoadBalancer, type CloudStack } from '../../crds';
import { keyOf, NODES, SERVICES, type KubeObject, type Node, type Service } from '../../operator/kube/object';
import { resourcesOf } from '../../operator/updates/checkpoint';
import type { LoadBalancer, Resource, TargetPool } from '../../providers/local/api';
import type { Operator } from './operator';
import type { FaultSystem } from './system';
import type { WantedService, World } from './world';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
/** One is kept warm, two work at most. */
const MOST_WORKERS = 2;

interface Seen {
  services: Service[];
  nodes: Node[];
  loadBalancers: (CloudLoadBalancer & KubeObject)[];
  stacks: (CloudStack & KubeObject)[];
  instances: KubeObject[];
  cloud: { addresses: Resource[]; pools: TargetPool[]; loadbalancers: LoadBalancer[] };
  /** Instance id of each Node's machine, by name. */
  machines: Map<string, string>;
}

/** Everything that is not as the world has it, in words; empty = all is well. */
export async function problemsOf(world: World, system: FaultSystem, operators: readonly Operator[]): Promise<string[]> {
  const seen = await look(system);
  const wanted = Object.entries(world.services);
  const balanced = wanted.filter(([, { type }]) => type === 'LoadBalancer');
  const names = balanced.map(([name]) => `default/${name}`);
  return [
    ...nodeProblems(world, seen),
    ...sameSet(
      'CloudLoadBalancers',
      seen.loadBalancers.map(({ metadata }) => keyOf(metadata)),
      names,
    ),
    ...sameSet(
      'load balancers in the cloud',
      seen.cloud.loadbalancers.map(({ tags }) => tags.owner ?? '?'),
      names,
    ),
    ...sameSet(
      'addresses in the cloud',
      seen.cloud.addresses.map(({ tags }) => tags.owner ?? '?'),
      names,
    ),
    ...sameSet(
      'CloudStacks',
      seen.stacks.map(({ metadata }) => metadata.name),
      seen.loadBalancers.map(({ status }) => status?.stack ?? '?'),
    ),
    ...seen.loadBalancers.flatMap(objectProblems),
    ...seen.stacks.flatMap(stackProblems),
    ...wanted.flatMap(([name, service]) => serviceProblems(name, service, world, seen)),
    ...(await stateProblems(system, seen)),
    ...operators.flatMap(processProblems),
  ];
}

async function look({ kube, resources }: FaultSystem): Promise<Seen> {
  const [services, nodes, loadBalancers, stacks, instances] = await Promise.all([
    kube.list<Service>(SERVICES, { namespace: 'default' }),
    kube.list<Node>(NODES),
    kube.list<CloudLoadBalancer & KubeObject>(CLOUD_LOAD_BALANCERS),
    kube.list<CloudStack & KubeObject>(CLOUD_STACKS),
    kube.list<KubeObject>(CLOUD_INSTANCES),
  ]);
  const [addresses, pools, loadbalancers, machines] = await Promise.all([
    resources.list('addresses'),
    resources.list('pools'),
    resources.list('loadbalancers'),
    resources.list('instances'),
  ]);
  return {
    services: services.filter(({ metadata }) => metadata.name !== 'kubernetes'),
    ...{ nodes, loadBalancers, stacks, instances },
    cloud: { addresses, pools, loadbalancers },
    machines: new Map(machines.filter(({ power }) => power !== 'terminated').map(({ name, id }) => [name, id])),
  };
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

function objectProblems({ metadata, status }: CloudLoadBalancer & KubeObject): string[] {
  const name = `CloudLoadBalancer ${keyOf(metadata)}`;
  if (metadata.deletionTimestamp !== undefined) return [`${name} is still being deleted`];
  if (status?.observedGeneration !== metadata.generation) return [`${name}: its status is of generation ${status?.observedGeneration}`];
  return conditionProblems(name, status?.conditions ?? []);
}

function stackProblems({ metadata, status }: CloudStack & KubeObject): string[] {
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

function serviceProblems(name: string, wanted: WantedService, world: World, seen: Seen): string[] {
  const service = seen.services.find(({ metadata }) => metadata.name === name);
  if (service === undefined) return [`Service ${name} is missing`];
  const published = (service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
  if (wanted.type !== 'LoadBalancer') {
    const finalizers = service.metadata.finalizers ?? [];
    return [
      ...(published.length > 0 ? [`Service ${name} is no LoadBalancer, and still shows ${published.join(', ')}`] : []),
      ...(finalizers.length > 0 ? [`Service ${name} is no LoadBalancer, and still has finalizers ${finalizers.join(', ')}`] : []),
    ];
  }
  const own = <R extends Resource>(all: R[]): R[] => all.filter(({ tags }) => tags.owner === `default/${name}`);
  const addresses = own(seen.cloud.addresses).map((address) => (address as unknown as { ip: string }).ip);
  const differ = (what: string, is: unknown, ought: unknown): string[] =>
    isDeepStrictEqual(is, ought) ? [] : [`Service ${name}: ${what}: ${JSON.stringify(is)} instead of ${JSON.stringify(ought)}`];
  const [balancer] = own(seen.cloud.loadbalancers);
  const foreign = [...own(seen.cloud.loadbalancers), ...own(seen.cloud.pools), ...own(seen.cloud.addresses)].filter(
    ({ tags }) => tags.ownerUID !== service.metadata.uid && !seen.loadBalancers.some(({ metadata }) => metadata.uid === tags.ownerUID),
  );
  return [
    ...differ('its addresses and those in the cloud', published, addresses),
    ...differ(
      'ports in the cloud',
      balancer?.listeners.map(({ port }) => port).sort((a, b) => a - b),
      [...wanted.ports],
    ),
    ...differ('source ranges in the cloud', sourceRanges(balancer), [...wanted.sourceRanges]),
    ...differ('pools in the cloud', own(seen.cloud.pools).length, wanted.ports.length),
    ...differ('cloud resources of another object of that name', foreign.length, 0),
    ...(service.spec?.ports ?? []).flatMap(({ port, nodePort }) =>
      differ(`targets of port ${port}`, targetsOf(port, balancer, seen), wantedTargets(nodePort ?? 0, world, seen)),
    ),
  ];
}

function sourceRanges(balancer: LoadBalancer | undefined): string[] | undefined {
  const ranges = balancer?.listeners[0]?.sourceRanges ?? balancer?.sourceRanges;
  return ranges === undefined ? undefined : [...ranges].sort();
}

function targetsOf(port: number, balancer: LoadBalancer | undefined, { cloud }: Seen): string[] | undefined {
  const listener = balancer?.listeners.find((one) => one.port === port);
  return cloud.pools
    .find(({ id }) => id === listener?.poolID)
    ?.targets.map((target) => `${target.instanceID}:${target.port}`)
    .sort();
}

function wantedTargets(nodePort: number, world: World, { machines }: Seen): string[] {
  return Object.entries(world.nodes)
    .filter(([, { excluded }]) => !excluded)
    .map(([name]) => `${machines.get(name) ?? `no machine of ${name}`}:${nodePort}`)
    .sort();
}

/** The state can be read, nothing in it is open or pending, and it holds what the cloud has. */
async function stateProblems({ states }: FaultSystem, { stacks, cloud }: Seen): Promise<string[]> {
  const { stacks: stored, damaged } = await states.list();
  const problems = damaged.map(({ message }) => message);
  problems.push(
    ...sameSet(
      'states',
      stored.map(({ stack }) => stack),
      stacks.map(({ metadata }) => metadata.name),
    ),
  );
  const all = [...cloud.addresses, ...cloud.pools, ...cloud.loadbalancers];
  for (const { stack } of stored) {
    const record = (await states.read(stack))?.record;
    if (record === undefined) continue; // it went since it was listed; the next look tells
    const checkpoint = record.checkpoint?.deployment;
    if (record.open) problems.push(`state ${stack} is open`);
    if ((checkpoint?.pending_operations ?? []).length > 0) problems.push(`state ${stack} has pending operations`);
    if ((checkpoint?.resources ?? []).some((resource) => resource.delete === true)) problems.push(`state ${stack} has resources to delete`);
    const inCloud = all.filter(({ tags }) => tags.stack === stack).map(({ id }) => id);
    problems.push(
      ...sameSet(
        `resources of state ${stack}`,
        resourcesOf(record.checkpoint).map(({ id }) => id),
        inCloud,
      ),
    );
  }
  return problems;
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

function sameSet(what: string, is: readonly string[], ought: readonly string[]): string[] {
  const [found, wanted] = [is.toSorted(), ought.toSorted()];
  return isDeepStrictEqual(found, wanted) ? [] : [`${what}: ${found.join(', ') || 'none'} instead of ${wanted.join(', ') || 'none'}`];
}
