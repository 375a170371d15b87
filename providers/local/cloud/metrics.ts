import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { RESOURCE_COLLECTIONS } from './entry';
import type { Faults } from './faults';
import type { Store } from './store';

/** What `/metrics` shows, read when it is asked for. */
export class Metrics {
  readonly registry = new Registry();
  private readonly requests = new Counter({
    name: 'localcloud_requests_total',
    help: 'API calls by verb, collection and status code.',
    labelNames: ['verb', 'collection', 'code'],
    registers: [this.registry],
  });
  private readonly duration = new Histogram({
    name: 'localcloud_request_duration_seconds',
    help: 'Time from a call to its answer, latency of fault rules included.',
    labelNames: ['verb', 'collection'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    registers: [this.registry],
  });

  constructor(store: Store, faults: Faults) {
    const registers = [this.registry];
    new Gauge({
      name: 'localcloud_resources',
      help: 'Resources in each collection.',
      labelNames: ['collection'],
      registers,
      collect() {
        for (const collection of RESOURCE_COLLECTIONS) this.set({ collection }, store.state.count(collection));
      },
    });
    new Gauge({
      name: 'localcloud_journal_bytes',
      help: 'Size of the journal since the last snapshot.',
      registers,
      collect() {
        this.set(store.journalBytes);
      },
    });
    new Gauge({
      name: 'localcloud_faults_injected',
      help: 'How often the present fault rules acted.',
      registers,
      collect() {
        this.set(faults.status().rules.reduce((sum, { acted }) => sum + acted, 0));
      },
    });
  }

  /** @param seconds from the call to its answer */
  observe(verb: string, collection: string, code: number, seconds: number): void {
    this.requests.inc({ verb, collection, code });
    this.duration.observe({ verb, collection }, seconds);
  }
}
