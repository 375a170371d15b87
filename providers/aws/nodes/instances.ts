import type { Filter, Instance as Ec2Instance, InstanceNetworkInterface } from '@aws-sdk/client-ec2';
import type { Instance, Instances, NodeAddress, NodeMachines } from '../../provider';
import { chunks, FILTER_VALUES } from '../client/chunks';
import { listedOnce } from '../client/listed-once';
import type { Ec2 } from '../client/ec2';
import { describeFargate } from './fargate';
import { tagNodes, type NodeTagScope } from './node-tags';
import { fargateAddressOf, instanceIDOf, machineOf } from './provider-id';
import { NetworkTopology } from './topology';
import { clusterFilters } from '../tags';

export const ZONE_ID_LABEL = 'topology.k8s.aws/zone-id';

export type IpFamily = 'IPv4' | 'IPv6';

/** Which instances are looked at, and how they are described. */
export interface InstanceScope {
  region: string;
  /** The cluster's name in tags; absent = all instances of the VPC. */
  clusterName?: string;
  /** The tag may be the old `KubernetesCluster=<name>`. */
  legacyClusterTag?: boolean;
  vpcID?: string;
  /** Families of addresses, in the order in which they are written. */
  nodeIPFamilies: readonly IpFamily[];
  /** A regular expression of the instance types whose network topology is asked for; absent = upstream's. */
  topologyInstanceTypes?: string;
}

/**
 * Instances of EC2 that could be Nodes of one cluster: those tagged for it, else those of its VPC. A Node whose machine is another one, for example
 * an instance without the tag or one of Fargate, names it.
 */
export class AwsInstances implements Instances {
  /** Zone ids by zone name, which never change: asked for where an instance does not say its own. */
  private zoneIDs: Promise<Map<string, string>> | undefined;
  private readonly topology: NetworkTopology;
  readonly tagNodes?: NonNullable<Instances['tagNodes']>;

  /**
   * @param tags that Nodes' instances are to have; absent = nobody looks at them
   * @param listed gets every listing of all, so that nobody lists them once more
   */
  constructor(
    private readonly ec2: Ec2,
    private readonly scope: InstanceScope,
    tags?: NodeTagScope,
    private readonly listed?: (found: readonly Ec2Instance[]) => void,
  ) {
    this.topology = new NetworkTopology(ec2, scope.topologyInstanceTypes);
    if (tags !== undefined) this.tagNodes = (machines, isValid) => this.tag(machines, { ...tags, isValid });
  }

  async list(): Promise<Instance[]> {
    return this.describeAll(await this.all(), 'All');
  }

  identify(providerID: string): string | undefined {
    return machineOf(providerID, this.scope.region);
  }

  async named(providerIDs: readonly string[]): Promise<Instance[]> {
    const ids = providerIDs.map(instanceIDOf).filter((id) => id !== undefined);
    const fargate = providerIDs.filter((providerID) => fargateAddressOf(providerID) !== undefined);
    return (await Promise.all([this.byIDs(ids), this.ofFargate(fargate)])).flat();
  }

  /** Those of the given ids that there are. They are asked for by a filter, which passes over an id that is gone; naming it would fail the call. */
  async byIDs(ids: readonly string[]): Promise<Instance[]> {
    return this.describeAll(await this.found(ids), 'Named');
  }

  /**
   * Those of the given ids that load balancers take as targets: in the VPC, and running at this moment. Nodes of instances that are about to start
   * or stop count as running elsewhere.
   * @param family by which they are reached: by IPv6 only at an address that stays theirs
   */
  async takeable(ids: readonly string[], vpcID: string | undefined, family: IpFamily = 'IPv4'): Promise<string[]> {
    const found = await this.found(ids);
    return found
      .filter(({ State, VpcId }) => State?.Name === 'running' && (vpcID === undefined || VpcId === vpcID))
      .filter((instance) => family === 'IPv4' || hasPrimaryIPv6(instance))
      .map(({ InstanceId = '' }) => InstanceId);
  }

  private async all(): Promise<Ec2Instance[]> {
    const found = await instancesOf(this.ec2, this.scope);
    this.listed?.(found);
    return found;
  }

  private async found(ids: readonly string[]): Promise<Ec2Instance[]> {
    const found: Ec2Instance[] = [];
    for (const batch of chunks([...new Set(ids)], FILTER_VALUES)) {
      found.push(...(await this.ec2.instances([{ Name: 'instance-id', Values: batch }])));
    }
    return found;
  }

  private async tag(machines: NodeMachines, how: NodeTagScope & { isValid: () => boolean }): Promise<number> {
    return tagNodes(this.ec2, machines, { ...how, listed: await this.all() });
  }

  /** A Fargate Node is there as long as its network interface is. */
  private async ofFargate(providerIDs: readonly string[]): Promise<Instance[]> {
    const found: Instance[] = [];
    const { vpcID } = this.scope;
    for (const batch of chunks(providerIDs, FILTER_VALUES)) {
      const addresses = batch.map((providerID) => fargateAddressOf(providerID) ?? '');
      const interfaces = await this.ec2.networkInterfaces([
        { Name: 'private-ip-address', Values: [...new Set(addresses)] },
        ...(vpcID === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcID] }]),
      ]);
      const zoneIDs = interfaces.length === 0 ? new Map<string, string>() : await this.zones();
      found.push(...describeFargate(batch, interfaces, { ...this.scope, zoneIDs }));
    }
    return found;
  }

  private async describeAll(found: Ec2Instance[], of: 'All' | 'Named'): Promise<Instance[]> {
    const asks = found.some(({ Placement }) => Placement?.AvailabilityZone !== undefined && Placement.AvailabilityZoneId === undefined);
    const zoneIDs = asks ? await this.zones() : new Map<string, string>();
    const topology = await this.topology.labelsOf(found, of);
    return found.map((instance) => describe(instance, this.scope, { zoneIDs, topology }));
  }

  private zones(): Promise<Map<string, string>> {
    this.zoneIDs ??= this.ec2
      .availabilityZones()
      .then((zones) => new Map(zones.map(({ ZoneName = '', ZoneId = '' }) => [ZoneName, ZoneId])));
    this.zoneIDs.catch(() => (this.zoneIDs = undefined));
    return this.zoneIDs;
  }
}

function hasPrimaryIPv6({ NetworkInterfaces = [] }: Ec2Instance): boolean {
  return NetworkInterfaces.some(({ Ipv6Addresses = [] }) => Ipv6Addresses.some(({ IsPrimaryIpv6 }) => IsPrimaryIpv6 === true));
}

/** A cluster's instances. */
export function instancesOf(ec2: Ec2, scope: InstanceScope): Promise<Ec2Instance[]> {
  return listedOnce(
    listingsOf(scope),
    (filters) => ec2.instances(filters),
    ({ InstanceId }) => InstanceId,
  );
}

/** The filters of each listing that finds some of a cluster's instances. Pure. */
export function listingsOf({ clusterName, legacyClusterTag, vpcID }: InstanceScope): Filter[][] {
  const vpc = vpcID === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcID] }];
  if (clusterName === undefined) return [vpc];
  return clusterFilters(clusterName, legacyClusterTag).map((filter) => [filter, ...vpc]);
}

/** Upstream's reading of a state: only `stopped` is shut down, only `terminated` does not exist (contract 4; providers 2.1). */
function stateOf(name: string | undefined): Instance['state'] {
  if (name === 'terminated') return 'Terminated';
  return name === 'stopped' ? 'Stopped' : 'Running';
}

/** What is known of instances beside what they say themselves. */
export interface InstanceFacts {
  /** By zone name, where an instance does not say its own. */
  zoneIDs?: ReadonlyMap<string, string>;
  /** Labels of the network topology, by instance id. */
  topology?: ReadonlyMap<string, Record<string, string>>;
}

/** An instance as the loops see it. Pure. */
export function describe(instance: Ec2Instance, scope: InstanceScope, facts: InstanceFacts = {}): Instance {
  const { InstanceId: id = '', InstanceType: type = '', PrivateDnsName = '', Placement = {} } = instance;
  const zone = Placement.AvailabilityZone ?? '';
  const labels = labelsOf(instance, facts);
  return {
    id,
    providerID: `aws:///${zone}/${id}`,
    names: [PrivateDnsName, id].filter((name) => name !== ''),
    state: stateOf(instance.State?.Name),
    type,
    zone,
    region: scope.region,
    addresses: addressesOf(instance, scope.nodeIPFamilies),
    ...(Object.keys(labels).length > 0 && { additionalLabels: labels }),
  };
}

function labelsOf({ InstanceId: id = '', Placement }: Ec2Instance, { zoneIDs, topology }: InstanceFacts): Record<string, string> {
  const zoneID = Placement?.AvailabilityZoneId ?? zoneIDs?.get(Placement?.AvailabilityZone ?? '') ?? '';
  return { ...(zoneID !== '' && { [ZONE_ID_LABEL]: zoneID }), ...topology?.get(id) };
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
