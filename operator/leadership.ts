import { systemClock } from './base/clock';
import { OperatorError } from './base/errors';
import type { Logger } from './base/log';
import type { KubeClient } from './kube/client';
import { KubeEventRecorder } from './kube/events';
import { LeaseElector } from './kube/lease';
import type { LeaderElection } from './options';
import type { HealthChecks } from './server/health';
import type { Metrics } from './server/metrics';

const EVENT_SOURCE = 'cloud-controller-manager';
const EVENTS_FOR_MS = 5_000;

export interface LeadershipOptions {
  api: KubeClient;
  /** Absent = this process always leads. */
  election: LeaderElection | undefined;
  identity: string;
  metrics: Metrics;
  logger: Logger;
}

type Work = (signal: AbortSignal) => Promise<void>;

/** Whether this process may write, and the work that it does while it may. Without election it always leads. */
export class Leadership {
  /** The API server for the leader's work: refuses every write that is not covered by the lease. */
  readonly api: KubeClient;
  /** The same for controllers of the leader migration, whose writes need both leases. */
  readonly migratedApi: KubeClient;
  private readonly main: LeaseElector | undefined;
  private readonly migration: LeaseElector | undefined;
  private readonly events: KubeEventRecorder;
  private readonly migrationLost = new AbortController();

  /** @throws OperatorError Invalid when the durations don't fit each other */
  constructor(private readonly options: LeadershipOptions) {
    const { api, election, logger } = options;
    this.events = new KubeEventRecorder({ api, component: EVENT_SOURCE, logger });
    this.main = election && this.elector(election, election.lease);
    this.migration = election?.migration && this.elector(election, election.migration.lease);
    this.api = api.withOptions({ assertWrite: () => assertHeld(this.main) });
    this.migratedApi = api.withOptions({ assertWrite: () => [this.main, this.migration].forEach(assertHeld) });
  }

  /** True while writes are allowed: the last renewal is younger than the renew deadline on the monotonic clock (design: Fencing). */
  readonly isValid = (): boolean => isHeld(this.main);

  addTo(health: HealthChecks): void {
    const { main, migration } = this;
    if (main === undefined) return;
    health.withoutPing();
    health.add('leaderElection', () => {
      const problem = main.problem() ?? migration?.problem();
      if (problem !== undefined) throw new OperatorError('Transient', problem);
    });
  }

  /**
   * Waits for the lease and does the work until the signal is aborted.
   * @throws OperatorError when the lease is lost: at once, while the work may still be ending
   */
  async run(work: Work, signal: AbortSignal): Promise<void> {
    if (this.main === undefined) return work(signal);
    const either = AbortSignal.any([signal, this.migrationLost.signal]);
    let lost: OperatorError | undefined;
    try {
      await this.main.run({ onStarted: work, onLost: (error) => (lost = error) }, either);
    } finally {
      // Whoever has lost the lease has no time for it.
      await this.events.flush(lost === undefined ? EVENTS_FOR_MS : 0);
    }
    if (lost !== undefined) throw lost;
    if (!signal.aborted) this.migrationLost.signal.throwIfAborted();
  }

  /**
   * Part of the leader's work: waits for the lease of the migration too, and does that work until the signal is aborted. When that
   * lease is lost, `run` ends the rest in order and throws.
   */
  async runMigrated(work: Work, signal: AbortSignal): Promise<void> {
    if (this.migration === undefined) return work(signal);
    await this.migration.run({ onStarted: work, onLost: (error) => this.migrationLost.abort(error) }, signal);
  }

  private elector({ leaseDurationMs, renewDeadlineMs, retryPeriodMs }: LeaderElection, lease: string): LeaseElector {
    const { api, identity, metrics, logger } = this.options;
    const shown = metrics.leases.watch(lease.split('/')[1] ?? lease, () => elector.leading);
    const durations = { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
    // Renewing must not wait behind the work's own requests.
    const client = api.withOptions({ qps: 0 });
    const elector = new LeaseElector({
      ...{ ...durations, api: client, lease, identity, events: this.events, logger },
      onSlowPath: () => shown.slowPath(),
    });
    return elector;
  }
}

function isHeld(elector: LeaseElector | undefined): boolean {
  return elector === undefined || systemClock.monotonic() < elector.validUntil();
}

/** A process that was stopped for longer than its lease has writes under way when it wakes: none may follow its successor's. */
function assertHeld(elector: LeaseElector | undefined): void {
  if (!isHeld(elector)) throw new OperatorError('Canceled', 'this operator does not hold its lease: nothing is written to the cluster');
}
