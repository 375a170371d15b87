import type { Filter, Instance as Ec2Instance, InstanceNetworkInterface } from '@aws-sdk/client-ec2';
import type { Instance, Instances, NodeAddress } from '../provider';
import { chunks } from './client/chunks';
import type { Ec2 } from './client/ec2';

/** The most values of one filter. */
const FILTER_VALUES = 200;
const ZONE_ID_LABEL = 'topology.k8s.aws/zone-id';

export type IpFamily = 'IPv4' | 'IPv6';

/** Which instances are looked at, and how they are described. */
export interface InstanceScope {
  region: string;
  /** The cluster's name in tags; absent = all instances of the VPC. */
  clusterName?: string;
  /** The tag is the old `KubernetesCluster=<name>`. */
  legacyClusterTag?: boolean;
  vpcID?: string;
  /** Families of addresses, in the order in which they are written. */
  nodeIPFamilies: readonly IpFamily[];
}

/** Instances of EC2 that could be Nodes of one cluster: those tagged for it, else those of its VPC. */
export class AwsInstances implements Instances {
  /** Zone ids by zone name, which never change: asked for where an instance does not say its own. */
  private zoneIDs: Promise<Map<string, string>> | undefined;

  constructor(
    private readonly ec2: Ec2,
    private readonly scope: InstanceScope,
  ) {}

  async list(): Promise<Instance[]> {
    return this.describeAll(await this.ec2.instances(filtersOf(this.scope)));
  }

  /** Those of the given ids that there are. They are asked for by a filter, which passes over an id that is gone; naming it would fail the call. */
  async byIDs(ids: readonly string[]): Promise<Instance[]> {
    const found: Ec2Instance[] = [];
    for (const batch of chunks([...new Set(ids)], FILTER_VALUES)) {
      found.push(...(await this.ec2.instances([{ Name: 'instance-id', Values: batch }])));
    }
    return this.describeAll(found);
  }

  private async describeAll(found: Ec2Instance[]): Promise<Instance[]> {
    const asks = found.some(({ Placement }) => Placement?.AvailabilityZone !== undefined && Placement.AvailabilityZoneId === undefined);
    const zoneIDs = asks ? await this.zones() : new Map<string, string>();
    return found.map((instance) => describe(instance, this.scope, zoneIDs));
  }

  private zones(): Promise<Map<string, string>> {
    this.zoneIDs ??= this.ec2
      .availabilityZones()
      .then((zones) => new Map(zones.map(({ ZoneName = '', ZoneId = '' }) => [ZoneName, ZoneId])));
    this.zoneIDs.catch(() => (this.zoneIDs = undefined));
    return this.zoneIDs;
  }
}

/** The filters that find a cluster's instances. Pure. */
export function filtersOf({ clusterName, legacyClusterTag = false, vpcID }: InstanceScope): Filter[] {
  const vpc = vpcID === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcID] }];
  if (clusterName === undefined) return vpc;
  const tag = legacyClusterTag
    ? { Name: 'tag:KubernetesCluster', Values: [clusterName] }
    : { Name: 'tag-key', Values: [`kubernetes.io/cluster/${clusterName}`] };
  return [tag, ...vpc];
}

/** Upstream's reading of a state: only `stopped` is shut down, only `terminated` does not exist (contract 4; providers 2.1). */
function stateOf(name: string | undefined): Instance['state'] {
  if (name === 'terminated') return 'Terminated';
  return name === 'stopped' ? 'Stopped' : 'Running';
}

/**
 * An instance as the loops see it. Pure.
 * @param zoneIDs by zone name, where the instance does not say its own
 */
export function describe(instance: Ec2Instance, scope: InstanceScope, zoneIDs: ReadonlyMap<string, string> = new Map()): Instance {
  const { InstanceId: id = '', InstanceType: type = '', PrivateDnsName = '', Placement = {} } = instance;
  const zone = Placement.AvailabilityZone ?? '';
  const zoneID = Placement.AvailabilityZoneId ?? zoneIDs.get(zone);
  return {
    id,
    providerID: `aws:///${zone}/${id}`,
    names: [PrivateDnsName, id].filter((name) => name !== ''),
    state: stateOf(instance.State?.Name),
    type,
    zone,
    region: scope.region,
    addresses: addressesOf(instance, scope.nodeIPFamilies),
    ...(zoneID !== undefined && zoneID !== '' && { additionalLabels: { [ZONE_ID_LABEL]: zoneID } }),
  };
}

/**
 * Addresses in upstream's order: for each family, those of the interfaces in use in the order of their devices; with IPv4 also the public
 * address and the names. Pure.
 */
export function addressesOf(instance: Ec2Instance, families: readonly IpFamily[]): NodeAddress[] {
  const interfaces = (instance.NetworkInterfaces ?? [])
    .filter(({ Status }) => Status === undefined || Status === 'in-use')
    .sort((a, b) => deviceOf(a) - deviceOf(b));
  return families.flatMap((family) => (family === 'IPv6' ? ipv6AddressesOf(interfaces) : ipv4AddressesOf(instance, interfaces)));
}

function ipv4AddressesOf(instance: Ec2Instance, interfaces: InstanceNetworkInterface[]): NodeAddress[] {
  const addresses: NodeAddress[] = interfaces
    .flatMap(({ PrivateIpAddresses = [] }) => PrivateIpAddresses)
    .map(({ PrivateIpAddress = '' }) => ({ type: 'InternalIP', address: PrivateIpAddress }));
  const { PublicIpAddress = '', PrivateDnsName = '', PublicDnsName = '' } = instance;
  addresses.push(
    { type: 'ExternalIP', address: PublicIpAddress },
    { type: 'InternalDNS', address: PrivateDnsName },
    { type: 'Hostname', address: PrivateDnsName },
    { type: 'ExternalDNS', address: PublicDnsName },
  );
  return addresses.filter(({ address }) => address !== '');
}

/** The first of each interface. */
function ipv6AddressesOf(interfaces: InstanceNetworkInterface[]): NodeAddress[] {
  return interfaces.flatMap(({ Ipv6Addresses = [] }): NodeAddress[] => {
    const address = Ipv6Addresses[0]?.Ipv6Address;
    return address === undefined ? [] : [{ type: 'InternalIP', address }];
  });
}

function deviceOf({ Attachment }: InstanceNetworkInterface): number {
  return Attachment?.DeviceIndex ?? Number.MAX_SAFE_INTEGER;
}
