import { ApiObject, Chart } from 'cdk8s';
import { k8s } from 'cdk8s-plus-27';
import type { Construct } from 'constructs';
import { ALERTS } from '../monitoring/alerts';
import { dashboard } from '../monitoring/dashboard';
import { METRICS_NAME } from '../monitoring/job';
import { labels, OPERATOR_NAME, type Settings } from '../options';
import { healthEndpoint } from '../serving';

const OPERATOR = 'monitoring.coreos.com/v1';

/** How metrics are reached, and the role of who may read them: to whom it is given, the platform team says. */
export class MetricsChart extends Chart {
  constructor(scope: Construct, settings: Settings) {
    super(scope, 'metrics', { disableResourceNameHashes: true });
    const { port } = healthEndpoint(settings);
    new k8s.KubeService(this, 'service', {
      metadata: { name: METRICS_NAME, namespace: settings.namespace, labels: labels('metrics') },
      spec: {
        selector: labels('operator'),
        ports: [{ name: 'https-metrics', port, protocol: 'TCP', targetPort: k8s.IntOrString.fromNumber(port) }],
      },
    });
    new k8s.KubeClusterRole(this, 'reader', {
      metadata: { name: `${METRICS_NAME}-reader`, labels: labels('people') },
      rules: [{ nonResourceUrLs: ['/metrics', '/metrics/slis'], verbs: ['get'] }],
    });
  }
}

/** Objects for the Prometheus operator and for Grafana, whose kinds a cluster may not have. */
export class MonitoringChart extends Chart {
  constructor(scope: Construct, { namespace }: Settings) {
    super(scope, 'monitoring', { disableResourceNameHashes: true });
    const metadata = { name: OPERATOR_NAME, namespace, labels: labels('metrics') };
    new ApiObject(this, 'service-monitor', {
      apiVersion: OPERATOR,
      kind: 'ServiceMonitor',
      metadata,
      spec: {
        selector: { matchLabels: labels('metrics') },
        endpoints: [
          {
            port: 'https-metrics',
            path: '/metrics',
            scheme: 'https',
            interval: '30s',
            bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
            // The certificate is made anew at each start, unless flags name one.
            tlsConfig: { insecureSkipVerify: true },
          },
        ],
      },
    });
    const rules = ALERTS.map(({ alert, expr, severity, summary, description, for: held }) => ({
      alert,
      expr,
      for: held,
      labels: { severity },
      annotations: { summary, description },
    }));
    new ApiObject(this, 'rules', {
      apiVersion: OPERATOR,
      kind: 'PrometheusRule',
      metadata,
      spec: { groups: [{ name: OPERATOR_NAME, rules }] },
    });
    new k8s.KubeConfigMap(this, 'dashboard', {
      metadata: { name: `${OPERATOR_NAME}-dashboard`, namespace, labels: { ...labels('metrics'), grafana_dashboard: '1' } },
      data: { 'cloud-operator.json': `${JSON.stringify(dashboard(), undefined, 2)}\n` },
    });
  }
}
