import type { Metric, Registry } from 'prom-client';
import { silentLogger } from '../base/log';
import { HealthChecks } from './health';
import { Metrics } from './metrics';

const HEAD = `<!-- Generated from operator/server/ by \`npm run generate\`. Do not edit. -->

# Metrics

At \`/metrics\`, and those of health checks at \`/metrics/slis\` ([install.md](../install.md#metrics-and-health)). What upstream's cloud-controller-manager measures has its
names, labels and buckets; what is ours begins with \`cloud_operator_\`. The names of Node.js and of the process come from its client library, and differ between platforms.

A label's values: \`provider\` is the name of a CloudProvider; \`kind\` a kind of ours, or Service for those that we look after; \`state\` and \`reason\` are those of
[conditions.md](../conditions.md), as many as there are at the moment; \`name\` a controller, a queue or a Lease; \`result\` is \`Unchanged\`, \`Updated\`, \`Destroyed\` or the class
of a failure; \`code\` of a cloud call is \`Answered\`, \`Throttled\`, \`Refused\` or \`Unanswered\`; \`policy\` says whether drift is healed.
`;

/** One row of the table. */
export interface DocumentedMetric {
  name: string;
  type: string;
  labels: string[];
  help: string;
}

/** prom-client's classes have these fields, and its types don't say so. */
type Described = Metric & { name: string; help: string; labelNames: string[] };

/** Everything that the operator can show, with the part that is there only with `--allocate-node-cidrs`. */
export function documentedMetrics(): { metrics: DocumentedMetric[]; slis: DocumentedMetric[] } {
  const metrics = new Metrics();
  metrics.built('0.0.0');
  metrics.nodeCidrs();
  return { metrics: rowsOf(metrics.registry), slis: rowsOf(new HealthChecks(silentLogger).registry) };
}

/** The page docs/reference/metrics.md. */
export function metricsReference(): string {
  const { metrics, slis } = documentedMetrics();
  const isRuntime = ({ name }: DocumentedMetric): boolean => /^(nodejs|process)_/.test(name);
  const isOurs = ({ name }: DocumentedMetric): boolean => name.startsWith('cloud_operator_');
  const sections: [string, DocumentedMetric[]][] = [
    ['Ours', metrics.filter(isOurs)],
    ['As upstream', metrics.filter((row) => !isOurs(row) && !isRuntime(row))],
    ['Health checks, at /metrics/slis', slis],
  ];
  return `${HEAD}${sections.map(([heading, rows]) => `\n## ${heading}\n\n${tableOf(rows)}`).join('')}`;
}

function rowsOf(registry: Registry): DocumentedMetric[] {
  const all = registry.getMetricsAsArray() as unknown as Described[];
  const rows = all.map((metric) => ({
    name: metric.name,
    type: metric.constructor.name.toLowerCase(),
    labels: [...metric.labelNames],
    help: metric.help,
  }));
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function tableOf(rows: readonly DocumentedMetric[]): string {
  const line = ({ name, type, labels, help }: DocumentedMetric): string =>
    `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help.replaceAll('|', '\\|').replaceAll('<', '\\<')} |\n`;
  return `| Metric | Type | Labels | Meaning |\n| --- | --- | --- | --- |\n${rows.map(line).join('')}`;
}
