import { OperatorError } from '../../base/errors';
import { type Cidr, formatCidr, parseCidr } from '../cidr';

/** The flags of node IPAM, as they were given (contract 6.1); a mask of 0 = the family's default. */
export interface NodeCidrFlags {
  clusterCidr: string;
  serviceRanges: string;
  mask: number;
  maskIPv4: number;
  maskIPv6: number;
  allocatorType: string;
}

/** What the flags of node IPAM mean. */
export interface NodeCidrSettings {
  /** In the order of `--cluster-cidr`: a Node's podCIDRs have the same. */
  ranges: { cluster: Cidr; nodeMask: number }[];
  /** Of Services: no Node gets what lies in them. */
  services: Cidr[];
  /** Service ranges that can't be read, and are left out, as upstream does. */
  unreadable: string[];
}

const DEFAULT_MASKS = { IPv4: 24, IPv6: 64 };
const ADDRESS_BITS = { IPv4: 32, IPv6: 128 };
/** Contract 6.1: an IPv6 range may have 2^16 blocks at most. */
const MAX_IPV6_BITS = 16;
const LEGACY_TYPES = ['IPAMFromCluster', 'IPAMFromCloud'];

/** @throws OperatorError Invalid in upstream's words (contract 6.1) on more than two entries */
export function splitServiceRanges(text: string): string[] {
  const ranges = text.split(',');
  if (ranges.length > 2) throw new OperatorError('Invalid', '--service-cluster-ip-range can not contain more than two entries');
  return ranges.map((range) => range.trim()).filter((range) => range !== '');
}

/** @throws OperatorError Invalid in upstream's words when the flags can't be used together (contract 6.1) */
export function parseNodeCidrs(flags: NodeCidrFlags): NodeCidrSettings {
  const clusters = clusterCidrs(flags.clusterCidr);
  const ranges = splitServiceRanges(flags.serviceRanges);
  const services = ranges.map(parseCidr).filter((cidr) => cidr !== undefined);
  if (services.length === 2 && services[0]?.family === services[1]?.family) {
    throw invalid('serviceCIDR and secondaryServiceCIDR are not dualstack (from different IPfamiles)');
  }
  checkMaskFlags(flags, clusters);
  const settings = { ranges: clusters.map((cluster) => ({ cluster, nodeMask: nodeMaskOf(flags, cluster) })), services };
  settings.ranges.forEach(checkMask);
  checkType(flags.allocatorType);
  return { ...settings, unreadable: ranges.filter((range) => parseCidr(range) === undefined) };
}

function clusterCidrs(text: string): Cidr[] {
  if (text.trim() === '') throw invalid('Controller: Must specify --cluster-cidr if --allocate-node-cidrs is set');
  const cidrs = text.split(',').map((one, index) => {
    const cidr = parseCidr(one.trim());
    if (cidr === undefined) throw invalid(`invalid CIDR[${index}]: <nil> (invalid CIDR address: ${one.trim()})`);
    return cidr;
  });
  if (cidrs.length > 1 && new Set(cidrs.map(({ family }) => family)).size < 2) {
    throw invalid(`len of ClusterCIDRs==${cidrs.length} and they are not configured as dual stack (at least one from each IPFamily`);
  }
  if (cidrs.length > 2) throw invalid(`len of clusters is:${cidrs.length} > more than max allowed of 2`);
  return cidrs;
}

function checkMaskFlags({ mask, maskIPv4, maskIPv6 }: NodeCidrFlags, clusters: readonly Cidr[]): void {
  if (clusters.length > 1) {
    if (mask !== 0) throw invalid('usage of --node-cidr-mask-size is not allowed with dual-stack clusters');
    return;
  }
  const family = clusters[0]?.family;
  if (mask !== 0 && (maskIPv4 !== 0 || maskIPv6 !== 0)) {
    throw invalid(
      'usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size is set. For dual-stack clusters please unset it and use IPFamily specific flags',
    );
  }
  if (maskIPv4 !== 0 && family === 'IPv6')
    throw invalid('usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster');
  if (maskIPv6 !== 0 && family === 'IPv4')
    throw invalid('usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster');
}

function nodeMaskOf({ mask, maskIPv4, maskIPv6 }: NodeCidrFlags, { family }: Cidr): number {
  return mask || (family === 'IPv4' ? maskIPv4 : maskIPv6) || DEFAULT_MASKS[family];
}

function checkMask({ cluster, nodeMask }: NodeCidrSettings['ranges'][number]): void {
  if (cluster.prefix > nodeMask) {
    throw invalid(
      'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family',
    );
  }
  if (cluster.family === 'IPv6' && nodeMask - cluster.prefix > MAX_IPV6_BITS) {
    throw invalid('New CIDR set failed; the node CIDR size is too big');
  }
  if (nodeMask > ADDRESS_BITS[cluster.family]) {
    throw invalid(`a node CIDR mask size of ${nodeMask} is longer than an address of ${formatCidr(cluster)}; set --node-cidr-mask-size`);
  }
}

/** Contract 6.1: only one of the four works. */
function checkType(type: string): void {
  if (type === 'RangeAllocator') return;
  if (LEGACY_TYPES.includes(type)) throw invalid('Error trying to Init(): legacy cloud provider support disabled at build time');
  throw invalid(`invalid CIDR allocator type: ${type}`);
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
