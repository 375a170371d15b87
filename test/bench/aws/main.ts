import { toOperatorError } from '../../../operator/base/errors';
import { ensureTools } from '../../../tools/ensure';
import { say, secondsSince } from '../report';
import { Arena, type Programs } from './arena';
import type { ContestantName } from './contestant';
import { tell } from './measure';
import { HELP, optionsOf, type Options } from './options';
import { Phases } from './phases';
import { failures, sayDifferences, sayFigures, type Outcome } from './report';
import { snapshotOf } from './snapshot';
import type { Variant } from './variants';

/** One contestant under one variant, from an empty account on. */
async function compete(who: ContestantName, variant: Variant, { options, programs }: Contest): Promise<Outcome> {
  tell(`# ${who}: ${variant.title}`);
  const arena = await Arena.open(who, variant, programs);
  try {
    const phases = new Phases(arena, options.services);
    await phases.begin(options.nodes);
    const outcome: Outcome = { who, figures: [], memoryMB: 0 };
    for (const phase of options.phases) {
      const figure = await phases.run(phase);
      outcome.figures.push(figure);
      const most = figure.actions.slice(0, 12).map(([action, count]) => `${action} ${count}`);
      tell(
        `${who}, ${phase}: ${figure.done} of ${figure.goal} in ${figure.seconds.toFixed(1)} s, ${figure.calls} calls: ${most.join(', ')}`,
      );
      if (phase === 'create' && figure.done === figure.goal) outcome.snapshot = await snapshotOf(arena.motoURL);
      if (phase === 'create' || phase === 'restart') outcome.memoryMB = arena.contestant.memoryMB();
    }
    const workerMB = arena.contestant.workerMB();
    return workerMB === undefined ? outcome : { ...outcome, workerMB };
  } finally {
    await arena.close();
  }
}

interface Contest {
  options: Options;
  programs: Programs;
}

async function programsFor({ contestants }: Options): Promise<Programs> {
  const { moto } = await ensureTools(['moto']);
  if (!contestants.includes('upstream')) return { moto };
  const tools = await ensureTools(['aws-cloud-controller-manager']);
  return { moto, upstream: tools['aws-cloud-controller-manager'] };
}

async function main(args: readonly string[]): Promise<void> {
  const options = optionsOf(args);
  if (options === undefined) return void process.stdout.write(HELP);
  const startedAt = performance.now();
  const contest = { options, programs: await programsFor(options) };
  const all = new Map<string, Outcome[]>();
  for (const variant of options.variants) {
    const outcomes: Outcome[] = [];
    for (const who of options.contestants) outcomes.push(await compete(who, variant, contest));
    all.set(variant.name, outcomes);
    sayFigures(variant, outcomes, options.services);
    sayDifferences(outcomes);
  }
  const failed = failures(all, options.services);
  failed.forEach((line) => say(`MISSED  ${line}`));
  say(`${failed.length === 0 ? 'all goals met' : `${failed.length} missed`}, after ${(secondsSince(startedAt) / 60).toFixed(0)} minutes`);
  if (failed.length > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((thrown: unknown) => {
  const { message, remedy } = toOperatorError(thrown);
  process.stderr.write(`${message}${remedy === undefined ? '' : `\n${remedy}`}\n`);
  process.exitCode = 1;
});
