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

/** One thing that somebody does to the cluster. */
export type Change =
  | { kind: 'createService'; name: string; service: WantedService }
  | { kind: 'deleteService'; name: string }
  | { kind: 'changePorts'; name: string; ports: readonly number[] }
  | { kind: 'changeRanges'; name: string; sourceRanges: readonly string[] }
  /** `sourceRanges` are the Service's own, which only a LoadBalancer may show. */
  | { kind: 'changeType'; name: string; type: WantedService['type']; sourceRanges: readonly string[] }
  | { kind: 'createBalancer'; name: string; balancer: WantedBalancer }
  | { kind: 'deleteBalancer'; name: string }
  /** All but the ports can't be changed in place: what serves is replaced, or moves to another stack. */
  | { kind: 'changeBalancer'; name: string; fields: Partial<WantedBalancer> }
  /** Absent = the first provider's. */
  | { kind: 'addNode'; name: string; provider?: ProviderName }
  /** A Node joins, and is gone as soon as its machine is a target. */
  | { kind: 'passNode'; name: string; provider: ProviderName }
  /** Somebody deletes the Node, then its machine. */
  | { kind: 'removeNode'; name: string }
  /** The machine is gone first; the operator finds out and deletes the Node. */
  | { kind: 'loseNode'; name: string }
  | { kind: 'excludeNode'; name: string; excluded: boolean };
export type ChangeKind = Change['kind'];

export const EMPTY_WORLD: World = { services: {}, balancers: {}, nodes: {}, lastName: 0 };

/** The world after a change. Pure. @throws RangeError when the change is about something that is not there */
export function changed(world: World, change: Change): World {
  switch (change.kind) {
    case 'createService':
      return named({ ...world, services: { ...world.services, [change.name]: change.service } });
    case 'deleteService':
      return { ...world, services: without(world.services, change.name) };
    case 'changePorts':
      return { ...world, services: withFields(world.services, change.name, { ports: change.ports }) };
    case 'changeRanges':
      return { ...world, services: withFields(world.services, change.name, { sourceRanges: change.sourceRanges }) };
    case 'changeType':
      return { ...world, services: withFields(world.services, change.name, { type: change.type }) };
    case 'createBalancer':
      return named({ ...world, balancers: { ...world.balancers, [change.name]: change.balancer } });
    case 'deleteBalancer':
      return { ...world, balancers: without(world.balancers, change.name) };
    case 'changeBalancer':
      return named({ ...world, balancers: withFields(world.balancers, change.name, change.fields) });
    case 'addNode':
      return named({ ...world, nodes: { ...world.nodes, [change.name]: { provider: change.provider ?? 'local', excluded: false } } });
    case 'passNode':
      return named(world);
    case 'removeNode':
    case 'loseNode':
      return { ...world, nodes: without(world.nodes, change.name) };
    case 'excludeNode':
      return { ...world, nodes: withFields(world.nodes, change.name, { excluded: change.excluded }) };
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

function named(world: World): World {
  return { ...world, lastName: world.lastName + 1 };
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
