import { systemClock } from './base/clock';
import { OperatorError } from './base/errors';
import type { Logger } from './base/log';
import type { KubeClient } from './kube/client';
import { LeaseElector } from './kube/lease';
import type { LeaderElection } from './options';
import type { HealthChecks } from './server/health';
import type { Metrics } from './server/metrics';

/** Whether this process may write, and the work that it does while it may. Without election it always leads. */
export class Leadership {
  /** The API server for the leader's work: refuses every write that is not covered by the lease. */
  readonly api: KubeClient;
  private readonly elector: LeaseElector | undefined;
  /** Of the Lease, without its namespace. */
  private readonly name: string;

  /** @throws OperatorError Invalid when the durations don't fit each other */
  constructor(api: KubeClient, election: LeaderElection | undefined, identity: string, logger: Logger) {
    this.name = election?.lease.split('/')[1] ?? '';
    this.api = api.withOptions({ assertWrite: () => this.assertValid() });
    // Renewing must not wait behind the work's own requests.
    if (election !== undefined) this.elector = new LeaseElector({ ...election, api: api.withOptions({ qps: 0 }), identity, logger });
  }

  /** True while writes are allowed: the last renewal is younger than the renew deadline on the monotonic clock (design: Fencing). */
  readonly isValid = (): boolean => this.elector === undefined || systemClock.monotonic() < this.elector.validUntil();

  showIn(metrics: Metrics): void {
    const { elector, name } = this;
    if (elector !== undefined) metrics.watchLease(name, () => elector.leading);
  }

  addTo(health: HealthChecks): void {
    const { elector } = this;
    if (elector === undefined) return;
    health.add('leaderElection', () => {
      const problem = elector.problem();
      if (problem !== undefined) throw new OperatorError('Transient', problem);
    });
  }

  /**
   * Waits for the lease and does the work until the signal is aborted.
   * @throws OperatorError when the lease is lost: at once, while the work may still be ending
   */
  async run(work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    if (this.elector === undefined) return work(signal);
    let lost: OperatorError | undefined;
    await this.elector.run({ onStarted: work, onLost: (error) => (lost = error) }, signal);
    if (lost !== undefined) throw lost;
  }

  /** A process that was stopped for longer than its lease has writes under way when it wakes: none may follow its successor's. */
  private assertValid(): void {
    if (!this.isValid()) throw new OperatorError('Canceled', 'this operator does not hold its lease: nothing is written to the cluster');
  }
}
