import type { Instance } from '@aws-sdk/client-ec2';
import { addressesOf, describe as describeInstance, filtersOf, type InstanceScope } from '../../../providers/aws/instances';
import { instanceIDOf, isFargate } from '../../../providers/aws/provider-id';

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
    expect(describeInstance(INSTANCE, SCOPE, new Map([['eu-central-1b', 'euc1-az3']]))).toMatchObject({
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
    expect(filtersOf({ ...SCOPE, clusterName: 'prod' })).toEqual([{ Name: 'tag-key', Values: ['kubernetes.io/cluster/prod'] }]);
    expect(filtersOf({ ...SCOPE, clusterName: 'prod', legacyClusterTag: true, vpcID: 'vpc-1' })).toEqual([
      { Name: 'tag:KubernetesCluster', Values: ['prod'] },
      { Name: 'vpc-id', Values: ['vpc-1'] },
    ]);
    expect(filtersOf({ ...SCOPE, vpcID: 'vpc-1' })).toEqual([{ Name: 'vpc-id', Values: ['vpc-1'] }]);
  });
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
    ['aws:///eu-central-1a/0a1b2c3d/fargate-ip-10-0-1-10.eu-central-1.compute.internal', undefined],
  ])('%s', (providerID, id) => {
    expect(instanceIDOf(providerID)).toBe(id);
  });

  test('a Fargate Node is told apart', () => {
    expect(isFargate('aws:///eu-central-1a/0a1b2c3d/fargate-ip-10-0-1-10.eu-central-1.compute.internal')).toBe(true);
    expect(isFargate('aws:///eu-central-1a/i-0a1b2c3d')).toBe(false);
  });
});
