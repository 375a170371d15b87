import { configurationOf } from '../../../operator/flags/configz';
import type { FlagGroup } from '../../../operator/flags/flag';
import { FeatureGates } from '../../../operator/flags/feature-gates';
import { parseFlags } from '../../../operator/flags/parse';
import { FLAG_GROUPS, FLAGS, type FlagValues } from '../../../operator/flags/table';
import { flagUsages } from '../../../operator/flags/usage';

const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

/** Every flag of upstream's with its default, times in milliseconds (contract 7.3; 6.1 for node IPAM), under the headings of its --help. */
const UPSTREAM: Record<string, Record<string, unknown>> = {
  Debugging: { profiling: true, 'contention-profiling': false },
  'Leader-migration': { 'enable-leader-migration': false, 'leader-migration-config': '' },
  Generic: {
    ...{ controllers: ['*'], 'min-resync-period': 12 * HOUR, 'controller-start-interval': 0 },
    ...{ 'kube-api-qps': 20, 'kube-api-burst': 30, 'kube-api-content-type': 'application/vnd.kubernetes.protobuf' },
    ...{ 'leader-elect': true, 'leader-elect-lease-duration': 15 * SECOND, 'leader-elect-renew-deadline': 10 * SECOND },
    ...{ 'leader-elect-retry-period': 2 * SECOND, 'leader-elect-resource-lock': 'leases' },
    ...{ 'leader-elect-resource-name': 'cloud-controller-manager', 'leader-elect-resource-namespace': 'kube-system' },
    ...{ 'feature-gates': [], 'cloud-provider': '', 'cloud-config': '', 'cluster-name': 'kubernetes', 'cluster-cidr': '' },
    ...{ 'allocate-node-cidrs': false, 'cidr-allocator-type': 'RangeAllocator', 'configure-cloud-routes': true },
    ...{ 'route-reconciliation-period': 10 * SECOND, 'use-service-account-credentials': false, 'allow-untagged-cloud': false },
    ...{ 'external-cloud-volume-plugin': '', 'node-sync-period': 0 },
  },
  'Node controller': { 'concurrent-node-syncs': 1, 'concurrent-node-status-updates': 0, 'node-status-update-frequency': 5 * MINUTE },
  'Node-lifecycle controller': { 'node-monitor-period': 5 * SECOND, 'concurrent-node-lifecycle-syncs': 1 },
  'Service controller': { 'concurrent-service-syncs': 1 },
  'Node-ipam controller': {
    ...{ 'service-cluster-ip-range': '', 'node-cidr-mask-size': 0, 'node-cidr-mask-size-ipv4': 0, 'node-cidr-mask-size-ipv6': 0 },
  },
  Webhook: { webhooks: [] },
  'Webhook serving': {
    ...{ 'webhook-bind-address': '0.0.0.0', 'webhook-secure-port': 10260, 'webhook-cert-dir': '', 'webhook-tls-cert-file': '' },
    ...{ 'webhook-tls-private-key-file': '', 'webhook-tls-sni-cert-key': [], 'webhook-tls-cipher-suites': [] },
    ...{ 'webhook-tls-curve-preferences': [], 'webhook-tls-min-version': '', 'webhook-disable-http2-serving': false },
  },
  'Secure serving': {
    ...{ 'bind-address': '0.0.0.0', 'secure-port': 10258, 'cert-dir': '', 'tls-cert-file': '', 'tls-private-key-file': '' },
    ...{ 'tls-sni-cert-key': [], 'tls-cipher-suites': [], 'tls-curve-preferences': [], 'tls-min-version': '' },
    ...{ 'disable-http2-serving': false, 'permit-port-sharing': false, 'permit-address-sharing': false },
    'http2-max-streams-per-connection': 0,
  },
  Authentication: {
    ...{ 'authentication-kubeconfig': '', 'authentication-token-webhook-cache-ttl': 10 * SECOND, 'authentication-skip-lookup': false },
    ...{ 'authentication-tolerate-lookup-failure': false, 'client-ca-file': '', 'requestheader-client-ca-file': '' },
    ...{ 'requestheader-allowed-names': [], 'requestheader-username-headers': ['x-remote-user'] },
    ...{ 'requestheader-group-headers': ['x-remote-group'], 'requestheader-extra-headers-prefix': ['x-remote-extra-'] },
    'requestheader-uid-headers': [],
  },
  Authorization: {
    ...{ 'authorization-kubeconfig': '', 'authorization-always-allow-paths': ['/healthz', '/readyz', '/livez'] },
    ...{ 'authorization-webhook-cache-authorized-ttl': 10 * SECOND, 'authorization-webhook-cache-unauthorized-ttl': 10 * SECOND },
  },
  Logs: { v: 0, vmodule: '', 'log-flush-frequency': 5 * SECOND, 'logging-format': 'text' },
  Misc: { master: '', kubeconfig: '' },
  Global: { help: false, version: 'none' },
};

test('every flag of upstream’s is there with its default, and under its heading nothing else', () => {
  const ours = Object.entries<FlagGroup>(FLAG_GROUPS).map(([heading, group]) => [
    heading,
    Object.fromEntries(Object.entries(group).map(([name, flag]) => [name, flag.default])),
  ]);
  const { 'Cloud operator': added, ...same } = Object.fromEntries(ours) as Record<string, Record<string, unknown>>;
  expect(same).toEqual(UPSTREAM);
  const names = Object.values(UPSTREAM).flatMap((group) => Object.keys(group));
  expect(Object.keys(added ?? {}).filter((name) => names.includes(name))).toEqual([]);
});

describe('--help', () => {
  const help = flagUsages();
  const deprecated = ['allow-untagged-cloud', 'node-sync-period'];

  test('has upstream’s headings, and under each its flags', () => {
    const sections = help.split(/^(.*) flags:\n\n/m).slice(1);
    const shown = sections.flatMap((text, index) =>
      index % 2 === 0
        ? [[text, [...(sections[index + 1] ?? '').matchAll(/^ {2}(?:-\w, | {4})--([a-z0-9-]+)/gm)].map(([, name]) => name)]]
        : [],
    );
    const same = (shown as [string, string[]][]).filter(([heading]) => heading !== 'Cloud operator');
    expect(same.map(([heading]) => heading)).toEqual(Object.keys(UPSTREAM));
    for (const [heading, names] of same)
      expect([...names].sort()).toEqual(
        Object.keys(UPSTREAM[heading] ?? {})
          .filter((name) => !deprecated.includes(name))
          .sort(),
      );
  });

  test.each([
    ['a text', /^ {6}--cluster-name string +.*\(default "kubernetes"\)$/m],
    ['a time', /^ {6}--leader-elect-lease-duration duration +.*\(default 15s\)$/m],
    ['a list', /^ {6}--controllers strings +/m],
    ['a switch that is on', /^ {6}--leader-elect +.*\(default true\)$/m],
    ['a switch that is off', /^ {6}--allocate-node-cidrs +[^(]*$/m],
    ['a short form', /^ {2}-v, --v Level +/m],
    [
      'the controllers',
      /All controllers: cloud-node-controller, cloud-node-lifecycle-controller, node-ipam-controller, node-route-controller, service-lb-controller$/m,
    ],
    ['those off by default', /Disabled-by-default controllers: /],
    ['the gates', /^ +CloudControllerManagerWebhook=true\|false \(ALPHA - default=false\)$/m],
  ])('shows %s', (_what, line) => {
    expect(help).toMatch(line);
  });
});

test('/configz is the flags as upstream’s kind has them', () => {
  const values = parseFlags(FLAGS, ['--cloud-provider=local', '--concurrent-service-syncs=7']).values as FlagValues;
  const { 'cloudcontrollermanager.config.k8s.io': upstream, ...ours } = configurationOf(values);
  expect(Object.keys(ours)).toEqual(['cloud-operator.dev']);
  expect(upstream).toEqual({
    Generic: {
      Port: 10258,
      Address: '0.0.0.0',
      MinResyncPeriod: '12h0m0s',
      ClientConnection: {
        ...{ Kubeconfig: '', AcceptContentTypes: '', ContentType: 'application/vnd.kubernetes.protobuf', QPS: 20, Burst: 30 },
      },
      ControllerStartInterval: '0s',
      LeaderElection: {
        ...{ LeaderElect: true, LeaseDuration: '15s', RenewDeadline: '10s', RetryPeriod: '2s', ResourceLock: 'leases' },
        ...{ ResourceName: 'cloud-controller-manager', ResourceNamespace: 'kube-system' },
      },
      Controllers: ['*'],
      Debugging: { EnableProfiling: true, EnableContentionProfiling: false },
      LeaderMigrationEnabled: false,
    },
    KubeCloudShared: {
      ...{ CloudProvider: { Name: 'local', CloudConfigFile: '' }, ExternalCloudVolumePlugin: '', UseServiceAccountCredentials: false },
      ...{ AllowUntaggedCloud: false, RouteReconciliationPeriod: '10s', NodeMonitorPeriod: '5s', ClusterName: 'kubernetes' },
      ...{ ClusterCIDR: '', AllocateNodeCIDRs: false, CIDRAllocatorType: 'RangeAllocator', ConfigureCloudRoutes: true },
      NodeSyncPeriod: '0s',
    },
    NodeController: { ConcurrentNodeSyncs: 1, ConcurrentNodeStatusUpdates: 0 },
    NodeLifecycleController: { ConcurrentNodeLifecycleSyncs: 1 },
    ServiceController: { ConcurrentServiceSyncs: 7 },
    NodeStatusUpdateFrequency: '5m0s',
    Webhook: { Webhooks: [] },
  });
});

test.each([
  'CloudControllerManagerWebhook',
  'CloudControllerManagerWatchBasedRoutesReconciliation',
  'ControllerManagerReleaseLeaderElectionLockOnExit',
  'AllAlpha',
  'AllBeta',
  'ContextualLogging',
  'LoggingAlphaOptions',
  'LoggingBetaOptions',
])('the gate %s is known by its name, either way', (name) => {
  for (const value of ['true', 'false', '1', 'F']) expect(() => new FeatureGates([`${name}=${value}`])).not.toThrow();
});
