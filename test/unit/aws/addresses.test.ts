import type { Subnet } from '@aws-sdk/client-ec2';
import { OperatorError } from '../../../operator/base/errors';
import { addresses, type AddressesInputs } from '../../../providers/aws/resources/addresses';

const REGION = 'eu-central-1';
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
  calls: string[];
}

function resource({ standsIn, fresh, gone, calls }: Account): ReturnType<typeof addresses> {
  const ec2 = {
    addresses: ([{ Values = [] } = {}]: { Values?: string[] }[]) => {
      calls.push('addresses');
      return Promise.resolve(Values.filter((id) => id !== 'eipalloc-0f').map((AllocationId) => ({ AllocationId })));
    },
  };
  const elb = {
    loadBalancers: ({ Names }: { Names: string[] }) => {
      calls.push(`load balancer ${Names.join()}`);
      if (standsIn.length === 0) return Promise.reject(new OperatorError('NotFound', 'gone'));
      return Promise.resolve([{ AvailabilityZones: standsIn.map((SubnetId) => ({ SubnetId })) }]);
    },
  };
  const vpcs = {
    now: () => 1,
    subnets: (_vpc: string, since?: number) =>
      Promise.resolve(SUBNETS.filter(({ SubnetId }) => SubnetId !== (since === undefined ? fresh : gone))),
    routeTables: () => Promise.resolve([]),
  };
  return addresses({ ec2, elb } as unknown as Parameters<typeof addresses>[0], vpcs, REGION);
}

const account = (more: Partial<Account> = {}): Account => ({ standsIn: [], calls: [], ...more });

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
