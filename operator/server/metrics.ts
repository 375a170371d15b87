import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { QueueMetrics } from '../kube/queue';

/** All in seconds. */
const QUEUE_BUCKETS = [0.0001, 0.001, 0.01, 0.1, 1, 10, 100, 1000];
const RECONCILE_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const UPDATE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** What is asked of a work queue when metrics are read. */
export interface MeasuredQueue {
  readonly name: string;
  /** Milliseconds. */
  readonly longestRunningMs: number;
}

/** The operator's metrics in one registry. Names of the work queues are client-go's, our own begin with `cloud_operator_`. */
export class Metrics {
  readonly registry = new Registry();
  private readonly queues: QueueCollectors;
  private readonly reconciles: Histogram<'controller' | 'result'>;
  private readonly calls: Counter<'provider' | 'operation' | 'result'>;
  private readonly updates: Histogram<'provider' | 'result'>;

  constructor() {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry });
    this.queues = queueCollectors(registers);
    this.reconciles = new Histogram({
      name: 'cloud_operator_reconcile_duration_seconds',
      help: 'How long one reconciliation of an object took',
      labelNames: ['controller', 'result'],
      buckets: RECONCILE_BUCKETS,
      registers,
    });
    this.calls = new Counter({
      name: 'cloud_operator_cloud_calls_total',
      help: 'Calls to the API of a cloud',
      labelNames: ['provider', 'operation', 'result'],
      registers,
    });
    this.updates = new Histogram({
      name: 'cloud_operator_update_duration_seconds',
      help: 'How long a stack update took; its count is the number of updates',
      labelNames: ['provider', 'result'],
      buckets: UPDATE_BUCKETS,
      registers,
    });
  }

  /** What a work queue tells goes here; each of its series starts at zero. */
  forQueue(name: string): QueueMetrics {
    const { depth, adds, retries, failures, waiting, work } = this.queues;
    depth.set({ name }, 0);
    for (const counter of [adds, retries, failures]) counter.inc({ name }, 0);
    return {
      added: () => adds.inc({ name }),
      retried: () => retries.inc({ name }),
      depth: (keys) => depth.set({ name }, keys),
      started: (waitedMs) => waiting.observe({ name }, waitedMs / 1000),
      finished: (tookMs, failed) => {
        work.observe({ name }, tookMs / 1000);
        if (failed) failures.inc({ name });
      },
    };
  }

  /** Shows for how long the longest running key of a queue has been with its worker: what hangs, hangs visibly. */
  watchQueue(queue: MeasuredQueue): void {
    this.queues.watched.add(queue);
  }

  /** @param result `Succeeded`, or the code of the OperatorError */
  reconciled(controller: string, result: string, tookMs: number): void {
    this.reconciles.observe({ controller, result }, tookMs / 1000);
  }

  /** @param result `ok`, or the code of the OperatorError */
  cloudCalled(provider: string, operation: string, result: string): void {
    this.calls.inc({ provider, operation, result });
  }

  /** @param result of UpdateResult, or the code of the OperatorError */
  updated(provider: string, result: string, tookMs: number): void {
    this.updates.observe({ provider, result }, tookMs / 1000);
  }
}

interface QueueCollectors {
  depth: Gauge<'name'>;
  adds: Counter<'name'>;
  retries: Counter<'name'>;
  failures: Counter<'name'>;
  waiting: Histogram<'name'>;
  work: Histogram<'name'>;
  watched: Set<MeasuredQueue>;
}

function queueCollectors(registers: Registry[]): QueueCollectors {
  const common = { labelNames: ['name'] as const, registers };
  const watched = new Set<MeasuredQueue>();
  new Gauge({
    ...common,
    name: 'workqueue_longest_running_processor_seconds',
    help: 'For how long the longest running key has been with its worker',
    collect() {
      for (const queue of watched) this.set({ name: queue.name }, queue.longestRunningMs / 1000);
    },
  });
  return {
    watched,
    depth: new Gauge({ ...common, name: 'workqueue_depth', help: 'Keys that wait for a worker' }),
    adds: new Counter({ ...common, name: 'workqueue_adds_total', help: 'Keys added that were not waiting yet' }),
    retries: new Counter({ ...common, name: 'workqueue_retries_total', help: 'Keys added with a back-off' }),
    failures: new Counter({ ...common, name: 'cloud_operator_workqueue_failures_total', help: 'Runs of a key that failed' }),
    waiting: new Histogram({
      ...common,
      name: 'workqueue_queue_duration_seconds',
      help: 'How long a key waited for a worker',
      buckets: QUEUE_BUCKETS,
    }),
    work: new Histogram({
      ...common,
      name: 'workqueue_work_duration_seconds',
      help: 'How long a worker took for a key',
      buckets: QUEUE_BUCKETS,
    }),
  };
}
