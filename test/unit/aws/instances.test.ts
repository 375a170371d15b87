import type { Filter, Instance } from '@aws-sdk/client-ec2';
import type { Ec2 } from '../../../providers/aws/client/ec2';
import {
  addressesOf,
  AwsInstances,
  describe as describeInstance,
  listingsOf,
  type InstanceScope,
} from '../../../providers/aws/nodes/instances';
import { describeFargate } from '../../../providers/aws/nodes/fargate';
import { fargateAddressOf, instanceIDOf, isBareInstanceID, isFargate, machineOf } from '../../../providers/aws/nodes/provider-id';
import { labelsOf } from '../../../providers/aws/nodes/topology';

const FARGATE = 'aws:///eu-central-1a/0a1b2c3d/fargate-ip-10-0-1-10.eu-central-1.compute.internal';

const SCOPE: InstanceScope = { region: 'eu-central-1', nodeIPFamilies: ['IPv4'] };

const INSTANCE: Instance = {
  InstanceId: 'i-0a1b2c3d4e5f60718',
  InstanceType: 'm7g.large',
  State: { Name: 'running' },
  Placement: { AvailabilityZone: 'eu-central-1b' },
  PrivateDnsName: 'ip-10-0-1-10.eu-central-1.compute.internal',
  PublicDnsName: 'ec2-203-0-113-7.eu-central-1.compute.amazonaws.com',
  PublicIpAddress: '203.0.113.7',
  NetworkInterfaces: [
    {
      Status: 'in-use',
      Attachment: { DeviceIndex: 1 },
      PrivateIpAddresses: [{ PrivateIpAddress: '10.0.2.20' }],
      Ipv6Addresses: [{ Ipv6Address: '2001:db8::20' }],
    },
    { Status: 'detaching', Attachment: { DeviceIndex: 2 }, PrivateIpAddresses: [{ PrivateIpAddress: '10.0.3.30' }] },
    {
      Status: 'in-use',
      Attachment: { DeviceIndex: 0 },
      PrivateIpAddresses: [{ PrivateIpAddress: '10.0.1.10' }, { PrivateIpAddress: '10.0.1.11' }],
      Ipv6Addresses: [{ Ipv6Address: '2001:db8::10' }, { Ipv6Address: '2001:db8::11' }],
    },
  ],
};

const IPV4 = [
  { type: 'InternalIP', address: '10.0.1.10' },
  { type: 'InternalIP', address: '10.0.1.11' },
  { type: 'InternalIP', address: '10.0.2.20' },
  { type: 'ExternalIP', address: '203.0.113.7' },
  { type: 'InternalDNS', address: 'ip-10-0-1-10.eu-central-1.compute.internal' },
  { type: 'Hostname', address: 'ip-10-0-1-10.eu-central-1.compute.internal' },
  { type: 'ExternalDNS', address: 'ec2-203-0-113-7.eu-central-1.compute.amazonaws.com' },
];
const IPV6 = [
  { type: 'InternalIP', address: '2001:db8::10' },
  { type: 'InternalIP', address: '2001:db8::20' },
];

describe('instances of EC2', () => {
  test('addresses come in the order of devices, without interfaces that are not in use', () => {
    expect(addressesOf(INSTANCE, ['IPv4'])).toEqual(IPV4);
  });

  test('families come in the configured order; of IPv6 each interface gives its first address', () => {
    expect(addressesOf(INSTANCE, ['IPv6', 'IPv4'])).toEqual([...IPV6, ...IPV4]);
    expect(addressesOf(INSTANCE, ['IPv4', 'IPv6'])).toEqual([...IPV4, ...IPV6]);
    expect(addressesOf(INSTANCE, ['IPv6'])).toEqual(IPV6);
  });

  test('an instance without public address has no empty ones', () => {
    const types = addressesOf({ ...INSTANCE, PublicIpAddress: undefined, PublicDnsName: '' }, ['IPv4']).map(({ type }) => type);
    expect(types).toEqual(['InternalIP', 'InternalIP', 'InternalIP', 'InternalDNS', 'Hostname']);
    expect(addressesOf({ InstanceId: 'i-1' }, ['IPv4', 'IPv6'])).toEqual([]);
  });

  test('what a Node needs is there', () => {
    expect(describeInstance(INSTANCE, SCOPE, { zoneIDs: new Map([['eu-central-1b', 'euc1-az3']]) })).toMatchObject({
      id: 'i-0a1b2c3d4e5f60718',
      providerID: 'aws:///eu-central-1b/i-0a1b2c3d4e5f60718',
      names: ['ip-10-0-1-10.eu-central-1.compute.internal', 'i-0a1b2c3d4e5f60718'],
      state: 'Running',
      type: 'm7g.large',
      zone: 'eu-central-1b',
      region: 'eu-central-1',
      additionalLabels: { 'topology.k8s.aws/zone-id': 'euc1-az3' },
    });
    const own = { ...INSTANCE, Placement: { AvailabilityZone: 'eu-central-1b', AvailabilityZoneId: 'euc1-az2' } };
    expect(describeInstance(own, SCOPE).additionalLabels).toEqual({ 'topology.k8s.aws/zone-id': 'euc1-az2' });
    expect(describeInstance(INSTANCE, SCOPE)).not.toHaveProperty('additionalLabels');
  });

  test.each([
    ['pending', 'Running'],
    ['running', 'Running'],
    ['shutting-down', 'Running'],
    ['stopping', 'Running'],
    ['stopped', 'Stopped'],
    ['terminated', 'Terminated'],
  ] as const)('%s is read as %s, as upstream does', (name, state) => {
    expect(describeInstance({ ...INSTANCE, State: { Name: name } }, SCOPE).state).toBe(state);
  });

  test('they are found by the cluster’s tag, else by the VPC', () => {
    const byTag = { Name: 'tag-key', Values: ['kubernetes.io/cluster/prod'] };
    const vpc = { Name: 'vpc-id', Values: ['vpc-1'] };
    expect(listingsOf({ ...SCOPE, clusterName: 'prod' })).toEqual([[byTag]]);
    expect(listingsOf({ ...SCOPE, clusterName: 'prod', legacyClusterTag: true, vpcID: 'vpc-1' })).toEqual([
      [byTag, vpc],
      [{ Name: 'tag:KubernetesCluster', Values: ['prod'] }, vpc],
    ]);
    expect(listingsOf({ ...SCOPE, vpcID: 'vpc-1' })).toEqual([[vpc]]);
  });
});

describe('many instances', () => {
  const ids = Array.from({ length: 450 }, (_, at) => `i-${String(at).padStart(8, '0')}`);
  const providerIDs = ids.map((id) => `aws:///eu-central-1b/${id}`);
  const gone = ids[250];
  let filters: Filter[][];
  const ec2 = {
    instances: (asked: Filter[]) => {
      filters.push(asked);
      const there = (asked[0]?.Values ?? []).filter((id) => id !== gone);
      return Promise.resolve(there.map((InstanceId) => ({ InstanceId, VpcId: 'vpc-1', State: { Name: 'running' } })));
    },
  } as unknown as Ec2;
  const instances = new AwsInstances(ec2, SCOPE);

  beforeEach(() => {
    filters = [];
  });

  test.each<[string, () => Promise<unknown[]>]>([
    ['named by their Nodes', () => instances.named([...providerIDs, ...providerIDs])],
    ['that are to be targets', () => instances.takeable([...ids, ...ids], 'vpc-1')],
  ])(
    '%s are asked for in batches of as many as a filter takes, each once; one that is gone keeps no other of its batch out',
    async (_what, ask) => {
      const found = (await ask()).map((one) => (typeof one === 'string' ? one : (one as { id: string }).id));
      expect(found).toEqual(ids.filter((id) => id !== gone));
      expect(filters.map((asked) => asked.map(({ Name, Values }) => [Name, Values?.length]))).toEqual(
        [200, 200, 50].map((count) => [['instance-id', count]]),
      );
    },
  );
});

describe('providerIDs of AWS', () => {
  test.each([
    ['aws:///eu-central-1a/i-0a1b2c3d', 'i-0a1b2c3d'],
    ['aws:////i-0a1b2c3d', 'i-0a1b2c3d'],
    ['i-0a1b2c3d', 'i-0a1b2c3d'],
    ['', undefined],
    ['local:///zone/i-0a1b2c3d', undefined],
    ['aws://i-0a1b2c3d', undefined],
    ['aws:///a/b/i-0a1b2c3d', undefined],
    ['aws:///eu-central-1a/mi-0a1b2c3d', undefined],
    [FARGATE, undefined],
  ])('%s', (providerID, id) => {
    expect(instanceIDOf(providerID)).toBe(id);
  });

  test('a Fargate Node is told apart', () => {
    expect(isFargate(FARGATE)).toBe(true);
    expect(isFargate('aws:///eu-central-1a/i-0a1b2c3d')).toBe(false);
  });

  test.each([
    [FARGATE, '10.0.1.10'],
    ['aws:///eu-central-1a/0a1b2c3d/fargate-10.0.1.10', '10.0.1.10'],
    ['aws:///eu-central-1a/0a1b2c3d/fargate-ip-10-0-1.eu-central-1.compute.internal', undefined],
    ['aws:///eu-central-1a/i-0a1b2c3d', undefined],
  ])('the address of %s is %s', (providerID, address) => {
    expect(fargateAddressOf(providerID)).toBe(address);
  });

  test.each([
    ['aws:///eu-central-1a/i-0a1b2c3d', 'i-0a1b2c3d'],
    ['aws:////i-0a1b2c3d', 'i-0a1b2c3d'],
    ['i-0a1b2c3d', 'i-0a1b2c3d'],
    ['aws:///eu-central-1-ham-1a/i-0a1b2c3d', 'i-0a1b2c3d'],
    [FARGATE, '10.0.1.10'],
    ['aws:///eu-west-1a/i-0a1b2c3d', undefined],
    ['aws:///eu-central-1a/somebody', undefined],
    ['aws:///eu-central-1a/0a1b2c3d/fargate-x', undefined],
  ])('of %s, eu-central-1 knows the machine %s', (providerID, machine) => {
    expect(machineOf(providerID, 'eu-central-1')).toBe(machine);
  });

  test('a bare id is one of AWS, and nothing else is', () => {
    expect(['i-0a1b2c3d', 'aws:////i-0a1b2c3d', 'node-1', ''].map(isBareInstanceID)).toEqual([true, false, false, false]);
  });
});

describe('Fargate Nodes', () => {
  const INTERFACE = {
    NetworkInterfaceId: 'eni-1',
    AvailabilityZone: 'eu-central-1a',
    Attachment: { Status: 'attached' as const },
    PrivateIpAddress: '10.0.1.10',
    PrivateDnsName: 'ip-10-0-1-10.eu-central-1.compute.internal',
    Ipv6Addresses: [{ Ipv6Address: '2001:db8::10' }],
  };
  const scope = { region: 'eu-central-1', zoneIDs: new Map([['eu-central-1a', 'euc1-az2']]) };
  const DNS = { type: 'InternalDNS', address: INTERFACE.PrivateDnsName };

  test('they are what their network interface is; without one they are gone', () => {
    const gone = FARGATE.replace('10-0-1-10', '10-0-1-11');
    const leaving = { ...INTERFACE, Attachment: { Status: 'detaching' as const } };
    expect(describeFargate([FARGATE], [leaving], { ...scope, nodeIPFamilies: ['IPv4'] })).toEqual([]);
    expect(describeFargate([FARGATE, gone], [INTERFACE], { ...scope, nodeIPFamilies: ['IPv4'] })).toEqual([
      {
        ...{ id: 'eni-1', providerID: FARGATE, names: [], state: 'Running', type: '', zone: 'eu-central-1a', region: 'eu-central-1' },
        addresses: [{ type: 'InternalIP', address: '10.0.1.10' }, DNS],
        additionalLabels: { 'topology.k8s.aws/zone-id': 'euc1-az2' },
      },
    ]);
  });

  test('families come in the configured order', () => {
    const [both] = describeFargate([FARGATE], [INTERFACE], { ...scope, nodeIPFamilies: ['IPv6', 'IPv4'] });
    const internal = (address: string) => ({ type: 'InternalIP', address });
    expect(both?.addresses).toEqual([internal('2001:db8::10'), DNS, internal('10.0.1.10'), DNS]);
  });
});

test('each layer of the network is a label', () => {
  expect(labelsOf({ NetworkNodes: ['nn-1', 'nn-2'] })).toEqual({
    'topology.k8s.aws/network-node-layer-1': 'nn-1',
    'topology.k8s.aws/network-node-layer-2': 'nn-2',
  });
  expect(labelsOf(undefined)).toEqual({});
});
