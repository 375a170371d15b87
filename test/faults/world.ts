/** What the cluster's people want, as far as the rounds change it. */
export interface World {
  services: Readonly<Record<string, WantedService>>;
  /** CloudLoadBalancers that people write themselves. */
  balancers: Readonly<Record<string, WantedBalancer>>;
  nodes: Readonly<Record<string, WantedNode>>;
  /** Names are never used twice, so that nothing of an earlier object can pass for a later one. */
  lastName: number;
}

export interface WantedService {
  type: 'LoadBalancer' | 'ClusterIP';
  ports: readonly number[];
  sourceRanges: readonly string[];
}

/** Both are on the same cloud; which Nodes are whose, a label says. Services go to the first. */
export const PROVIDERS = ['local', 'second'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export interface WantedBalancer {
  provider: ProviderName;
  scheme: 'Public' | 'Internal';
  /** Null = one of its own; all who name the same one share it with those of their provider and scheme. */
  placement: string | null;
  /** Nobody else ever asks for them, so that nobody is in the way on a load balancer that is shared. */
  ports: readonly number[];
}

export interface WantedNode {
  /** Whose it is. */
  provider: ProviderName;
  /** Labelled as one that load balancers leave out. */
  excluded: boolean;
}

export type ServiceChange =
  | { kind: 'createService'; name: string; service: WantedService }
  | { kind: 'deleteService'; name: string }
  | { kind: 'changePorts'; name: string; ports: readonly number[] }
  | { kind: 'changeRanges'; name: string; sourceRanges: readonly string[] }
  /** `sourceRanges` are the Service's own, which only a LoadBalancer may show. */
  | { kind: 'changeType'; name: string; type: WantedService['type']; sourceRanges: readonly string[] };

export type BalancerChange =
  | { kind: 'createBalancer'; name: string; balancer: WantedBalancer }
  | { kind: 'deleteBalancer'; name: string }
  /** All but the ports can't be changed in place: what serves is replaced, or moves to another stack. */
  | { kind: 'changeBalancer'; name: string; fields: Partial<WantedBalancer> };

export type NodeChange =
  /** Absent = the first provider's. */
  | { kind: 'addNode'; name: string; provider?: ProviderName }
  /** A Node joins, and is gone as soon as its machine is a target. */
  | { kind: 'passNode'; name: string; provider: ProviderName }
  /** Somebody deletes the Node, then its machine. */
  | { kind: 'removeNode'; name: string }
  /** The machine is gone first; the operator finds out and deletes the Node. */
  | { kind: 'loseNode'; name: string }
  | { kind: 'excludeNode'; name: string; excluded: boolean };

/** One thing that somebody does to the cluster. */
export type Change = ServiceChange | BalancerChange | NodeChange;
export type ChangeKind = Change['kind'];

export const EMPTY_WORLD: World = { services: {}, balancers: {}, nodes: {}, lastName: 0 };

/** The world after a change. Pure. @throws RangeError when the change is about something that is not there */
export function changed(world: World, change: Change): World {
  const lastName = world.lastName + (TAKE_A_NAME.includes(change.kind) ? 1 : 0);
  if (isOfNode(change)) return { ...world, lastName, nodes: changedNodes(world.nodes, change) };
  if (isOfBalancer(change)) return { ...world, lastName, balancers: changedBalancers(world.balancers, change) };
  return { ...world, lastName, services: changedServices(world.services, change) };
}

export function isOfNode(change: Change): change is NodeChange {
  return change.kind.endsWith('Node');
}

export function isOfBalancer(change: Change): change is BalancerChange {
  return change.kind.endsWith('Balancer');
}

/** A change of a load balancer takes one for its ports. */
const TAKE_A_NAME: readonly ChangeKind[] = ['createService', 'createBalancer', 'changeBalancer', 'addNode', 'passNode'];

function changedServices(services: World['services'], change: ServiceChange): World['services'] {
  switch (change.kind) {
    case 'createService':
      return { ...services, [change.name]: change.service };
    case 'deleteService':
      return without(services, change.name);
    case 'changePorts':
      return withFields(services, change.name, { ports: change.ports });
    case 'changeRanges':
      return withFields(services, change.name, { sourceRanges: change.sourceRanges });
    case 'changeType':
      return withFields(services, change.name, { type: change.type });
  }
}

function changedBalancers(balancers: World['balancers'], change: BalancerChange): World['balancers'] {
  switch (change.kind) {
    case 'createBalancer':
      return { ...balancers, [change.name]: change.balancer };
    case 'deleteBalancer':
      return without(balancers, change.name);
    case 'changeBalancer':
      return withFields(balancers, change.name, change.fields);
  }
}

function changedNodes(nodes: World['nodes'], change: NodeChange): World['nodes'] {
  switch (change.kind) {
    case 'addNode':
      return { ...nodes, [change.name]: { provider: change.provider ?? 'local', excluded: false } };
    case 'removeNode':
    case 'loseNode':
      return without(nodes, change.name);
    case 'excludeNode':
      return withFields(nodes, change.name, { excluded: change.excluded });
    case 'passNode':
      return nodes;
  }
}

/** The changes that make a world from nothing: where a replay begins. Pure. */
export function fromNothing(world: World): Change[] {
  const nodes = Object.entries(world.nodes).flatMap(([name, { provider, excluded }]): Change[] => [
    { kind: 'addNode', name, provider },
    ...(excluded ? [{ kind: 'excludeNode', name, excluded } as const] : []),
  ]);
  const services = Object.entries(world.services).map(([name, service]): Change => ({ kind: 'createService', name, service }));
  const balancers = Object.entries(world.balancers).map(([name, balancer]): Change => ({ kind: 'createBalancer', name, balancer }));
  return [...nodes, ...services, ...balancers];
}

/** One line for people. */
export function describeChange(change: Change): string {
  const { kind, name, ...rest } = change;
  const details = Object.values(rest).map((value) => JSON.stringify(value));
  return [kind, name, ...details].join(' ');
}

function withFields<T>(all: Readonly<Record<string, T>>, name: string, fields: Partial<T>): Record<string, T> {
  const found = all[name];
  if (found === undefined) throw new RangeError(`there is no ${name}`);
  return { ...all, [name]: { ...found, ...fields } };
}

function without<T>(all: Readonly<Record<string, T>>, name: string): Record<string, T> {
  if (!(name in all)) throw new RangeError(`there is no ${name}`);
  return Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
}
