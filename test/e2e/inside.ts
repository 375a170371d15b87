import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ProcessGuard } from '../../dev/cluster/process-guard';
import { describeFailure } from '../../operator/cli/failure';
import { E2eCluster, type E2eClusterOptions } from './e2e-cluster';
import type { Options } from './options';
import { Suite, type Outcome } from './suite';

/** What main.ts gives to this program, which runs in an empty network namespace. */
export interface Run {
  options: Options;
  cluster: Omit<E2eClusterOptions, 'report'>;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const MINUTE_MS = 60_000;

/** Starts the cluster, runs the tests, and takes all down. @returns whether none failed */
async function run({ options, cluster }: Run, signal: AbortSignal): Promise<boolean> {
  await promisify(execFile)('ip', ['link', 'set', 'lo', 'up']);
  const running = await E2eCluster.start({ ...cluster, report: say });
  try {
    if (signal.aborted) return false;
    if (!options.onlyCluster) return await tests(running, { options, cluster }, signal);
    say(
      `the cluster is up; from another terminal: nsenter --net=/proc/${process.pid}/ns/net kubectl --kubeconfig ${running.kubeconfig} get nodes`,
    );
    await aborted(signal);
    return true;
  } finally {
    say('taking all down');
    await running.stop();
  }
}

async function tests(running: E2eCluster, { options, cluster }: Run, signal: AbortSignal): Promise<boolean> {
  const directory = join(cluster.directory, 'reports');
  mkdirSync(directory, { recursive: true });
  const guard = ProcessGuard.open();
  const suite = new Suite(guard, { tools: cluster.tools, kubeconfig: running.kubeconfig, directory, minutes: options.minutes });
  try {
    const titles = await suite.list(options.focus);
    say(`${titles.length} tests, ${options.parallel} at once`);
    const bound = AbortSignal.any([signal, AbortSignal.timeout(options.minutes * MINUTE_MS)]);
    const outcomes = await Promise.race([pool(titles, options.parallel, suite), aborted(bound)]);
    if (outcomes === undefined) say(signal.aborted ? 'interrupted' : `not all tests ended within ${options.minutes} minutes`);
    else say(summary(outcomes));
    return outcomes !== undefined && outcomes.length > 0 && !outcomes.some(isFailure);
  } finally {
    await guard.close();
  }
}

/** Runs them in turn, so many at once, and says of each how it ended. */
async function pool(titles: readonly string[], parallel: number, suite: Suite): Promise<Outcome[]> {
  const waiting = [...titles];
  const outcomes: Outcome[] = [];
  const worker = async (): Promise<void> => {
    for (let title = waiting.shift(); title !== undefined; title = waiting.shift()) {
      const outcome = await suite.test(title);
      outcomes.push(outcome);
      say(`${outcome.state.padEnd(8)} ${outcome.seconds.toFixed(0).padStart(5)} s  ${title}`);
      if (outcome.message !== '') say(outcome.message.replaceAll(/^/gm, '    '));
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return outcomes;
}

function summary(outcomes: readonly Outcome[]): string {
  const count = (state: string): number => outcomes.filter((outcome) => outcome.state === state).length;
  return `${count('passed')} passed, ${count('skipped')} skipped by themselves, ${outcomes.filter(isFailure).length} failed`;
}

function isFailure({ state }: Outcome): boolean {
  return state !== 'passed' && state !== 'skipped';
}

function aborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

async function main(): Promise<void> {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
  process.exitCode = (await run(JSON.parse(process.argv[2] ?? '') as Run, stop.signal)) ? 0 : 1;
}

main().catch((thrown: unknown) => {
  const { text, exitCode } = describeFailure(thrown, process.env['DEBUG'] !== undefined);
  process.stderr.write(`test:e2e: ${text}\n`);
  process.exitCode = exitCode;
});
