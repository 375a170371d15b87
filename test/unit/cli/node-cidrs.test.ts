import { nodeCidrsOf } from '../../../operator/cli/operator-options';
import { parseFlags } from '../../../operator/flags/parse';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';

function nodeCidrs(...args: string[]): ReturnType<typeof nodeCidrsOf> {
  return nodeCidrsOf(parseFlags(FLAGS, args).values as FlagValues);
}

const ON = ['--allocate-node-cidrs', '--cluster-cidr=2001:db8::/48,10.0.0.0/8'];

test('node IPAM is off without its flag, and without its controller', () => {
  expect(nodeCidrs('--cluster-cidr=10.0.0.0/8')).toBeUndefined();
  expect(nodeCidrs(...ON, '--controllers=*,-nodeipam')).toBeUndefined();
});

test('every flag of node IPAM counts', () => {
  const settings = nodeCidrs(
    ...ON,
    '--node-cidr-mask-size-ipv4=25',
    '--node-cidr-mask-size-ipv6=60',
    '--service-cluster-ip-range=10.1.0.0/16',
  );
  expect(settings?.ranges.map(({ cluster, nodeMask }) => [cluster.prefix, nodeMask])).toEqual([
    [48, 60],
    [8, 25],
  ]);
  expect(settings?.services.map(({ prefix }) => prefix)).toEqual([16]);
  expect(() => nodeCidrs(...ON, '--node-cidr-mask-size=24')).toThrow(
    'usage of --node-cidr-mask-size is not allowed with dual-stack clusters',
  );
  expect(() => nodeCidrs(...ON, '--cidr-allocator-type=CloudAllocator')).toThrow('invalid CIDR allocator type: CloudAllocator');
});

test('more than two service ranges are refused also where no Node gets anything', () => {
  expect(() => nodeCidrs('--service-cluster-ip-range=10.0.0.0/16,fd00::/108,10.1.0.0/16')).toThrow(
    '--service-cluster-ip-range can not contain more than two entries',
  );
});
