import { Counter, Gauge, Registry } from 'prom-client';
import { sleep, systemClock, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';

/** The three questions of Kubernetes' probes. */
export type HealthPath = 'healthz' | 'livez' | 'readyz';

export const HEALTH_PATHS: readonly HealthPath[] = ['healthz', 'livez', 'readyz'];

/** Returns when all is well, throws (with the reason) when it isn't. */
export type HealthCheck = () => void | Promise<void>;

export interface HealthAnswer {
  status: 200 | 404 | 500;
  body: string;
}

interface Named {
  check: HealthCheck;
  paths: readonly HealthPath[];
}

interface Result {
  name: string;
  problem: string | undefined;
  excluded: boolean;
}

/** A check that takes longer, in milliseconds, has failed: probes don't wait. */
const CHECK_TIMEOUT = 5_000;

/** Named health checks, answered in the words of Kubernetes' own servers (contract 7.6). */
export class HealthChecks {
  /** What /metrics/slis shows: the last result of every check, and how often each was seen. */
  readonly registry = new Registry();
  private readonly checks = new Map<string, Named>();
  private readonly last: Gauge<'name' | 'type'>;
  private readonly results: Counter<'name' | 'type' | 'status'>;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock = systemClock,
  ) {
    const registers = [this.registry];
    const labelNames = ['name', 'type'] as const;
    this.last = new Gauge({ name: 'kubernetes_healthcheck', help: 'Last result of a health check: 1 = well', labelNames, registers });
    this.results = new Counter({
      name: 'kubernetes_healthchecks_total',
      help: 'Results of a health check',
      labelNames: [...labelNames, 'status'],
      registers,
    });
    this.add('ping', () => undefined);
  }

  /**
   * Adds a check to the given paths; default: healthz and readyz. Put a check on livez only when a restart would help.
   * @throws OperatorError Invalid when the name is taken
   */
  add(name: string, check: HealthCheck, paths: readonly HealthPath[] = ['healthz', 'readyz']): void {
    if (this.checks.has(name)) throw new OperatorError('Invalid', `there is a health check "${name}" already`);
    this.checks.set(name, { check, paths: name === 'ping' ? HEALTH_PATHS : paths });
  }

  /** Takes `ping` off /healthz, where upstream has it only while there is no other check (contract 7.6). */
  withoutPing(): void {
    this.checks.set('ping', { check: () => undefined, paths: HEALTH_PATHS.filter((path) => path !== 'healthz') });
  }

  remove(name: string): void {
    this.checks.delete(name);
  }

  /** Runs all checks of a path except the excluded ones, which are named all the same. */
  async answer(path: HealthPath, query: URLSearchParams): Promise<HealthAnswer> {
    const excluded = new Set(query.getAll('exclude'));
    const asked = [...this.checks].filter(([, { paths }]) => paths.includes(path));
    const results = await Promise.all(
      asked.map(async ([name, { check }]): Promise<Result> => {
        if (excluded.has(name)) return { name, problem: undefined, excluded: true };
        return { name, problem: await this.resultOf(path, name, check), excluded: false };
      }),
    );
    const failed = results.filter(({ problem }) => problem !== undefined);
    for (const { name, problem } of failed) this.logger.warn({ path, check: name }, `health check ${name} failed: ${problem}`);
    const unknown = [...excluded].filter((name) => !results.some((result) => result.name === name));
    const lines = [...results.map(lineOf), ...this.warningOf(path, unknown)];
    const passed = failed.length === 0;
    if (passed && !query.has('verbose')) return { status: 200, body: 'ok' };
    lines.push(`${path} check ${passed ? 'passed' : 'failed'}`);
    return { status: passed ? 200 : 500, body: `${lines.join('\n')}\n` };
  }

  /** Somebody who excludes what isn't there may have misspelt it. */
  private warningOf(path: HealthPath, unknown: string[]): string[] {
    if (unknown.length === 0) return [];
    const names = unknown.sort().map((name) => JSON.stringify(name));
    this.logger.debug({ path, unknown }, 'health checks that are not there were excluded');
    return [`warn: some health checks cannot be excluded: no matches for ${names.join(',')}`];
  }

  /** Runs every check of /healthz, for its metrics. */
  async measure(): Promise<void> {
    const measured = [...this.checks].filter(([, { paths }]) => paths.includes('healthz'));
    await Promise.all(measured.map(([name, { check }]) => this.resultOf('healthz', name, check)));
  }

  /** Runs one check: `/healthz/<name>`. */
  async answerOne(path: HealthPath, name: string): Promise<HealthAnswer> {
    const named = this.checks.get(name);
    if (named === undefined || !named.paths.includes(path)) return { status: 404, body: `there is no ${path} check "${name}"\n` };
    const problem = await this.resultOf(path, name, named.check);
    return problem === undefined ? { status: 200, body: 'ok' } : { status: 500, body: `internal server error: ${problem}\n` };
  }

  private async resultOf(path: HealthPath, name: string, check: HealthCheck): Promise<string | undefined> {
    const problem = await this.problemOf(check);
    this.last.set({ name, type: path }, problem === undefined ? 1 : 0);
    this.results.inc({ name, type: path, status: problem === undefined ? 'success' : 'error' });
    return problem;
  }

  private async problemOf(check: HealthCheck): Promise<string | undefined> {
    const ended = new AbortController();
    const timeout = sleep(this.clock, CHECK_TIMEOUT, ended.signal).then(
      () => `no answer within ${CHECK_TIMEOUT / 1000} s`,
      () => undefined,
    );
    const checked = Promise.resolve()
      .then(check)
      .then(
        () => undefined,
        (thrown: unknown) => toOperatorError(thrown).message,
      );
    try {
      return await Promise.race([checked, timeout]);
    } finally {
      ended.abort();
    }
  }
}

/** What went wrong is for the log: the path may be open to everybody. */
function lineOf({ name, problem, excluded }: Result): string {
  if (excluded) return `[+]${name} excluded: ok`;
  return problem === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
}
