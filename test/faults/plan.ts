import { Dice } from './dice';
import { CHANGES_OF, FAULT_KINDS, PHASES, TARGETS, type FaultKind, type FaultTarget, type Phase } from './kinds';
import { changed, describeChange, EMPTY_WORLD, type Change, type ChangeKind, type WantedService, type World } from './world';

export interface PlannedFault {
  kind: FaultKind;
  target: FaultTarget;
  phase: Phase;
  /** How long it lasts, in milliseconds. */
  lastsMs: number;
  /** A request that is held while the fault strikes goes out all the same; else it is lost with the fault. */
  passes: boolean;
}

export interface Step {
  change: Change;
  /** Strikes when the phase is reached after this change. */
  fault?: PlannedFault;
  /** Before the next change, in milliseconds. */
  pauseMs: number;
}

export interface Round {
  number: number;
  /** Two operators run, of which one leads; else one alone. */
  elected: boolean;
  before: World;
  steps: Step[];
  after: World;
}

const CHANGES = 10;
const FAULTS = 2;
const SERVICES = { least: 2, most: 7 };
const NODES = { least: 3, most: 6 };
/** The operator deletes only so many Nodes within five minutes, lest a wrong answer of a cloud take the whole cluster away. */
const LOSS_EVERY = 20;
/** Lest a round with a lease that has to run out be like all others. */
const ELECTED_EVERY = 10;
const PORTS = [80, 443, 8080, 8443, 9090, 53_000];
const RANGES = ['10.0.0.0/8', '192.168.0.0/16', '172.16.0.0/12', '203.0.113.0/24'];

/** The whole plan of a run is decided by its seed: round K is the same however many are run, and wherever the run begins. Pure. */
export function* planRounds(seed: number): Generator<Round, never, undefined> {
  const cells = dealCells(seed);
  let world = firstWorld(new Dice(seed, 'world'));
  for (let number = 1; ; number++) {
    const dice = new Dice(seed, `round ${number}`);
    const faults = Array.from({ length: FAULTS }, () => planFault(dice, cells.next().value));
    const round = planRound(number, world, faults, dice);
    yield round;
    world = round.after;
  }
}

/** In one line for each step. */
export function describeRound({ number, elected, steps }: Round): string {
  const lines = steps.map(({ change, fault, pauseMs }) => {
    const what = fault === undefined ? '' : `  ⚡ ${describeFault(fault)}`;
    return `  ${describeChange(change)}${what}${pauseMs === 0 ? '' : `  (then ${pauseMs} ms)`}`;
  });
  return [`round ${number}${elected ? ', two operators' : ''}`, ...lines].join('\n');
}

export function describeFault({ kind, target, phase, lastsMs, passes }: PlannedFault): string {
  return `${kind} ${target} at ${phase} for ${lastsMs} ms${passes ? '' : ', what is held is lost'}`;
}

/** Every pair of kind and phase comes once before any comes again. */
function* dealCells(seed: number): Generator<{ kind: FaultKind; phase: Phase }, never, undefined> {
  const all = FAULT_KINDS.flatMap((kind) => PHASES.map((phase) => ({ kind, phase })));
  for (let deal = 1; ; deal++) yield* new Dice(seed, `deal ${deal}`).shuffled(all);
}

function planFault(dice: Dice, { kind, phase }: { kind: FaultKind; phase: Phase }): PlannedFault {
  return { kind, phase, target: dice.pick<FaultTarget>(TARGETS[kind]), lastsMs: dice.between(3, 45) * 100, passes: dice.chance(0.6) };
}

function firstWorld(dice: Dice): World {
  let world = EMPTY_WORLD;
  for (const kind of ['addNode', 'addNode', 'addNode', 'addNode', 'createService', 'createService', 'createService'] as const) {
    world = changed(world, changeOf(kind, world, dice));
  }
  return world;
}

function planRound(number: number, before: World, faults: PlannedFault[], dice: Dice): Round {
  const steps: Step[] = [];
  let world = before;
  const add = (change: Change, fault?: PlannedFault): void => {
    world = changed(world, change);
    const pauseMs = dice.chance(0.4) ? 0 : dice.between(0, 600);
    steps.push({ change, pauseMs, ...(fault === undefined ? {} : { fault }) });
  };
  const open = [...faults];
  const may = (kind: ChangeKind): boolean =>
    isPossible(kind, world) && (kind !== 'loseNode' || (number % LOSS_EVERY === 0 && !loses(steps)));
  while (steps.length < CHANGES || open.length > 0) {
    const due = open.length > 0 && dice.chance(open.length / Math.max(1, CHANGES - steps.length));
    const fault = due ? open.shift() : undefined;
    const kinds = (fault === undefined ? ALL : CHANGES_OF[fault.phase]).filter(may);
    if (kinds.length === 0) {
      // A world at its limit has no room for what the phase needs: room is made first.
      if (fault !== undefined) open.unshift(fault);
      add(changeOf(dice.pick(ALL.filter(may)), world, dice));
    } else {
      add(changeOf(dice.pick(kinds), world, dice), fault);
    }
  }
  return { number, elected: number % ELECTED_EVERY === 0, before, steps, after: world };
}

const ALL: readonly ChangeKind[] = [
  'createService',
  'createService',
  'createService',
  'deleteService',
  'deleteService',
  'changePorts',
  'changePorts',
  'changeRanges',
  'changeType',
  'addNode',
  'removeNode',
  'loseNode',
  'excludeNode',
];

function loses(steps: readonly Step[]): boolean {
  return steps.some(({ change }) => change.kind === 'loseNode');
}

function isPossible(kind: ChangeKind, { services, nodes }: World): boolean {
  const serviceCount = Object.keys(services).length;
  const nodeCount = Object.keys(nodes).length;
  const isBalanced = Object.values(services).some(({ type }) => type === 'LoadBalancer');
  const limits: Record<ChangeKind, boolean> = {
    createService: serviceCount < SERVICES.most,
    deleteService: serviceCount > SERVICES.least && isBalanced,
    changePorts: isBalanced,
    changeRanges: isBalanced,
    changeType: serviceCount > 0,
    addNode: nodeCount < NODES.most,
    removeNode: nodeCount > NODES.least,
    loseNode: nodeCount > NODES.least,
    excludeNode: nodeCount > 0,
  };
  return limits[kind];
}

function changeOf(kind: ChangeKind, world: World, dice: Dice): Change {
  return CHANGES_MADE[kind](world, dice);
}

const CHANGES_MADE: Record<ChangeKind, (world: World, dice: Dice) => Change> = {
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
  addNode: ({ lastName }) => ({ kind: 'addNode', name: `node-${lastName + 1}` }),
  removeNode: ({ nodes }, dice) => ({ kind: 'removeNode', name: dice.pick(Object.keys(nodes)) }),
  // The oldest, which the operator knows for long: of a machine that is gone before its Node was initialized nobody can tell whose it was.
  loseNode: ({ nodes }) => ({ kind: 'loseNode', name: Object.keys(nodes)[0] ?? '' }),
  excludeNode: ({ nodes }, dice) => {
    const name = dice.pick(Object.keys(nodes));
    return { kind: 'excludeNode', name, excluded: nodes[name]?.excluded !== true };
  },
};

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

function ranges(dice: Dice): string[] {
  return dice.chance(0.5) ? [] : dice.shuffled(RANGES).slice(0, dice.between(1, 2)).sort();
}
