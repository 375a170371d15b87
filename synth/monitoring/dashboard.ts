import { OF_OPERATOR } from './job';

interface Panel {
  title: string;
  unit: string;
  targets: { expr: string; legend: string }[];
}

/** The questions in the order in which they are asked when something is wrong. */
export const PANELS: readonly Panel[] = [
  { title: 'Who leads', unit: 'short', targets: [{ expr: `leader_election_master_status${OF_OPERATOR}`, legend: '{{pod}} {{name}}' }] },
  {
    title: 'Until objects are Ready',
    unit: 's',
    targets: [
      {
        expr: 'histogram_quantile(0.95, sum by (kind, le) (rate(cloud_operator_time_to_ready_seconds_bucket[30m])))',
        legend: '{{kind}}, 95 of 100',
      },
    ],
  },
  {
    title: 'Not as asked for',
    unit: 'short',
    targets: [{ expr: 'max by (kind, state, reason) (cloud_operator_objects{state!="Ready"})', legend: '{{kind}} {{state}}: {{reason}}' }],
  },
  {
    title: 'For how long',
    unit: 's',
    targets: [{ expr: 'max by (kind) (cloud_operator_unsettled_oldest_seconds)', legend: '{{kind}}' }],
  },
  {
    title: 'Oldest deletion',
    unit: 's',
    targets: [{ expr: 'max by (kind) (cloud_operator_deleting_oldest_seconds)', legend: '{{kind}}' }],
  },
  {
    title: 'Updates of stacks',
    unit: 'ops',
    targets: [
      {
        expr: 'sum by (provider, result) (rate(cloud_operator_update_duration_seconds_count[5m]))',
        legend: '{{provider}} {{result}}',
      },
    ],
  },
  {
    title: 'How long updates take',
    unit: 's',
    targets: [
      {
        expr: 'histogram_quantile(0.95, sum by (provider, le) (rate(cloud_operator_update_duration_seconds_bucket[30m])))',
        legend: '{{provider}}, 95 of 100',
      },
    ],
  },
  {
    title: 'Calls to the cloud',
    unit: 'ops',
    targets: [{ expr: 'sum by (provider, code) (rate(cloud_operator_cloud_calls_total[5m]))', legend: '{{provider}} {{code}}' }],
  },
  {
    title: 'Drift found',
    unit: 'short',
    targets: [{ expr: 'sum by (provider, policy) (increase(cloud_operator_drift_total[1h]))', legend: '{{provider}} {{policy}}' }],
  },
  { title: 'What waits', unit: 'short', targets: [{ expr: `sum by (name) (workqueue_depth${OF_OPERATOR})`, legend: '{{name}}' }] },
  {
    title: 'What fails',
    unit: 'short',
    targets: [{ expr: 'sum by (name) (increase(cloud_operator_workqueue_failures_total[15m]))', legend: '{{name}}' }],
  },
  {
    title: 'Requests to the API server',
    unit: 'reqps',
    targets: [{ expr: `sum by (code) (rate(rest_client_requests_total${OF_OPERATOR}[5m]))`, legend: '{{code}}' }],
  },
  { title: 'Memory', unit: 'bytes', targets: [{ expr: `process_resident_memory_bytes${OF_OPERATOR}`, legend: '{{pod}}' }] },
];

const COLUMNS = 2;
const WIDTH = 24 / COLUMNS;
const HEIGHT = 8;

/** A dashboard for Grafana, whose data source is chosen on the page. */
export function dashboard(): object {
  const datasource = { type: 'prometheus', uid: '$datasource' };
  return {
    uid: 'cloud-operator',
    title: 'cloud-operator',
    tags: ['kubernetes'],
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: { list: [{ name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus' }] },
    panels: PANELS.map(({ title, unit, targets }, index) => ({
      id: index + 1,
      type: 'timeseries',
      title,
      datasource,
      gridPos: { x: (index % COLUMNS) * WIDTH, y: Math.floor(index / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      targets: targets.map(({ expr, legend }, at) => ({ refId: String.fromCharCode(65 + at), datasource, expr, legendFormat: legend })),
    })),
  };
}
