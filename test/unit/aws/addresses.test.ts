import type { Address, NetworkInterface, Subnet } from '@aws-sdk/client-ec2';
import { OperatorError } from '../../../operator/base/errors';
import { addresses, type AddressesInputs } from '../../../providers/aws/resources/addresses';
import { TAG } from '../../../providers/aws/tags';

const REGION = 'eu-central-1';
const CLUSTER = 'cluster-a';
const context = { urn: 'urn:edge-addresses', name: 'edge-addresses', signal: new AbortController().signal };

/** In the zone that its last letter names. */
function subnet(name: string, more: Partial<Subnet> = {}): Subnet {
  const number = name.charCodeAt(0) - 'a'.charCodeAt(0);
  const range = { CidrBlock: `10.0.${number}.0/24`, AvailableIpAddressCount: 100 };
  return { SubnetId: `subnet-0${name}`, VpcId: 'vpc-1', AvailabilityZone: `${REGION}${name.at(-1)}`, ...range, ...more };
}

const SUBNETS = [
  subnet('a', { Ipv6CidrBlockAssociationSet: [{ Ipv6CidrBlock: '2001:db8::/64', Ipv6CidrBlockState: { State: 'associated' } }] }),
  subnet('b'),
  subnet('ca'),
  subnet('d', { AvailableIpAddressCount: 7 }),
];

interface Account {
  /** Subnets of the load balancer, where it is there. */
  standsIn: string[];
  /** What a listing of a moment ago does not have yet. */
  fresh?: string;
  /** What such a listing has, and is gone. */
  gone?: string;
  /** What an allocation is on. */
  on: Record<string, Partial<Address>>;
  interfaces: NetworkInterface[];
  /** Tags of load balancers, by their names. */
  balancers: Record<string, Record<string, string>>;
  calls: string[];
}

function resource({ standsIn, fresh, gone, on, interfaces, balancers, calls }: Account): ReturnType<typeof addresses> {
  const ec2 = {
    addresses: ([{ Values = [] } = {}]: { Values?: string[] }[]) => {
      calls.push('addresses');
      const there = Values.filter((id) => id !== 'eipalloc-0f');
      return Promise.resolve(there.map((AllocationId) => ({ AllocationId, PublicIp: '198.51.100.7', ...on[AllocationId] })));
    },
    networkInterfaces: ([{ Values = [] } = {}]: { Values?: string[] }[]) => {
      calls.push(`interfaces ${Values.join()}`);
      return Promise.resolve(interfaces.filter(({ NetworkInterfaceId = '' }) => Values.includes(NetworkInterfaceId)));
    },
  };
  const elb = {
    loadBalancers: ({ Names: [name = ''] }: { Names: string[] }) => {
      calls.push(`load balancer ${name}`);
      if (balancers[name] !== undefined) return Promise.resolve([{ LoadBalancerArn: name }]);
      if (standsIn.length === 0) return Promise.reject(new OperatorError('NotFound', 'gone'));
      return Promise.resolve([{ AvailabilityZones: standsIn.map((SubnetId) => ({ SubnetId })) }]);
    },
    tagsOf: (arn: string) => Promise.resolve(balancers[arn]),
  };
  const vpcs = {
    now: () => 1,
    subnets: (_vpc: string, since?: number) =>
      Promise.resolve(SUBNETS.filter(({ SubnetId }) => SubnetId !== (since === undefined ? fresh : gone))),
    routeTables: () => Promise.resolve([]),
  };
  return addresses({ ec2, elb } as unknown as Parameters<typeof addresses>[0], vpcs, { region: REGION, clusterID: CLUSTER });
}

const account = (more: Partial<Account> = {}): Account => ({ standsIn: [], on: {}, interfaces: [], balancers: {}, calls: [], ...more });

type Asked = Omit<AddressesInputs, 'subnetMappings'> & { subnetMappings: Record<string, string>[] };

function asked(mappings: Record<string, Record<string, string>>, dualStack = false): Asked {
  const subnetMappings = Object.entries(mappings).map(([name, of]) => ({ subnetId: `subnet-0${name}`, ...of }));
  return { vpcId: 'vpc-1', loadBalancer: 'edge', dualStack, subnetMappings };
}

const EIP = { allocationId: 'eipalloc-0a' };

test.each<[string, Asked, Partial<Account>]>([
  ['Elastic IPs', asked({ a: EIP, b: { allocationId: 'eipalloc-0b' } }), {}],
  ['addresses of the subnets', asked({ a: { privateIpv4Address: '10.0.0.9', ipv6Address: '2001:db8::9' } }, true), {}],
  ['a subnet that was made a moment ago', asked({ a: EIP, b: {} }), { fresh: 'subnet-0b' }],
  ['a full subnet in which it is by now', asked({ d: EIP }), { standsIn: ['subnet-0d'] }],
])('fine, in a plan and in the update: %s', async (_what, inputs, more) => {
  const type = resource(account(more));
  expect(await type.create(inputs, context)).toEqual({
    id: inputs.subnetMappings.map(({ subnetId }) => subnetId).join(),
    outputs: inputs,
  });
  expect(await type.foresee?.(inputs, context)).toEqual({});
});

test.each<[string, Asked, string, RegExp]>([
  ['a subnet that is not there', asked({ a: EIP, e: {} }), 'spec.aws.subnets', /no subnet with the id or name "subnet-0e"/],
  ['two of one zone', asked({ a: EIP, ca: {} }), 'spec.aws.subnets', /both in zone eu-central-1a/],
  ['a full one', asked({ d: EIP }), 'spec.aws.subnets', /fewer than 8 free addresses/],
  ['one without an IPv6 range', asked({ b: EIP }, true), 'spec.aws.subnets', /no IPv6 range/],
  [
    'an allocation that is not there',
    asked({ a: EIP, b: { allocationId: 'eipalloc-0f' } }),
    'spec.aws.eipAllocationIDs',
    /allocation eipalloc-0f /,
  ],
  [
    'an address of another subnet',
    asked({ a: { privateIpv4Address: '10.0.0.9' }, b: { privateIpv4Address: '10.0.0.10' } }),
    'spec.aws.privateIPv4Addresses',
    /10\.0\.0\.10 is in no range of subnet-0b/,
  ],
  [
    'an IPv6 one',
    asked({ a: { ipv6Address: '2001:db8:1::9' } }, true),
    'spec.aws.ipv6Addresses',
    /2001:db8:1::9 is in no range of subnet-0a/,
  ],
])('refused, in a plan and in the update: %s', async (_what, inputs, field, message) => {
  const refusal = { code: 'Invalid', field, message: expect.stringMatching(message) as string, resource: context.urn };
  await expect(resource(account()).create(inputs, context)).rejects.toMatchObject(refusal);
  await expect(resource(account()).foresee?.(inputs, context)).rejects.toMatchObject(refusal);
});

test('a subnet that went a moment ago is refused', async () => {
  const inputs = asked({ a: EIP, b: {} });
  const refusal = { code: 'Invalid', field: 'spec.aws.subnets', message: expect.stringContaining('subnet-0b') as string };
  await expect(resource(account({ gone: 'subnet-0b' })).create(inputs, context)).rejects.toMatchObject(refusal);
  await expect(resource(account({ gone: 'subnet-0b' })).foresee?.(inputs, context)).rejects.toMatchObject(refusal);
});

/** The address is on an interface that AWS describes so. */
function onInterface(Description: string, more: Partial<NetworkInterface> = {}): Partial<Account> {
  return { on: { 'eipalloc-0a': { NetworkInterfaceId: 'eni-0a' } }, interfaces: [{ NetworkInterfaceId: 'eni-0a', Description, ...more }] };
}

const OURS = { [TAG.clusterID]: CLUSTER, [TAG.stack]: 'lb-web', [TAG.owner]: 'shop/web' };

describe('an Elastic IP address that is on something', () => {
  test.each<[string, Partial<Account>, string]>([
    ['an instance', { on: { 'eipalloc-0a': { InstanceId: 'i-0a', NetworkInterfaceId: 'eni-0a' } } }, 'instance i-0a'],
    ['an interface of an instance', onInterface('', { Attachment: { InstanceId: 'i-0b' } }), 'instance i-0b'],
    ['a NAT gateway', onInterface('Interface for NAT Gateway nat-0123abc'), 'NAT gateway nat-0123abc'],
    ['an interface of its own', onInterface('bastion'), 'network interface eni-0a (bastion)'],
    [
      'another controller’s load balancer',
      {
        ...onInterface('ELB net/theirs/0a'),
        balancers: { theirs: { 'kubernetes.io/service-name': 'a/b', 'kubernetes.io/cluster/x': 'owned' } },
      },
      'load balancer theirs, which belongs to another controller: Service a/b, cluster x',
    ],
    [
      'a load balancer that was let go of',
      { ...onInterface('ELB net/kept/0a'), balancers: { kept: { ...OURS, [TAG.released]: 'true' } } },
      'load balancer kept, which belongs to nobody: it was released by shop/web',
    ],
    [
      'another cluster’s load balancer',
      { ...onInterface('ELB net/far/0a'), balancers: { far: { ...OURS, [TAG.clusterID]: 'cluster-b' } } },
      'load balancer far, which belongs to shop/web (stack lb-web, cluster cluster-b)',
    ],
  ])('is refused in a plan and before anything is made: %s', async (_what, on, holder) => {
    const message = `eipalloc-0a (198.51.100.7) is on ${holder}`;
    const refusal = { code: 'Taken', field: 'spec.aws.eipAllocationIDs', message: expect.stringContaining(message) as string };
    const inputs = asked({ a: EIP, b: { allocationId: 'eipalloc-0b' } });
    await expect(resource(account(on)).foresee?.(inputs, context)).rejects.toMatchObject(refusal);
    await expect(resource(account(on)).create(inputs, context)).rejects.toMatchObject({ ...refusal, resource: context.urn });
  });

  test('all that are taken are told at once, and what to do', async () => {
    const on = { 'eipalloc-0a': { InstanceId: 'i-0a' }, 'eipalloc-0b': { InstanceId: 'i-0b' } };
    const inputs = asked({ a: EIP, b: { allocationId: 'eipalloc-0b' } });
    const message = /eipalloc-0a .* is on instance i-0a; eipalloc-0b .* is on instance i-0b\. Take them off there, or name others/;
    await expect(resource(account({ on })).create(inputs, context)).rejects.toMatchObject({
      message: expect.stringMatching(message) as string,
    });
  });

  test.each<[string, Partial<Account>]>([
    ['a load balancer of this cluster’s, which may be about to go', { ...onInterface('ELB net/old/0a'), balancers: { old: OURS } }],
    ['a load balancer that is gone, of which AWS lets go in a minute or two', onInterface('ELB net/gone/0a')],
    ['an interface that is gone', { on: { 'eipalloc-0a': { NetworkInterfaceId: 'eni-0a' } } }],
  ])('is left to AWS where it is on %s', async (_what, on) => {
    await expect(resource(account(on)).create(asked({ a: EIP }), context)).resolves.toBeDefined();
  });
});

test('only what is asked for is looked up, and another place is another choice', async () => {
  const of = account();
  const type = resource(of);
  await type.create(asked({ a: { privateIpv4Address: '10.0.0.9' } }), context);
  expect(of.calls).toEqual([]);
  await type.create(asked({ a: EIP }), context);
  expect(of.calls).toEqual(['addresses']);
  expect(type.replaceOn).toEqual(['vpcId', 'subnetMappings']);
});

test('an update looks at nothing again, in a plan as when it is carried out', async () => {
  const of = account();
  const inputs = asked({ a: EIP, e: {} });
  expect(await resource(of).foresee?.(inputs, context, inputs)).toEqual({});
  expect(of.calls).toEqual([]);
});
