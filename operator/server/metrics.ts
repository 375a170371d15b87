import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { systemClock, type Clock } from '../base/clock';
import type { QueueMetrics } from '../kube/queue';
import type { RequestObserver } from '../kube/request-observer';
import { clientMetrics } from './client-metrics';
import { DriftMetrics } from './drift-metrics';
import { IpamMetrics } from './ipam-metrics';
import { LeaseMetrics } from './lease-metrics';
import { ControllerMetrics } from './controller-metrics';
import { ObjectMetrics } from './object-metrics';
import { QueueCollectors, type MeasuredQueue } from './queue-metrics';
import { WebhookMetrics } from './webhook-metrics';

const MANAGER = 'cloud-controller-manager';

/** In seconds. */
const UPDATE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900];

/** The library wakes the process for each sample of the event loop's delay: every 10 ms, if not told otherwise, which is most of what an operator at rest uses. */
const LOOP_SAMPLES_MS = 200;

/** The operator's metrics in one registry. Names are upstream's (contract 7.7) where upstream has the thing; our own begin with `cloud_operator_`. */
export class Metrics {
  readonly registry = new Registry();
  /** Told of every request to the API server. */
  readonly requests: RequestObserver;
  readonly objects: ObjectMetrics;
  readonly controllers: ControllerMetrics;
  readonly leases: LeaseMetrics;
  readonly webhooks: WebhookMetrics;
  readonly drift: DriftMetrics;
  private readonly queues: QueueCollectors;
  private readonly running: Gauge<'name' | 'manager'>;
  private readonly calls: Counter<'provider' | 'verb' | 'code'>;
  private readonly updates: Histogram<'provider' | 'result'>;
  private readonly leftovers: Gauge<'provider'>;

  constructor(clock: Clock = systemClock) {
    const registers = [this.registry];
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_SAMPLES_MS });
    this.queues = new QueueCollectors(registers);
    this.requests = clientMetrics(registers);
    this.objects = new ObjectMetrics(registers, clock);
    this.controllers = new ControllerMetrics(registers);
    this.leases = new LeaseMetrics(registers);
    this.webhooks = new WebhookMetrics(registers);
    this.drift = new DriftMetrics(registers);
    this.running = new Gauge({
      name: 'running_managed_controllers',
      help: 'Controllers that run now: 1, or that have run: 0',
      labelNames: ['name', 'manager'],
      registers,
    });
    this.calls = new Counter({
      name: 'cloud_operator_cloud_calls_total',
      help: 'Calls to the API of a cloud, by how they ended',
      labelNames: ['provider', 'verb', 'code'],
      registers,
    });
    this.updates = new Histogram({
      name: 'cloud_operator_update_duration_seconds',
      help: 'How long a stack update took; its count is the number of updates',
      labelNames: ['provider', 'result'],
      buckets: UPDATE_BUCKETS,
      registers,
    });
    this.leftovers = new Gauge({
      name: 'cloud_operator_leftover_stacks',
      help: 'Stacks in the cloud that bear the mark of this cluster and that nothing accounts for, by the last sweep',
      labelNames: ['provider'],
      registers,
    });
  }

  /** What a work queue tells goes here; each of its series starts at zero. */
  forQueue(name: string): QueueMetrics {
    return this.queues.of(name);
  }

  /** Shows what hangs in a queue, or waits. */
  watchQueue(queue: MeasuredQueue): void {
    this.queues.watch(queue);
  }

  /** @param version of this program */
  built(version: string): void {
    const [major = '', minor = ''] = version.split('.');
    const labels = { major, minor, git_version: `v${version}`, compiler: 'node', go_version: process.version };
    const platform = `${process.platform}/${process.arch}`;
    new Gauge({
      name: 'kubernetes_build_info',
      help: 'The version of this program, always 1',
      labelNames: [...Object.keys(labels), 'platform'],
      registers: [this.registry],
    }).set({ ...labels, platform }, 1);
  }

  /** Of node IPAM, which few clusters let us do: made when it is asked for. */
  nodeCidrs(): IpamMetrics {
    return new IpamMetrics([this.registry]);
  }

  /** @param name a controller's alias */
  controllerRuns(name: string, runs: boolean): void {
    this.running.set({ name, manager: MANAGER }, runs ? 1 : 0);
  }

  /** @param code how the call ended: `Answered`, `Throttled`, `Refused` or `Unanswered` */
  cloudCalled(provider: string, verb: string, code: string): void {
    this.calls.inc({ provider, verb, code });
  }

  /** @param result of UpdateResult, or the code of the OperatorError */
  updated(provider: string, result: string, tookMs: number): void {
    this.updates.observe({ provider, result }, tookMs / 1000);
  }

  /** @param leftovers stacks that the last sweep has found */
  swept(provider: string, leftovers: number): void {
    this.leftovers.set({ provider }, leftovers);
  }
}
