import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { QueueMetrics } from '../kube/queue';

/** Upstream's, in seconds. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];

/** What is asked of a work queue when metrics are read; milliseconds. */
export interface MeasuredQueue {
  readonly name: string;
  /** Of the longest running key. */
  readonly longestRunningMs: number;
  /** Of all running keys together. */
  readonly unfinishedMs: number;
  /** Of the key that has waited longest for a worker. */
  readonly oldestMs: number;
}

/** Metrics of the work queues: client-go's names, and the age of what waits. */
export class QueueCollectors {
  private readonly watched = new Set<MeasuredQueue>();
  private readonly depth: Gauge<'name'>;
  private readonly adds: Counter<'name'>;
  private readonly retries: Counter<'name'>;
  private readonly failures: Counter<'name'>;
  private readonly waiting: Histogram<'name'>;
  private readonly work: Histogram<'name'>;

  constructor(registers: Registry[]) {
    const common = { labelNames: ['name'] as const, registers };
    this.depth = new Gauge({ ...common, name: 'workqueue_depth', help: 'Keys that wait for a worker' });
    this.adds = new Counter({ ...common, name: 'workqueue_adds_total', help: 'Keys added that were not waiting yet' });
    this.retries = new Counter({ ...common, name: 'workqueue_retries_total', help: 'Keys added with a back-off' });
    this.failures = new Counter({ ...common, name: 'cloud_operator_workqueue_failures_total', help: 'Runs of a key that failed' });
    this.waiting = new Histogram({
      ...{ ...common, name: 'workqueue_queue_duration_seconds', help: 'How long a key waited for a worker', buckets: BUCKETS },
    });
    this.work = new Histogram({
      ...{ ...common, name: 'workqueue_work_duration_seconds', help: 'How long a worker took for a key', buckets: BUCKETS },
    });
    this.read(registers, 'workqueue_longest_running_processor_seconds', 'Since when the longest running key runs', 'longestRunningMs');
    this.read(registers, 'workqueue_unfinished_work_seconds', 'Since when all running keys run, together', 'unfinishedMs');
    this.read(registers, 'cloud_operator_workqueue_oldest_seconds', 'Since when the oldest waiting key waits', 'oldestMs');
  }

  /** What a work queue tells goes here; each of its series starts at zero. */
  of(name: string): QueueMetrics {
    this.depth.set({ name }, 0);
    for (const counter of [this.adds, this.retries, this.failures]) counter.inc({ name }, 0);
    return {
      added: () => this.adds.inc({ name }),
      retried: () => this.retries.inc({ name }),
      depth: (keys) => this.depth.set({ name }, keys),
      started: (waitedMs) => this.waiting.observe({ name }, waitedMs / 1000),
      finished: (tookMs, failed) => {
        this.work.observe({ name }, tookMs / 1000);
        if (failed) this.failures.inc({ name });
      },
    };
  }

  watch(queue: MeasuredQueue): void {
    this.watched.add(queue);
  }

  private read(registers: Registry[], name: string, help: string, field: Exclude<keyof MeasuredQueue, 'name'>): void {
    const { watched } = this;
    new Gauge({
      ...{ name, help, labelNames: ['name'], registers },
      collect() {
        for (const queue of watched) this.set({ name: queue.name }, queue[field] / 1000);
      },
    });
  }
}
