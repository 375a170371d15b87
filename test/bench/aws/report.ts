import { formatTable } from '../../../operator/cli/table';
import { say } from '../report';
import type { ContestantName } from './contestant';
import { differencesOf, DIFFERENCES_PAGE, explanationsIn, isExplained } from './differences';
import type { Figure } from './measure';
import { PHASES, TITLES, type Phase } from './phases';
import type { Snapshot } from './snapshot';
import type { Variant } from './variants';

/** What one contestant has shown under one variant. */
export interface Outcome {
  who: ContestantName;
  figures: Figure[];
  /** Of its process at rest. */
  memoryMB: number;
  /** Of its largest worker. */
  workerMB?: number;
  /** Absent where not everything was made. */
  snapshot?: Snapshot;
}

/** One variant's table: a row for each phase, a column for each contestant. */
export function sayFigures({ title }: Variant, outcomes: readonly Outcome[], services: number): void {
  say(`\n# ${title}; ${services} Services of two ports`);
  const heads = outcomes.flatMap(({ who }) => [`${who}: s`, 'calls', 'writes', 'refused']);
  const rows = PHASES.filter((phase) => figureOf(outcomes[0], phase) !== undefined).map((phase) => [
    TITLES[phase],
    ...outcomes.flatMap((outcome) => cellsOf(figureOf(outcome, phase))),
  ]);
  process.stdout.write(formatTable(['', ...heads], rows));
  for (const { who, memoryMB, workerMB } of outcomes) {
    say(`memory of ${who} at rest: ${memoryMB} MB${workerMB === undefined ? '' : `; its largest worker: ${workerMB} MB`}`);
  }
}

/** What differs in AWS after the first phase; what is not explained is marked. */
export function sayDifferences(outcomes: readonly Outcome[]): void {
  const differences = differencesBetween(outcomes);
  if (differences === undefined) return;
  const explained = explanationsIn();
  say(`${differences.length} fields of the AWS objects differ (${DIFFERENCES_PAGE}):`);
  const rows = differences.map((one) => [isExplained(one, explained) ? '' : 'NOT EXPLAINED', one.path, one.upstream, one.ours]);
  process.stdout.write(formatTable(['', 'field', 'upstream', 'ours'], rows));
}

/** Goals that were missed, in words. Pure but for the page of differences. */
export function failures(all: ReadonlyMap<string, readonly Outcome[]>, services: number): string[] {
  const explained = explanationsIn();
  const strange = [...all.values()].flatMap((outcomes) =>
    (differencesBetween(outcomes) ?? []).filter((one) => !isExplained(one, explained)).map(({ path }) => `${path} differs, unexplained`),
  );
  return [...[...all].flatMap(([variant, outcomes]) => missed(variant, outcomes, services)), ...new Set(strange)];
}

const TARGET_GROUPS_EACH = 2;
const CREATE_CALLS_EACH = 11;
/** Of 50 Services, where AWS answers at once. */
const CREATE_SECONDS = 25;
const RESTART_CALLS = 10;
const FIND_NODE_CALLS = 2;
const MEMORY_MB = 300;

function missed(variant: string, outcomes: readonly Outcome[], services: number): string[] {
  const ours = outcomes.find(({ who }) => who === 'ours');
  if (ours === undefined) return [];
  const { memoryMB, workerMB = 0, figures } = ours;
  const unfinished = figures.filter(({ done, goal }) => done < goal).map(({ phase, done, goal }) => `${phase} got to ${done} of ${goal}`);
  const goals: [isMissed: boolean, text: string][] = [
    [memoryMB > MEMORY_MB, `${memoryMB} MB at rest (goal: ≤ ${MEMORY_MB})`],
    [workerMB > MEMORY_MB, `${workerMB} MB in a worker (goal: ≤ ${MEMORY_MB})`],
    ...(variant === 'throttled' ? [] : callGoals(ours, variant, services)),
    ...(variant === 'latency' ? latencyGoal(outcomes) : []),
    ...(variant === 'no-node-rules' ? creationGoal(ours, services) : []),
  ];
  const texts = goals.filter(([isMissed]) => isMissed).map(([, text]) => text);
  return [...unfinished, ...texts].map((text) => `${variant}: ${text}`);
}

function callGoals(ours: Outcome, variant: string, services: number): [boolean, string][] {
  const most = {
    create: services * CREATE_CALLS_EACH,
    restart: RESTART_CALLS,
    'node-added': services * TARGET_GROUPS_EACH + FIND_NODE_CALLS,
  };
  const phases = (['create', 'restart', 'node-added'] as const).filter((phase) => phase !== 'create' || variant !== 'defaults');
  const writes = figureOf(ours, 'restart')?.writes ?? 0;
  return [
    ...phases.map((phase): [boolean, string] => {
      const { calls = 0 } = figureOf(ours, phase) ?? {};
      return [calls > most[phase], `${phase} took ${calls} calls (goal: ≤ ${most[phase]})`];
    }),
    [writes > 0, `restart wrote ${writes} times (goal: 0)`],
  ];
}

function creationGoal(ours: Outcome, services: number): [boolean, string][] {
  const seconds = figureOf(ours, 'create')?.seconds ?? 0;
  const most = (CREATE_SECONDS * services) / 50;
  return [[seconds > most, `create took ${seconds.toFixed(1)} s (goal: ≤ ${most} s)`]];
}

function latencyGoal(outcomes: readonly Outcome[]): [boolean, string][] {
  const seconds = (who: ContestantName): number | undefined =>
    figureOf(
      outcomes.find((outcome) => outcome.who === who),
      'create',
    )?.seconds;
  const [theirs, own] = [seconds('upstream'), seconds('ours')];
  if (theirs === undefined || own === undefined) return [];
  return [[own > theirs / 2, `create took ${own.toFixed(1)} s (goal: ≤ half of upstream's ${theirs.toFixed(1)} s)`]];
}

function differencesBetween(outcomes: readonly Outcome[]): ReturnType<typeof differencesOf> | undefined {
  const [upstream, ours] = (['upstream', 'ours'] as const).map((name) => outcomes.find(({ who }) => who === name)?.snapshot);
  return upstream === undefined || ours === undefined ? undefined : differencesOf(upstream, ours);
}

function figureOf(outcome: Outcome | undefined, phase: Phase): Figure | undefined {
  return outcome?.figures.find((figure) => figure.phase === phase);
}

function cellsOf(figure: Figure | undefined): string[] {
  if (figure === undefined) return ['', '', '', ''];
  const { seconds, calls, writes, refused, done, goal } = figure;
  const time = seconds.toFixed(1);
  return [done < goal ? `${time} (stops at ${done} of ${goal})` : time, String(calls), String(writes), String(refused)];
}
