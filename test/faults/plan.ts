import { CHANGE_KINDS, CHANGES_MADE, isPossible } from './changes';
import { Dice } from './dice';
import { CHANGES_OF, FAULT_KINDS, ONLY, PHASES, TARGETS, type FaultKind, type FaultTarget, type Phase } from './kinds';
import { changed, describeChange, EMPTY_WORLD, type Change, type ChangeKind, type World } from './world';

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
/** The operator deletes only so many Nodes within five minutes, lest a wrong answer of a cloud take the whole cluster away. */
const LOSS_EVERY = 20;
/** Lest a round with a lease that has to run out be like all others. */
const ELECTED_EVERY = 10;

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
  const target = ONLY[`${kind} ${phase}`]?.target ?? dice.pick<FaultTarget>(TARGETS[kind]);
  return { kind, phase, target, lastsMs: dice.between(3, 45) * 100, passes: dice.chance(0.6) };
}

function firstWorld(dice: Dice): World {
  let world = EMPTY_WORLD;
  for (const provider of ['local', 'local', 'local', 'second', 'second'] as const) {
    world = changed(world, { kind: 'addNode', name: `node-${world.lastName + 1}`, provider });
  }
  for (const kind of ['createService', 'createService', 'createService', 'createBalancer', 'createBalancer'] as const) {
    world = changed(world, CHANGES_MADE[kind](world, dice));
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
    const kinds = (fault === undefined ? CHANGE_KINDS : changesFor(fault)).filter(may);
    if (kinds.length === 0) {
      // A world at its limit has no room for what the phase needs: room is made first.
      if (fault !== undefined) open.unshift(fault);
      add(CHANGES_MADE[dice.pick(CHANGE_KINDS.filter(may))](world, dice));
    } else {
      add(CHANGES_MADE[dice.pick(kinds)](world, dice), fault);
    }
  }
  return { number, elected: number % ELECTED_EVERY === 0, before, steps, after: world };
}

function changesFor({ kind, phase }: PlannedFault): readonly ChangeKind[] {
  const only = ONLY[`${kind} ${phase}`];
  return only === undefined ? CHANGES_OF[phase] : [only.change];
}

function loses(steps: readonly Step[]): boolean {
  return steps.some(({ change }) => change.kind === 'loseNode');
}
