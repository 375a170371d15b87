import type { Dice } from './dice';
import { PROVIDERS, type Change, type ChangeKind, type WantedBalancer, type WantedNode, type WantedService, type World } from './world';

const SERVICES = { least: 2, most: 6 };
const BALANCERS = { least: 1, most: 4 };
const NODES = { least: 5, most: 8 };
const PORTS = [80, 443, 8080, 8443, 9090, 53_000];
/** Above all ports of Services. */
const FIRST_OWN_PORT = 10_000;
const RANGES = ['10.0.0.0/8', '192.168.0.0/16', '172.16.0.0/12', '203.0.113.0/24'];
const PLACEMENTS = ['edge-a', 'edge-b', null];

/** Kinds of change, each as often as it is drawn in proportion to the others. */
export const CHANGE_KINDS: readonly ChangeKind[] = [
  'createService',
  'createService',
  'createService',
  'deleteService',
  'deleteService',
  'changePorts',
  'changePorts',
  'changeRanges',
  'changeType',
  'createBalancer',
  'createBalancer',
  'deleteBalancer',
  'changeBalancer',
  'changeBalancer',
  'changeBalancer',
  'addNode',
  'passNode',
  'removeNode',
  'loseNode',
  'excludeNode',
];

/** True when the world has room for such a change. Pure. */
export function isPossible(kind: ChangeKind, world: World): boolean {
  const { services, balancers, nodes } = world;
  const count = (all: object): number => Object.keys(all).length;
  const isBalanced = Object.values(services).some(({ type }) => type === 'LoadBalancer');
  const limits: Record<ChangeKind, boolean> = {
    createService: count(services) < SERVICES.most,
    deleteService: count(services) > SERVICES.least && isBalanced,
    changePorts: isBalanced,
    changeRanges: isBalanced,
    changeType: count(services) > 0,
    createBalancer: count(balancers) < BALANCERS.most,
    deleteBalancer: count(balancers) > BALANCERS.least,
    changeBalancer: count(balancers) > 0,
    addNode: count(nodes) < NODES.most,
    passNode: count(nodes) < NODES.most,
    removeNode: count(nodes) > NODES.least && dispensable(world).length > 0,
    loseNode: count(nodes) > NODES.least && dispensable(world).length > 0,
    excludeNode: count(nodes) > 0,
  };
  return limits[kind];
}

/** Draws a change of a kind that is possible. */
export const CHANGES_MADE: Record<ChangeKind, (world: World, dice: Dice) => Change> = {
  createService: ({ lastName }, dice) => {
    const service: WantedService = { type: 'LoadBalancer', ports: ports(dice), sourceRanges: ranges(dice) };
    return { kind: 'createService', name: `web-${lastName + 1}`, service };
  },
  deleteService: (world, dice) => ({ kind: 'deleteService', name: balanced(world, dice) }),
  changePorts: (world, dice) => {
    const name = balanced(world, dice);
    return { kind: 'changePorts', name, ports: unlike(world.services[name]?.ports, () => ports(dice)) };
  },
  changeRanges: (world, dice) => {
    const name = balanced(world, dice);
    return { kind: 'changeRanges', name, sourceRanges: unlike(world.services[name]?.sourceRanges, () => ranges(dice)) };
  },
  changeType: ({ services }, dice) => {
    const name = dice.pick(Object.keys(services));
    const { type, sourceRanges = [] } = services[name] ?? {};
    return { kind: 'changeType', name, type: type === 'LoadBalancer' ? 'ClusterIP' : 'LoadBalancer', sourceRanges };
  },
  createBalancer: (world, dice) => {
    const fields = { provider: dice.pick(PROVIDERS), scheme: dice.pick(SCHEMES), placement: dice.pick(PLACEMENTS) };
    return { kind: 'createBalancer', name: `own-${world.lastName + 1}`, balancer: { ...fields, ports: ownPorts(world, dice) } };
  },
  deleteBalancer: ({ balancers }, dice) => ({ kind: 'deleteBalancer', name: dice.pick(Object.keys(balancers)) }),
  changeBalancer: (world, dice) => {
    const name = dice.pick(Object.keys(world.balancers));
    return { kind: 'changeBalancer', name, fields: otherFields(world, world.balancers[name], dice) };
  },
  addNode: ({ lastName }, dice) => ({ kind: 'addNode', name: `node-${lastName + 1}`, provider: dice.pick(PROVIDERS) }),
  passNode: ({ lastName }, dice) => ({ kind: 'passNode', name: `node-${lastName + 1}`, provider: dice.pick(PROVIDERS) }),
  removeNode: (world, dice) => ({ kind: 'removeNode', name: dice.pick(dispensable(world)) }),
  // The oldest, which the operator knows for long: of a machine that is gone before its Node was initialized nobody can tell whose it was.
  loseNode: (world) => ({ kind: 'loseNode', name: dispensable(world)[0] ?? '' }),
  excludeNode: (world, dice) => {
    const excluded = Object.keys(world.nodes).filter((name) => world.nodes[name]?.excluded === true);
    const name = dice.pick([...new Set([...excluded, ...dispensable(world)])]);
    return { kind: 'excludeNode', name, excluded: world.nodes[name]?.excluded !== true };
  },
};

const SCHEMES = ['Public', 'Internal'] as const;

/** Nodes that may go: a load balancer does not move to a provider that has none for it. */
function dispensable({ nodes }: World): string[] {
  const takes = (node: WantedNode | undefined): boolean => node?.excluded === false;
  const count = (provider: string): number => Object.values(nodes).filter((node) => takes(node) && node.provider === provider).length;
  return Object.keys(nodes).filter((name) => !takes(nodes[name]) || count(nodes[name]?.provider ?? '') > 1);
}

/** Something else in one field. */
function otherFields(world: World, now: WantedBalancer | undefined, dice: Dice): Partial<WantedBalancer> {
  const made: Partial<WantedBalancer>[] = [
    { ports: ownPorts(world, dice) },
    { scheme: now?.scheme === 'Public' ? 'Internal' : 'Public' },
    { placement: unlike(now?.placement, () => dice.pick(PLACEMENTS)) },
    { provider: now?.provider === 'local' ? 'second' : 'local' },
  ];
  return dice.pick(made);
}

/** A Service that has a load balancer, so that there is something to do. */
function balanced({ services }: World, dice: Dice): string {
  return dice.pick(Object.keys(services).filter((name) => services[name]?.type === 'LoadBalancer'));
}

/** A change that changes nothing would leave its fault without a phase to strike at. */
function unlike<T>(now: T | undefined, make: () => T): T {
  for (;;) {
    const made = make();
    if (JSON.stringify(made) !== JSON.stringify(now)) return made;
  }
}

function ports(dice: Dice): number[] {
  return dice
    .shuffled(PORTS)
    .slice(0, dice.between(1, 3))
    .sort((a, b) => a - b);
}

/** Ports that were never asked for. */
function ownPorts({ lastName }: World, dice: Dice): number[] {
  const first = FIRST_OWN_PORT + 2 * lastName;
  return dice.chance(0.5) ? [first] : [first, first + 1];
}

function ranges(dice: Dice): string[] {
  return dice.chance(0.5) ? [] : dice.shuffled(RANGES).slice(0, dice.between(1, 2)).sort();
}
