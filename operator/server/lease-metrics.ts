import { Counter, Gauge, type Registry } from 'prom-client';

/** What the elections for Leases show, under client-go's names (contract 7.7). */
export class LeaseMetrics {
  private readonly leases = new Map<string, () => boolean>();
  private readonly slow: Counter<'name'>;

  constructor(registers: Registry[]) {
    const { leases } = this;
    new Gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads: 1, or stands by: 0',
      labelNames: ['name'],
      registers,
      collect() {
        for (const [name, holds] of leases) this.set({ name }, holds() ? 1 : 0);
      },
    });
    this.slow = new Counter({
      name: 'leader_election_slowpath_total',
      help: 'Times that a leader had to read its Lease before it could renew it',
      labelNames: ['name'],
      registers,
    });
  }

  /** @param name of the Lease, without its namespace */
  watch(name: string, holds: () => boolean): { slowPath(): void } {
    this.leases.set(name, holds);
    this.slow.inc({ name }, 0);
    return { slowPath: () => this.slow.inc({ name }) };
  }
}
