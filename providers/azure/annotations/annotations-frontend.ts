import * as read from '../../annotation-values';
import { type Annotation, NAME, PREFIX_ID, RESOURCE_GROUP, spaced, TRUTH } from './annotation';

const name = (what: string): Pick<Annotation, 'expects' | 'parse'> => ({
  expects: `the name of ${what}`,
  parse: read.matching(NAME, 'a name of a resource'),
});
const group = { expects: 'the name of a resource group', parse: read.matching(RESOURCE_GROUP, 'a name of a resource group') };
const prefix = (family: string): Pick<Annotation, 'expects' | 'parse'> => ({
  expects: `the id of a public IP prefix for ${family}`,
  parse: read.matching(PREFIX_ID, 'an id of a public IP prefix'),
});
const subscriptions = {
  expects: 'ids of subscriptions, separated by spaces; * for all',
  parse: spaced(read.matching(/^[0-9a-fA-F-]{36}$|^\*$/, 'an id of a subscription')),
};

/** Annotations that say where the load balancer is reached. */
export const OF_FRONTEND: readonly Annotation[] = [
  {
    name: 'load-balancer-internal',
    field: 'spec.scheme',
    default: 'false',
    mutable: false,
    expects: TRUTH.expects,
    parse: (text) => (TRUTH.parse(text) ? 'Internal' : 'Public'),
  },
  {
    name: 'load-balancer-internal-subnet',
    field: 'subnetName',
    default: 'the Nodes’ subnet',
    mutable: false,
    only: 'Internal',
    ...name('a subnet of the Nodes’ network'),
  },
  {
    name: 'load-balancer-ipv4',
    field: 'ipv4Address',
    default: 'Azure chooses',
    mutable: false,
    expects: 'an IPv4 address',
    parse: read.ipv4,
  },
  {
    name: 'load-balancer-ipv6',
    field: 'ipv6Address',
    default: 'Azure chooses',
    mutable: false,
    expects: 'an IPv6 address',
    parse: read.ipv6,
  },
  {
    name: 'load-balancer-configurations',
    field: 'configurations',
    default: 'any that takes the Service',
    mutable: false,
    expects: 'names of load balancers of the CloudProvider, separated by commas',
    parse: (text) => read.list(read.matching(NAME, 'a name of a load balancer'), 16)(text.toLowerCase()),
  },
  {
    name: 'load-balancer-resource-group',
    field: 'publicIP.resourceGroup',
    default: 'the cluster’s',
    mutable: false,
    only: 'Public',
    ...group,
  },
  { name: 'pip-name', field: 'publicIP.ipv4Name', default: 'one is made', mutable: false, only: 'Public', ...name('a public IP address') },
  {
    name: 'pip-name-ipv6',
    field: 'publicIP.ipv6Name',
    default: 'one is made',
    mutable: false,
    only: 'Public',
    ...name('a public IP address for IPv6'),
  },
  { name: 'pip-prefix-id', field: 'publicIP.ipv4PrefixID', default: 'none', mutable: false, only: 'Public', ...prefix('IPv4') },
  { name: 'pip-prefix-id-ipv6', field: 'publicIP.ipv6PrefixID', default: 'none', mutable: false, only: 'Public', ...prefix('IPv6') },
  {
    name: 'pip-tags',
    field: 'publicIP.tags',
    default: 'none',
    mutable: true,
    only: 'Public',
    expects: 'tags as key=value, separated by commas',
    parse: read.pairs,
  },
  {
    name: 'pip-ip-tags',
    field: 'publicIP.ipTags',
    default: 'none',
    mutable: false,
    only: 'Public',
    expects: 'IP tags as type=value, separated by commas',
    parse: read.pairs,
  },
  {
    name: 'dns-label-name',
    field: 'publicIP.dnsLabel',
    default: 'none',
    mutable: true,
    only: 'Public',
    expects: 'lower-case letters, digits and "-" between them, 3 to 63, a letter first',
    parse: read.matching(/^[a-z][a-z0-9-]{1,61}[a-z0-9]$/, 'a DNS label'),
  },
  {
    name: 'additional-public-ips',
    field: 'access.additionalAddresses',
    default: 'none',
    mutable: true,
    expects: 'IP addresses, separated by commas',
    parse: read.list(read.anyIP, 16),
  },
];

/** Annotations of the Private Link Service on the frontend. They mean something beside `pls-create`. */
export const OF_PRIVATE_LINK: readonly Annotation[] = [
  { name: 'pls-create', field: 'privateLink', default: 'false', mutable: true, ...TRUTH },
  { name: 'pls-name', field: 'privateLink.name', default: 'pls-<frontend>', mutable: false, ...name('a Private Link Service') },
  { name: 'pls-resource-group', field: 'privateLink.resourceGroup', default: 'what the CloudProvider says', mutable: false, ...group },
  {
    name: 'pls-ip-configuration-subnet',
    field: 'privateLink.subnetName',
    default: 'the frontend’s',
    mutable: true,
    ...name('a subnet of the Nodes’ network'),
  },
  {
    name: 'pls-ip-configuration-ip-address-count',
    field: 'privateLink.addressCount',
    default: '1',
    mutable: true,
    expects: 'a whole number from 1 to 8',
    parse: read.whole(1, 8),
  },
  {
    name: 'pls-ip-configuration-ip-address',
    field: 'privateLink.addresses',
    default: 'Azure chooses',
    mutable: true,
    expects: 'IPv4 addresses, separated by spaces',
    parse: spaced(read.ipv4),
  },
  {
    name: 'pls-fqdns',
    field: 'privateLink.fqdns',
    default: 'none',
    mutable: true,
    expects: 'names of hosts, separated by spaces',
    parse: spaced(read.matching(/^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z0-9-]{2,63}$/, 'a name of a host')),
  },
  { name: 'pls-proxy-protocol', field: 'privateLink.proxyProtocol', default: 'false', mutable: true, ...TRUTH },
  { name: 'pls-visibility', field: 'privateLink.visibility', default: 'by roles only', mutable: true, ...subscriptions },
  { name: 'pls-auto-approval', field: 'privateLink.autoApproval', default: 'none', mutable: true, ...subscriptions },
];
