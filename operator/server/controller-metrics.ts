import { Counter, exponentialBuckets, Histogram, type Registry } from 'prom-client';

const HOST_BUCKETS = exponentialBuckets(1, 2, 15);
const DELAY_BUCKETS = exponentialBuckets(1, 4, 6);
const PASS_BUCKETS = exponentialBuckets(0.001, 2, 15);

type Result = 'success' | 'error' | 'instance_not_found' | 'canceled';
type Outcome = 'changed' | 'noop' | 'error';

/** What the controllers count, under upstream's names (contract 2.13, 3.6, 4, 5.6). Times are given in milliseconds. */
export class ControllerMetrics {
  private readonly hostSyncs: Counter;
  private readonly hostErrors: Counter;
  private readonly hostLatency: Histogram;
  private readonly nodeSyncs: Histogram;
  private readonly taintDelay: Histogram;
  private readonly syncDelay: Histogram;
  private readonly passes: Histogram;
  private readonly lookups: Counter<'operation' | 'result'>;
  private readonly routeSyncs: Counter<'outcome' | 'trigger'>;

  constructor(registers: Registry[]) {
    const histogram = (name: string, help: string, buckets: number[]): Histogram => new Histogram({ name, help, buckets, registers });
    const hosts = 'service_controller';
    this.hostSyncs = new Counter({
      name: `${hosts}_loadbalancer_sync_total`,
      help: 'Times that the targets of a load balancer in use were brought to other Nodes',
      registers,
    });
    this.hostErrors = new Counter({ name: `${hosts}_nodesync_error_total`, help: 'How many of those failed', registers });
    this.hostLatency = histogram(`${hosts}_update_loadbalancer_host_latency_seconds`, 'How long one of those took', HOST_BUCKETS);
    this.nodeSyncs = histogram(`${hosts}_nodesync_latency_seconds`, 'How long one look at all load balancers took', HOST_BUCKETS);
    const nodes = 'node_controller';
    this.taintDelay = histogram(
      `${nodes}_cloud_provider_taint_removal_delay_seconds`,
      'Age of a Node when its taint was taken off',
      DELAY_BUCKETS,
    );
    this.syncDelay = histogram(`${nodes}_initial_node_sync_delay_seconds`, 'Age of a Node when it was initialized', DELAY_BUCKETS);
    const lifecycle = 'cloud_node_lifecycle_controller';
    this.passes = histogram(`${lifecycle}_monitor_nodes_duration_seconds`, 'How long one look at all Nodes took', PASS_BUCKETS);
    this.lookups = new Counter({
      name: `${lifecycle}_cloud_provider_calls_total`,
      help: 'Questions about one machine, which a bulk listing answers',
      labelNames: ['operation', 'result'],
      registers,
    });
    this.routeSyncs = new Counter({
      name: 'route_controller_route_sync_total',
      help: 'Looks at the routes of a Node, by what came of them',
      labelNames: ['outcome', 'trigger'],
      registers,
    });
    for (const outcome of ['changed', 'noop', 'error'] as const) this.routeSyncs.inc({ outcome, trigger: 'node_change' }, 0);
  }

  /** The targets of a load balancer in use were brought to other Nodes, or not. */
  hostsSynced(tookMs: number, failed: boolean): void {
    this.hostSyncs.inc();
    if (failed) this.hostErrors.inc();
    this.hostLatency.observe(tookMs / 1000);
  }

  /** All load balancers of a provider were looked at after a change of Nodes. */
  nodesSynced(tookMs: number): void {
    this.nodeSyncs.observe(tookMs / 1000);
  }

  /** @param taintedMs age of the Node when its taint was taken off, @param syncedMs and when all was done */
  nodeInitialized(taintedMs: number, syncedMs: number): void {
    this.taintDelay.observe(taintedMs / 1000);
    this.syncDelay.observe(syncedMs / 1000);
  }

  nodesMonitored(tookMs: number): void {
    this.passes.observe(tookMs / 1000);
  }

  instanceAsked(operation: 'instance_exists' | 'instance_shutdown', result: Result): void {
    this.lookups.inc({ operation, result });
  }

  routesSynced(outcome: Outcome): void {
    this.routeSyncs.inc({ outcome, trigger: 'node_change' });
  }
}
