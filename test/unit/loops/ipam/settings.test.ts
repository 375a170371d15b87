import { formatCidr } from '../../../../operator/loops/cidr';
import { type NodeCidrFlags, parseNodeCidrs } from '../../../../operator/loops/ipam/settings';

const FLAGS: NodeCidrFlags = {
  clusterCidr: '10.0.0.0/16',
  serviceRanges: '',
  mask: 0,
  maskIPv4: 0,
  maskIPv6: 0,
  allocatorType: 'RangeAllocator',
};
const DUAL = '10.0.0.0/16,2001:db8::/56';

test.each<[string, Partial<NodeCidrFlags>, string[]]>([
  ['IPv4: 24', {}, ['10.0.0.0/16 24']],
  ['IPv6: 64', { clusterCidr: '2001:db8::/56' }, ['2001:db8::/56 64']],
  ['dual-stack, in the order given', { clusterCidr: '2001:db8::/56, 10.0.0.0/16' }, ['2001:db8::/56 64', '10.0.0.0/16 24']],
  ['one mask', { mask: 26 }, ['10.0.0.0/16 26']],
  ['one of the family', { maskIPv4: 25 }, ['10.0.0.0/16 25']],
  ['two masks', { clusterCidr: DUAL, maskIPv4: 25, maskIPv6: 72 }, ['10.0.0.0/16 25', '2001:db8::/56 72']],
])('ranges: %s', (_name, changes, wanted) => {
  const { ranges } = parseNodeCidrs({ ...FLAGS, ...changes });
  expect(ranges.map(({ cluster, nodeMask }) => `${formatCidr(cluster)} ${nodeMask}`)).toEqual(wanted);
});

test('service ranges: both are kept, and what can’t be read is left out', () => {
  const { services, unreadable } = parseNodeCidrs({ ...FLAGS, serviceRanges: '10.0.1.0/24,x' });
  expect([services.map(formatCidr), unreadable]).toEqual([['10.0.1.0/24'], ['x']]);
  expect(parseNodeCidrs({ ...FLAGS, serviceRanges: '10.0.1.0/24,fd00::/108' }).services).toHaveLength(2);
});

test.each<[Partial<NodeCidrFlags>, string]>([
  [{ clusterCidr: '' }, 'Controller: Must specify --cluster-cidr if --allocate-node-cidrs is set'],
  [{ clusterCidr: '10.0.0.0/16,x' }, 'invalid CIDR[1]: <nil> (invalid CIDR address: x)'],
  [
    { clusterCidr: '10.0.0.0/16,10.1.0.0/16' },
    'len of ClusterCIDRs==2 and they are not configured as dual stack (at least one from each IPFamily',
  ],
  [{ clusterCidr: `${DUAL},10.1.0.0/16` }, 'len of clusters is:3 > more than max allowed of 2'],
  [{ serviceRanges: '10.1.0.0/24,fd00::/108,10.2.0.0/24' }, '--service-cluster-ip-range can not contain more than two entries'],
  [{ serviceRanges: '10.1.0.0/24,10.2.0.0/24' }, 'serviceCIDR and secondaryServiceCIDR are not dualstack (from different IPfamiles)'],
  [{ clusterCidr: DUAL, mask: 24 }, 'usage of --node-cidr-mask-size is not allowed with dual-stack clusters'],
  [
    { mask: 24, maskIPv4: 24 },
    'usage of --node-cidr-mask-size-ipv4 and --node-cidr-mask-size-ipv6 is not allowed if --node-cidr-mask-size is set. For dual-stack clusters please unset it and use IPFamily specific flags',
  ],
  [{ clusterCidr: '2001:db8::/56', maskIPv4: 24 }, 'usage of --node-cidr-mask-size-ipv4 is not allowed for a single-stack IPv6 cluster'],
  [{ maskIPv6: 64 }, 'usage of --node-cidr-mask-size-ipv6 is not allowed for a single-stack IPv4 cluster'],
  [
    { mask: 15 },
    'Controller: Invalid --cluster-cidr, mask size of cluster CIDR must be less than or equal to --node-cidr-mask-size configured for CIDR family',
  ],
  [{ clusterCidr: '2001:db8::/47' }, 'New CIDR set failed; the node CIDR size is too big'],
  [{ mask: 33 }, 'a node CIDR mask size of 33 is longer than an address of 10.0.0.0/16; set --node-cidr-mask-size'],
  [{ allocatorType: 'CloudAllocator' }, 'invalid CIDR allocator type: CloudAllocator'],
  [{ allocatorType: 'IPAMFromCloud' }, 'Error trying to Init(): legacy cloud provider support disabled at build time'],
  [{ allocatorType: 'IPAMFromCluster' }, 'Error trying to Init(): legacy cloud provider support disabled at build time'],
])('%j: %s', (changes, message) => {
  expect(() => parseNodeCidrs({ ...FLAGS, ...changes })).toThrow(message);
});
