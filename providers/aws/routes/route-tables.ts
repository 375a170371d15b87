import { crc32 } from 'node:zlib';
import type { Filter, Route, RouteTable } from '@aws-sdk/client-ec2';
import type { AWSProviderSettings } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson } from '../../../operator/base/json';
import type { CallOptions } from '../../client-options';
import type { Ec2 } from '../client/ec2';
import { listedOnce } from '../client/listed-once';
import { clusterFilters } from '../tags';

/** Which table a route is in, as the program says it: by id, or the one that is tagged for the cluster. By the tag of old clusters, which alone has a value, the one with either tag is meant. */
export type RouteTableSelector = { id: string } | { tagKey: string; tagValue?: string; vpcID?: string };

/** The tables that each route goes into. Pure. */
export function selectorsOf(
  aws: Pick<AWSProviderSettings, 'routeTableIDs' | 'clusterName' | 'legacyClusterTag' | 'vpcID'>,
): RouteTableSelector[] {
  const { routeTableIDs = [], clusterName, legacyClusterTag, vpcID } = aws;
  if (routeTableIDs.length > 0) return [...routeTableIDs].sort().map((id) => ({ id }));
  if (clusterName === undefined) return [];
  const vpc = vpcID === undefined ? {} : { vpcID };
  if (legacyClusterTag) return [{ tagKey: 'KubernetesCluster', tagValue: clusterName, ...vpc }];
  return [{ tagKey: `kubernetes.io/cluster/${clusterName}`, ...vpc }];
}

/** The route tables as one update sees them: each is read once, and what the update adds is counted. */
export class RouteTables {
  private readonly found = new Map<string, Promise<RouteTable[]>>();
  /** Destinations of routes that this update makes, by table. */
  private readonly reserved = new Map<string, Set<string>>();

  constructor(private readonly ec2: Ec2) {}

  /** @throws OperatorError Invalid where none or more than one matches, naming them */
  async select(selector: RouteTableSelector, options: CallOptions): Promise<RouteTable> {
    const tables = await this.read(selector, options);
    const [table] = tables;
    if (table !== undefined && tables.length === 1) return table;
    const what = 'id' in selector ? `with the id ${selector.id}` : `tagged ${tagsOf(selector)}`;
    const ids = tables.map(({ RouteTableId }) => RouteTableId).sort();
    const remedy =
      'id' in selector ? 'Correct spec.aws.routeTableIDs' : 'Tag exactly one route table, or name them in spec.aws.routeTableIDs';
    const count = table === undefined ? `there is no route table ${what}` : `${ids.length} route tables are ${what}: ${ids.join(', ')}`;
    throw new OperatorError('Invalid', `${count}. ${remedy} of the CloudProvider`, { field: 'spec.aws.routeTableIDs', remedy });
  }

  /** Reads it anew where this update has changed it, or may have. */
  forget(): void {
    this.found.clear();
  }

  /**
   * Counts one more route in, before anything is written for it.
   * @throws OperatorError Quota with the figures when the table is full
   */
  reserve(table: RouteTable, destination: string, limit: number): void {
    const { RouteTableId: id = '' } = table;
    const reserved = this.reserved.get(id) ?? new Set<string>();
    this.reserved.set(id, reserved);
    const isIPv6 = destination.includes(':');
    const own = (table.Routes ?? []).filter(({ Origin }) => Origin === 'CreateRoute').map(destinationOf);
    const taken = new Set([...own, ...reserved].filter((one) => one.includes(':') === isIPv6));
    if (taken.has(destination)) return;
    if (taken.size >= limit) {
      const family = isIPv6 ? 'IPv6' : 'IPv4';
      const remedy =
        'Ask for a higher quota of routes per route table under Service Quotas, and set spec.aws.routesPerTable of the CloudProvider to it';
      throw new OperatorError(
        'Quota',
        `route table ${id} has ${taken.size} of ${limit} ${family} routes: no room for ${destination}. ${remedy}`,
        {
          remedy,
        },
      );
    }
    reserved.add(destination);
  }

  private read(selector: RouteTableSelector, options: CallOptions): Promise<RouteTable[]> {
    const key = canonicalJson(selector);
    const reading = this.found.get(key) ?? tablesFor(this.ec2, selector, options);
    this.found.set(key, reading);
    reading.catch(() => this.found.delete(key));
    return reading;
  }
}

/** Pure. */
export function destinationOf({ DestinationCidrBlock, DestinationIpv6CidrBlock, DestinationPrefixListId }: Route): string {
  return DestinationCidrBlock ?? DestinationIpv6CidrBlock ?? DestinationPrefixListId ?? '';
}

/** Pure. */
export function routeTo({ Routes = [] }: RouteTable, destination: string): Route | undefined {
  return Routes.find((route) => destinationOf(route) === destination);
}

/** Where a route leads, in words. Pure. */
export function nextHopOf(route: Route): string {
  const hop =
    route.NetworkInterfaceId ??
    route.InstanceId ??
    route.GatewayId ??
    route.NatGatewayId ??
    route.TransitGatewayId ??
    route.VpcPeeringConnectionId ??
    'another target';
  return route.InstanceId !== undefined && hop !== route.InstanceId ? `${hop} of ${route.InstanceId}` : hop;
}

/** The official provider's id of a route. Pure. */
export function routeID(routeTableID: string, destination: string): string {
  return `r-${routeTableID}${crc32(destination)}`;
}

/** The table in the id of a route. Ids of tables have eight or seventeen hexadecimal digits, and more digits follow: both may be meant. Pure. */
export function tablesOf(id: string): string[] {
  return [8, 17].flatMap((length) => new RegExp(`^r-(rtb-[0-9a-f]{${length}})[0-9]+$`).exec(id)?.[1] ?? []);
}

/** The tables that are meant: one, if all is right. */
export function tablesFor(ec2: Ec2, selector: RouteTableSelector, options: CallOptions): Promise<RouteTable[]> {
  return listedOnce(
    listingsOf(selector),
    (filters) => ec2.routeTables(filters, options),
    ({ RouteTableId }) => RouteTableId,
  );
}

/** The filters of each listing that may find the table. Pure. */
function listingsOf(selector: RouteTableSelector): Filter[][] {
  if ('id' in selector) return [[{ Name: 'route-table-id', Values: [selector.id] }]];
  const { tagKey, tagValue, vpcID } = selector;
  const tags = tagValue === undefined ? [{ Name: 'tag-key', Values: [tagKey] }] : clusterFilters(tagValue, true);
  return tags.map((tag) => [tag, ...(vpcID === undefined ? [] : [{ Name: 'vpc-id', Values: [vpcID] }])]);
}

function tagsOf({ tagKey, tagValue }: { tagKey: string; tagValue?: string }): string {
  return tagValue === undefined ? tagKey : `${tagKey}=${tagValue} or kubernetes.io/cluster/${tagValue}`;
}
