import { CloudLoadBalancerKind, CloudProviderKind, type KindDefinition } from '../../../crds';
import type { BadSpec } from './spec-cases';

const listener = { name: 'http', port: 80, nodePort: 30080 };
const azure = (block: object, core: object = {}): Record<string, unknown> => ({
  provider: 'azure',
  listeners: [listener],
  ...core,
  azure: block,
});
const settings = { subscriptionID: '11111111-2222-4333-8444-555555555555', resourceGroup: 'cluster' };
const prefix = '/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/publicIPPrefixes/out';

/** The smallest specs of Azure. */
export const SMALLEST_OF_AZURE: { kind: KindDefinition; spec: Record<string, unknown> }[] = [
  { kind: CloudLoadBalancerKind, spec: azure({}) },
  { kind: CloudProviderKind, spec: { region: 'westeurope', azure: settings } },
];

/** Load balancers of Azure with everything in them. */
export const FULL_OF_AZURE: { kind: KindDefinition; spec: Record<string, unknown> }[] = [
  {
    kind: CloudLoadBalancerKind,
    spec: azure(
      {
        publicIP: {
          resourceGroup: 'net',
          ipv4Name: 'web',
          ipv6PrefixID: prefix,
          tags: { team: 'a' },
          ipTags: { RoutingPreference: 'Internet' },
          dnsLabel: 'web',
        },
        configurations: ['one'],
        access: {
          rules: 'Managed',
          serviceTags: ['AzureFrontDoor.Backend'],
          ranges: ['192.0.2.0/24'],
          denyOthers: true,
          additionalAddresses: ['192.0.2.9'],
        },
        idleTimeoutMinutes: 30,
        tcpReset: false,
        floatingIP: false,
        probe: { protocol: 'HTTPS', intervalSeconds: 10, threshold: 3, path: '/healthz' },
        ports: [{ port: 80, rule: true, probe: true, probePort: 'http', protocol: 'TCP' }],
        privateLink: {
          name: 'link',
          resourceGroup: 'net',
          subnetName: 'links',
          addressCount: 2,
          addresses: ['10.0.2.9'],
          fqdns: ['web.example'],
          proxyProtocol: true,
          visibility: ['*'],
          autoApproval: ['11111111-2222-4333-8444-555555555555'],
        },
      },
      { listeners: [{ protocol: 'TCP', ...listener }], scheme: 'Public', ipFamilies: ['IPv4', 'IPv6'], trafficPolicy: 'Cluster' },
    ),
  },
  {
    kind: CloudLoadBalancerKind,
    spec: azure(
      { subnetName: 'apps', ipv4Address: '10.0.0.9', ipv6Address: 'fd00::9', allPorts: true },
      { listeners: [{ protocol: 'TCP', ...listener }], scheme: 'Internal', ipFamilies: ['IPv4', 'IPv6'], trafficPolicy: 'Cluster' },
    ),
  },
];

/** What of Azure must be refused. */
export const BAD_AZURE: BadSpec[] = [
  {
    title: 'an internal load balancer with public addresses',
    kind: CloudLoadBalancerKind,
    spec: azure({ publicIP: { dnsLabel: 'web' } }, { scheme: 'Internal' }),
    field: 'spec.azure.publicIP',
    message: 'needs scheme Public',
  },
  {
    title: 'a public load balancer in a subnet',
    kind: CloudLoadBalancerKind,
    spec: azure({ subnetName: 'apps' }),
    field: 'spec.azure.subnetName',
    message: 'needs scheme Internal',
  },
  {
    title: 'all ports of a public load balancer',
    kind: CloudLoadBalancerKind,
    spec: azure({ allPorts: true }),
    field: 'spec.azure.allPorts',
    message: 'needs scheme Internal',
  },
  {
    title: 'probes that take two minutes',
    kind: CloudLoadBalancerKind,
    spec: azure({ probe: { intervalSeconds: 60, threshold: 2 } }),
    field: 'spec.azure.probe.intervalSeconds',
    message: 'must be less than 120',
  },
  {
    title: 'two kinds of credentials',
    kind: CloudProviderKind,
    spec: { azure: { ...settings, credentials: { managedIdentity: {}, workloadIdentity: {} } } },
    field: 'spec.azure.credentials',
    message: 'only one kind of credentials can be set',
  },
  {
    title: 'a selector that lists nothing',
    kind: CloudProviderKind,
    spec: {
      azure: {
        ...settings,
        loadBalancers: [{ name: 'one', serviceSelector: { matchExpressions: [{ key: 'tier', operator: 'NotIn' }] } }],
      },
    },
    field: 'spec.azure.loadBalancers[0].serviceSelector.matchExpressions[0]',
    message: 'values must be set with In and NotIn, and only with these',
  },
  {
    title: 'a tenant of a network that is nowhere else',
    kind: CloudProviderKind,
    spec: { azure: { ...settings, networkTenantID: 't' } },
    field: 'spec.azure',
    message: 'networkTenantID needs networkSubscriptionID',
  },
  {
    title: 'one name and several load balancers',
    kind: CloudProviderKind,
    spec: { azure: { ...settings, loadBalancerName: 'edge', loadBalancers: [{ name: 'one' }] } },
    field: 'spec.azure',
    message: 'only one of loadBalancers, loadBalancerName can be set',
  },
];
