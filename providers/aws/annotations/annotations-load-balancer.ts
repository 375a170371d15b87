import { type Annotation, ON_OR_OFF, seconds, TRUE_OR_FALSE } from './annotation';
import { loadBalancerAttributes } from './annotation-attributes';
import * as read from './annotation-values';

/** The most subnets, and so what there is one of for each. */
const SUBNETS = 16;

const KIND: Annotation[] = [
  {
    name: 'type',
    field: 'type',
    default: 'Classic; Network where spec.loadBalancerClass is set',
    mutable: false,
    expects:
      'nlb, or classic or nothing for a Classic load balancer; external and nlb-ip leave the Service to the AWS Load Balancer Controller',
    parse: read.word({ nlb: 'Network', classic: 'Classic' }),
  },
  {
    name: 'nlb-target-type',
    field: '',
    default: 'instance',
    mutable: false,
    only: 'Network',
    expects: 'instance: targets are Nodes. For ip leave the Service to the AWS Load Balancer Controller',
    parse: read.word({ instance: {} }),
  },
  {
    name: 'name',
    field: 'name',
    default: 'a and the Service’s UID without dashes, cut to 32 characters',
    mutable: false,
    only: 'Network',
    expects: 'at most 32 letters, digits and dashes, not beginning with internal-, and no dash at the ends',
    parse: read.matching(/^(?!internal-)(?!.{33})[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/, 'a name that AWS takes'),
  },
  {
    name: 'internal',
    field: 'spec.scheme',
    default: 'false',
    mutable: false,
    expects: 'true or false; any other text counts as true',
    parse: (text) => (text === 'false' ? 'Public' : 'Internal'),
  },
  {
    name: 'scheme',
    field: 'spec.scheme',
    default: 'internet-facing; internal for the class service.k8s.aws/nlb',
    mutable: false,
    expects: 'internet-facing or internal',
    parse: read.word({ 'internet-facing': 'Public', internal: 'Internal' }),
  },
  {
    name: 'ip-address-type',
    field: 'ipAddressType',
    default: 'dualstack where the Service has an IPv6 family, else ipv4',
    mutable: true,
    only: 'Network',
    expects: 'ipv4 or dualstack',
    parse: read.word({ ipv4: 'IPv4', dualstack: 'DualStack' }),
  },
];

const ADDRESSES: Annotation[] = [
  {
    name: 'subnets',
    field: 'subnets',
    default: 'found by tags and route tables',
    mutable: 'Classic',
    expects: 'ids or names (tag Name) of subnets, separated by commas, one for each zone',
    parse: read.list(String, SUBNETS),
  },
  {
    name: 'eip-allocations',
    field: 'eipAllocationIDs',
    default: 'AWS chooses',
    mutable: false,
    only: 'Network',
    expects: 'allocation ids such as eipalloc-0a1b2c3d, separated by commas, one for each subnet',
    parse: read.list(read.matching(/^eipalloc-[0-9a-f]+$/, 'an allocation id'), SUBNETS),
  },
  {
    name: 'private-ipv4-addresses',
    field: 'privateIPv4Addresses',
    default: 'AWS chooses',
    mutable: false,
    only: 'Network',
    expects: 'IPv4 addresses, separated by commas, one of each subnet’s range',
    parse: read.list(read.ipv4, SUBNETS),
  },
  {
    name: 'ipv6-addresses',
    field: 'ipv6Addresses',
    default: 'AWS chooses',
    mutable: false,
    only: 'Network',
    expects: 'IPv6 addresses, separated by commas, one of each subnet’s range',
    parse: read.list(read.ipv6, SUBNETS),
  },
  {
    name: 'enable-prefix-for-ipv6-source-nat',
    field: 'ipv6SourceNAT.enabled',
    default: 'off',
    mutable: true,
    only: 'Network',
    ...ON_OR_OFF,
  },
  {
    name: 'source-nat-ipv6-prefixes',
    field: 'ipv6SourceNAT.prefixes',
    default: 'auto_assigned for each subnet',
    mutable: true,
    only: 'Network',
    expects: 'auto_assigned or IPv6 prefixes of 80 bits, separated by commas, one for each subnet',
    parse: (text) => text.split(',').map((part) => read.sourcePrefix(part.trim())),
  },
];

const ATTRIBUTES: Annotation[] = [
  {
    name: 'attributes',
    field: '',
    default: 'none',
    mutable: true,
    only: 'Network',
    expects: 'attributes of the load balancer as key=value, separated by commas; the annotations below stand before them',
    parse: loadBalancerAttributes,
  },
  { name: 'cross-zone-load-balancing-enabled', field: 'crossZone', default: 'false', mutable: true, ...TRUE_OR_FALSE },
  { name: 'access-log-enabled', field: 'accessLogs.enabled', default: 'false', mutable: true, ...TRUE_OR_FALSE },
  {
    name: 'access-log-emit-interval',
    field: 'accessLogs.emitIntervalMinutes',
    default: '60',
    mutable: true,
    only: 'Classic',
    expects: '5 or 60, in minutes',
    parse: read.word({ 5: 5, 60: 60 }),
  },
  {
    name: 'access-log-s3-bucket-name',
    field: 'accessLogs.bucket',
    default: 'none',
    mutable: true,
    expects: 'the name of an S3 bucket',
    parse: read.matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'a name of a bucket'),
  },
  {
    name: 'access-log-s3-bucket-prefix',
    field: 'accessLogs.prefix',
    default: 'none',
    mutable: true,
    expects: 'at most 512 characters, such as logs/web',
    parse: read.matching(/^.{1,512}$/, 'short enough'),
  },
  {
    name: 'connection-draining-enabled',
    field: 'classic.connectionDraining',
    default: 'false',
    mutable: true,
    only: 'Classic',
    ...TRUE_OR_FALSE,
  },
  {
    name: 'connection-draining-timeout',
    field: 'classic.connectionDrainingTimeoutSeconds',
    default: '300',
    mutable: true,
    only: 'Classic',
    ...seconds(1, 3600),
  },
  {
    name: 'connection-idle-timeout',
    field: 'classic.connectionIdleTimeoutSeconds',
    default: '60',
    mutable: true,
    only: 'Classic',
    ...seconds(1, 4000),
  },
  {
    name: 'minimum-load-balancer-capacity',
    field: 'minimumCapacityUnits',
    default: 'none reserved',
    mutable: true,
    only: 'Network',
    expects: 'CapacityUnits=<a whole number>',
    parse: (text) => read.whole(0, 1_000_000)(text.replace(/^CapacityUnits=/, '')),
  },
  {
    name: 'additional-resource-tags',
    field: 'tags',
    default: 'none',
    mutable: true,
    expects: 'at most 40 tags as key=value, separated by commas; aws:, kubernetes.io/cluster/ and cloud-operator.dev/ are reserved',
    parse: read.tags,
  },
];

/** Annotations that speak of the load balancer itself. */
export const OF_LOAD_BALANCER: readonly Annotation[] = [...KIND, ...ADDRESSES, ...ATTRIBUTES];
