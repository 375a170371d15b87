/** What the cluster's people want, as far as the rounds change it. */
export interface World {
  services: Readonly<Record<string, WantedService>>;
  nodes: Readonly<Record<string, WantedNode>>;
  /** Names are never used twice, so that nothing of an earlier object can pass for a later one. */
  lastName: number;
}

export interface WantedService {
  type: 'LoadBalancer' | 'ClusterIP';
  ports: readonly number[];
  sourceRanges: readonly string[];
}

export interface WantedNode {
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
  | { kind: 'addNode'; name: string }
  /** Somebody deletes the Node, then its machine. */
  | { kind: 'removeNode'; name: string }
  /** The machine is gone first; the operator finds out and deletes the Node. */
  | { kind: 'loseNode'; name: string }
  | { kind: 'excludeNode'; name: string; excluded: boolean };
export type ChangeKind = Change['kind'];

export const EMPTY_WORLD: World = { services: {}, nodes: {}, lastName: 0 };

/** The world after a change. Pure. @throws RangeError when the change is about something that is not there */
export function changed(world: World, change: Change): World {
  switch (change.kind) {
    case 'createService':
      return named({ ...world, services: { ...world.services, [change.name]: change.service } });
    case 'deleteService':
      return { ...world, services: without(world.services, change.name) };
    case 'changePorts':
      return withService(world, change.name, { ports: change.ports });
    case 'changeRanges':
      return withService(world, change.name, { sourceRanges: change.sourceRanges });
    case 'changeType':
      return withService(world, change.name, { type: change.type });
    case 'addNode':
      return named({ ...world, nodes: { ...world.nodes, [change.name]: { excluded: false } } });
    case 'removeNode':
    case 'loseNode':
      return { ...world, nodes: without(world.nodes, change.name) };
    case 'excludeNode':
      return { ...world, nodes: { ...world.nodes, [change.name]: { excluded: change.excluded } } };
  }
}

/** The changes that make a world from nothing: where a replay begins. Pure. */
export function fromNothing(world: World): Change[] {
  const nodes = Object.entries(world.nodes).flatMap(([name, { excluded }]): Change[] => [
    { kind: 'addNode', name },
    ...(excluded ? [{ kind: 'excludeNode', name, excluded } as const] : []),
  ]);
  const services = Object.entries(world.services).map(([name, service]): Change => ({ kind: 'createService', name, service }));
  return [...nodes, ...services];
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

function withService(world: World, name: string, fields: Partial<WantedService>): World {
  const service = world.services[name];
  if (service === undefined) throw new RangeError(`there is no Service ${name}`);
  return { ...world, services: { ...world.services, [name]: { ...service, ...fields } } };
}

function without<T>(all: Readonly<Record<string, T>>, name: string): Record<string, T> {
  if (!(name in all)) throw new RangeError(`there is no ${name}`);
  return Object.fromEntries(Object.entries(all).filter(([other]) => other !== name));
}
