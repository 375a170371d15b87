import { describeFailure } from '../../operator/cli/failure';
import { Matrix } from './matrix';
import { HELP, optionsOf, type Options } from './options';
import { describeRound, planRounds, type Round } from './plan';
import { Rounds, type Verdict } from './rounds';
import { FaultSystem } from './system';

/** As a shell says it of a program that SIGINT has ended. */
const INTERRUPTED = 130;

/**
 * Runs rounds of changes and faults.
 * @param signal ends the run in the middle of a round; all is cleaned up
 * @returns whether no round found a violation, and a thousand of them had every pair of fault and phase often enough
 */
export async function runRounds(
  { rounds, seed, from, keep, operators }: Options,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const matrix = new Matrix();
  const verdicts: Verdict[] = [];
  let running: { system: FaultSystem; rounds: Rounds } | undefined;
  report(`seed ${seed}, rounds ${from} to ${from + rounds - 1}`);
  try {
    for (const each of planned(seed, from, rounds)) {
      const round = operators === undefined ? each : { ...each, elected: operators === 2 };
      report(describeRound(round));
      running ??= await start(round, matrix);
      const verdict = await Promise.race([running.rounds.run(round), interruption(signal)]);
      if (verdict === 'Interrupted') break;
      verdicts.push(verdict);
      report(describeVerdict(verdict, `--seed ${seed}${operators === undefined ? '' : ` --operators ${operators}`}`));
      if (verdict.problems.length === 0) continue;
      // What is broken now must not fail the rounds after this one.
      if (keep) report(`  kept: ${running.system.paths.root}`);
      await running.system.stop(keep);
      running = undefined;
    }
  } finally {
    if (keep && running !== undefined) report(`kept: ${running.system.paths.root}`);
    await running?.system.stop(keep);
  }
  return conclude(verdicts, matrix, report);
}

function conclude(verdicts: Verdict[], matrix: Matrix, report: (line: string) => void): boolean {
  const isThin = matrix.isThin(verdicts.length);
  report(matrix.toString());
  if (isThin) report('some pair of fault and phase was not met often enough: take another seed');
  report(summary(verdicts));
  return !isThin && verdicts.every(({ problems }) => problems.length === 0);
}

function interruption(signal: AbortSignal): Promise<'Interrupted'> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve('Interrupted');
    else signal.addEventListener('abort', () => resolve('Interrupted'), { once: true });
  });
}

function planned(seed: number, from: number, count: number): Round[] {
  const chosen: Round[] = [];
  for (const round of planRounds(seed)) {
    if (round.number >= from) chosen.push(round);
    if (chosen.length === count) break;
  }
  return chosen;
}

async function start(round: Round, matrix: Matrix): Promise<{ system: FaultSystem; rounds: Rounds }> {
  const system = await FaultSystem.start();
  try {
    return { system, rounds: await Rounds.begin(system, round, matrix) };
  } catch (thrown) {
    await system.stop(true);
    throw thrown;
  }
}

/** @param again what gives the same rounds */
function describeVerdict({ round, problems, settledMs, tookMs, strikes }: Verdict, again: string): string {
  const times = `${(tookMs / 1000).toFixed(1)} s, settled after ${(settledMs / 1000).toFixed(1)} s`;
  const lines = strikes.map((strike) => `  ${strike}`);
  if (problems.length === 0) return [...lines, `  ok in ${times}`].join('\n');
  const command = `again: npm run test:faults -- ${again} --from ${round} --rounds 1`;
  return [...lines, `  VIOLATION in ${times}`, ...problems.map((problem) => `    ${problem}`), `  ${command}`].join('\n');
}

function summary(verdicts: Verdict[]): string {
  const failed = verdicts.filter(({ problems }) => problems.length > 0);
  const total = verdicts.reduce((sum, { tookMs }) => sum + tookMs, 0) / 1000;
  const names = failed.length === 0 ? '' : ` (rounds ${failed.map(({ round }) => round).join(', ')})`;
  if (verdicts.length === 0) return 'no round was ended';
  return `${verdicts.length} rounds in ${total.toFixed(0)} s, ${(total / verdicts.length).toFixed(1)} s each; ${failed.length} violations${names}`;
}

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2), Math.random);
  if (options === undefined) return void process.stdout.write(HELP);
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
  const report = (line: string): void => void process.stdout.write(`${line}\n`);
  try {
    process.exitCode = (await runRounds(options, report, stop.signal)) ? 0 : 1;
  } catch (thrown) {
    if (!stop.signal.aborted) throw thrown;
    report(`interrupted: ${(thrown as Error).message}`);
  }
  // The round that was left goes on trying to bring back what is gone for good.
  if (stop.signal.aborted) process.exit(INTERRUPTED);
}

function fail(thrown: unknown): void {
  const { text, exitCode } = describeFailure(thrown, process.env['DEBUG'] !== undefined);
  process.stderr.write(`test:faults: ${text}\n`);
  process.exitCode = exitCode;
}

if (require.main === module) main().catch(fail);
