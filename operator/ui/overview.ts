import type { Attempt } from '../../crds';
import { keyOf, type Node, type Service } from '../kube/object';
import type { StoredLoadBalancer, StoredProvider, StoredRoute, StoredStack } from '../explain/kinds';
import { sorted, type Caches } from './caches';
import { nodeState, serviceState, stateOf, type State } from './state';
import { TargetSets, type TargetSet } from './target-sets';
import { waitingOf, type Waiting } from './waiting';

/** How many of the last updates are shown. */
const UPDATES = 50;

/** The operator that answers. */
export interface Answering {
  version: string;
  identity: string;
  /** Whether it leads, or stands by. */
  leads: boolean;
  /** What is not in its caches yet, in words; absent = all is. */
  filling?: string;
}

/** Everything at a glance: what `/ui/overview.json` answers (docs/operate/page.md). */
export interface Overview {
  /** Raised when a field changes its meaning or goes. */
  schema: 1;
  operator: Answering;
  providers: { name: string; kind: string; frozen: boolean; state: State }[];
  services: ShownService[];
  loadBalancers: ShownLoadBalancer[];
  targetSets: TargetSet[];
  nodes: { name: string; provider?: string; zone?: string; state: State }[];
  routes: { name: string; destination: string; node: string; provider: string; stack?: string; state: State }[];
  stacks: { name: string; kind: string; provider: string; members: number; resources: number; differences: number; state: State }[];
  waiting: Waiting[];
  /** The newest first. */
  updates: ShownUpdate[];
}

export interface ShownService {
  name: string;
  loadBalancerClass?: string;
  addresses: string[];
  /** Whether there is a CloudLoadBalancer of its name. */
  made: boolean;
  state: State;
}

export interface ShownLoadBalancer {
  name: string;
  provider: string;
  stack?: string;
  addresses: string[];
  ports: string;
  scheme: string;
  trafficPolicy: string;
  /** Whether there is a Service of its name. */
  service: boolean;
  /** Place in `targetSets`. */
  targets: number;
  state: State;
}

/** Without what it did, which the details of its stack have. */
export type ShownUpdate = Omit<Attempt, 'operations' | 'omitted'> & { stack: string };

/** The caches as the page's first look. Pure. */
export function overviewOf(caches: Caches, operator: Answering): Overview {
  const nodes = sorted(caches.nodes.list());
  const sets = new TargetSets(nodes, caches.instances.list());
  const services = sorted(caches.services.list()).filter((one) => isShown(one, caches));
  const loadBalancers = sorted(caches.loadBalancers.list());
  const stacks = sorted(caches.stacks.list());
  return {
    schema: 1,
    operator,
    providers: sorted(caches.providers.list()).map(providerOf),
    services: services.map((one) => serviceOf(one, caches)),
    loadBalancers: loadBalancers.map((one) => loadBalancerOf(one, caches, sets)),
    targetSets: sets.all,
    nodes: nodes.map((one) => nodeOf(one, caches)),
    routes: sorted(caches.routes.list()).map(routeOf),
    stacks: stacks.map(stackOf),
    waiting: waitingOf(caches),
    updates: updatesOf(stacks),
  };
}

/** Those that ask for a load balancer, and those whose load balancer is being deleted. */
function isShown({ metadata, spec }: Service, { loadBalancers }: Caches): boolean {
  return spec.type === 'LoadBalancer' || loadBalancers.get(keyOf(metadata)) !== undefined;
}

function providerOf(provider: StoredProvider): Overview['providers'][number] {
  const { metadata, spec, status } = provider;
  return { name: metadata.name, kind: status?.kind ?? '', frozen: spec.freeze, state: stateOf(provider) };
}

function serviceOf(service: Service, { loadBalancers }: Caches): ShownService {
  const name = keyOf(service.metadata);
  const { loadBalancerClass } = service.spec;
  return {
    name,
    ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }),
    addresses: addressesOf(service.status?.loadBalancer?.ingress),
    made: loadBalancers.get(name) !== undefined,
    state: serviceState(service),
  };
}

function loadBalancerOf(loadBalancer: StoredLoadBalancer, { services }: Caches, sets: TargetSets): ShownLoadBalancer {
  const { metadata, spec, status } = loadBalancer;
  const name = keyOf(metadata);
  return {
    name,
    provider: spec.provider,
    ...(status?.stack === undefined ? {} : { stack: status.stack }),
    addresses: addressesOf(status?.ingress),
    ports: status?.ports ?? spec.listeners.map(({ port, protocol }) => `${port}/${protocol}`).join(','),
    scheme: spec.scheme,
    trafficPolicy: spec.trafficPolicy,
    service: services.get(name) !== undefined,
    targets: sets.placeOf(loadBalancer),
    state: stateOf(loadBalancer),
  };
}

function addressesOf(ingress: readonly { hostname?: string | undefined; ip?: string | undefined }[] | undefined): string[] {
  return (ingress ?? []).flatMap(({ hostname, ip }) => hostname ?? ip ?? []);
}

function nodeOf(node: Node, { instances }: Caches): Overview['nodes'][number] {
  const instance = instances.get(node.metadata.name);
  const zone = instance?.status?.zone;
  return {
    name: node.metadata.name,
    ...(instance === undefined ? {} : { provider: instance.spec.provider }),
    ...(zone === undefined ? {} : { zone }),
    state: nodeState(node),
  };
}

function routeOf(route: StoredRoute): Overview['routes'][number] {
  const { destinationCIDR: destination, nodeName: node, provider } = route.spec;
  const stack = route.status?.stack;
  return { name: route.metadata.name, destination, node, provider, ...(stack === undefined ? {} : { stack }), state: stateOf(route) };
}

function stackOf(stack: StoredStack): Overview['stacks'][number] {
  const { members = [], resourceCount = 0, drift = [] } = stack.status ?? {};
  const { kind, provider } = stack.spec;
  const counts = { members: members.length, resources: resourceCount, differences: drift.length };
  return { name: stack.metadata.name, kind, provider, ...counts, state: stateOf(stack) };
}

function updatesOf(stacks: readonly StoredStack[]): ShownUpdate[] {
  const all = stacks.flatMap(({ metadata, status }) =>
    (status?.attempts ?? []).map(({ operations: _, omitted: __, ...one }) => ({ ...one, stack: metadata.name })),
  );
  return all.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt)).slice(0, UPDATES);
}
