import { silentLogger } from '../../../operator/base/log';
import { CONTROLLERS } from '../../../operator/flags/controllers';
import { HealthChecks } from '../../../operator/server/health';
import { Metrics } from '../../../operator/server/metrics';

/** `first`, and each of the others so many times larger. */
function powers(first: number, factor: number, count: number): number[] {
  return Array.from({ length: count }, (_, power) => first * factor ** power);
}

const HOSTS = powers(1, 2, 15);
const NODES = powers(1, 4, 6);
const QUEUE = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];
const REQUEST = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const SIZE = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];

/** Contract 2.13, 3.6, 4, 5.6, 6.2, 7.7; what is left out on purpose stands in docs/differences.md. */
const UPSTREAM: [name: string, type: 'counter' | 'gauge' | 'histogram', labels: string[], buckets: number[] | undefined][] = [
  ['service_controller_loadbalancer_sync_total', 'counter', [], undefined],
  ['service_controller_nodesync_error_total', 'counter', [], undefined],
  ['service_controller_nodesync_latency_seconds', 'histogram', [], HOSTS],
  ['service_controller_update_loadbalancer_host_latency_seconds', 'histogram', [], HOSTS],
  ['node_controller_cloud_provider_taint_removal_delay_seconds', 'histogram', [], NODES],
  ['node_controller_initial_node_sync_delay_seconds', 'histogram', [], NODES],
  ['cloud_node_lifecycle_controller_monitor_nodes_duration_seconds', 'histogram', [], powers(0.001, 2, 15)],
  ['cloud_node_lifecycle_controller_cloud_provider_calls_total', 'counter', ['operation', 'result'], undefined],
  ['route_controller_route_sync_total', 'counter', ['outcome', 'trigger'], undefined],
  ['node_ipam_controller_cidrset_cidrs_allocations_total', 'counter', ['clusterCIDR'], undefined],
  ['node_ipam_controller_cidrset_cidrs_releases_total', 'counter', ['clusterCIDR'], undefined],
  ['node_ipam_controller_cirdset_max_cidrs', 'gauge', ['clusterCIDR'], undefined],
  ['node_ipam_controller_cidrset_usage_cidrs', 'gauge', ['clusterCIDR'], undefined],
  ['node_ipam_controller_cidrset_allocation_tries_per_request', 'histogram', ['clusterCIDR'], powers(1, 5, 5)],
  ['running_managed_controllers', 'gauge', ['name', 'manager'], undefined],
  ['workqueue_depth', 'gauge', ['name'], undefined],
  ['workqueue_adds_total', 'counter', ['name'], undefined],
  ['workqueue_queue_duration_seconds', 'histogram', ['name'], QUEUE],
  ['workqueue_work_duration_seconds', 'histogram', ['name'], QUEUE],
  ['workqueue_unfinished_work_seconds', 'gauge', ['name'], undefined],
  ['workqueue_longest_running_processor_seconds', 'gauge', ['name'], undefined],
  ['workqueue_retries_total', 'counter', ['name'], undefined],
  ['leader_election_master_status', 'gauge', ['name'], undefined],
  ['leader_election_slowpath_total', 'counter', ['name'], undefined],
  ['rest_client_requests_total', 'counter', ['code', 'method', 'host'], undefined],
  ['rest_client_request_duration_seconds', 'histogram', ['verb', 'host'], REQUEST],
  ['rest_client_rate_limiter_duration_seconds', 'histogram', ['verb', 'host'], REQUEST],
  ['rest_client_request_size_bytes', 'histogram', ['verb', 'host'], SIZE],
  ['rest_client_response_size_bytes', 'histogram', ['verb', 'host'], SIZE],
  ['cloud_provider_webhook_request_total', 'counter', ['code', 'webhook'], undefined],
  ['cloud_provider_webhook_request_duration_seconds', 'histogram', ['code', 'webhook'], [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10]],
  ['kubernetes_healthcheck', 'gauge', ['name', 'type'], undefined],
  ['kubernetes_healthchecks_total', 'counter', ['name', 'type', 'status'], undefined],
];

const metrics = new Metrics();
metrics.nodeCidrs();
metrics.built('1.2.3');
const health = new HealthChecks(silentLogger);

/** The class of prom-client that a type has. */
const CLASSES = { counter: 'Counter', gauge: 'Gauge', histogram: 'Histogram' };

test.each(UPSTREAM)('%s: %s, %j, %j', (name, type, labels, buckets) => {
  const metric = metrics.registry.getSingleMetric(name) ?? health.registry.getSingleMetric(name);
  expect(metric?.constructor.name).toBe(CLASSES[type]);
  const { labelNames, upperBounds } = metric as unknown as { labelNames: string[]; upperBounds?: number[] };
  expect([...labelNames].sort()).toEqual([...labels].sort());
  expect(upperBounds?.length).toBe(buckets?.length);
  buckets?.forEach((bucket, index) => expect(upperBounds?.[index]).toBeCloseTo(bucket, 9));
});

test('the work queues have upstream’s names, but for that of the service controller’s Nodes (docs/differences.md)', async () => {
  const queues = CONTROLLERS.flatMap((controller) => ('queue' in controller ? [controller.queue] : []));
  expect(queues.sort()).toEqual(['Nodes', 'Routes', 'cidrallocator_node', 'service']);
  queues.forEach((name) => metrics.forQueue(name).added());
  const text = await metrics.registry.getSingleMetricAsString('workqueue_adds_total');
  for (const name of queues) expect(text).toContain(`workqueue_adds_total{name="${name}"} 1`);
});

test('kubernetes_build_info', async () => {
  expect(await metrics.registry.getSingleMetricAsString('kubernetes_build_info')).toContain('git_version="v1.2.3"');
});
