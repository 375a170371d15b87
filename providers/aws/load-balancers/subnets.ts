import type { Problem } from '../../provider';

export type ZoneType = 'availability-zone' | 'local-zone' | 'wavelength-zone' | 'outpost';

/** A subnet as DescribeSubnets has it. */
export interface Subnet {
  id: string;
  vpcID: string;
  zone: string;
  /** Only `availability-zone` is one that load balancers are made in unasked. */
  zoneType: ZoneType;
  tags: Readonly<Record<string, string>>;
  availableAddresses: number;
  /** Whether it has an IPv6 range. */
  hasIPv6: boolean;
}

/** A route table as DescribeRouteTables has it. */
export interface RouteTable {
  id: string;
  /** Subnets that are associated with it by name. */
  subnetIDs: string[];
  /** The VPC's main table is that of all subnets that are associated with none. */
  isMain: boolean;
  /** Gateway ids of its routes. */
  gatewayIDs: string[];
}

/** What a load balancer asks of its subnets. */
export interface SubnetWish {
  /** In tags; absent = the cluster has no name, and every subnet counts as its own. */
  clusterName?: string;
  scheme: 'Public' | 'Internal';
  /** Ids, or values of the tag Name. */
  named?: readonly string[];
  /** Where nothing is named or tagged. */
  fallbackID?: string;
  dualStack?: boolean;
  /** How many addresses were asked for, where some were. */
  addresses?: number;
  /** Ids of those that it is in by now, which need no room for it. */
  standsIn?: readonly string[];
}

/** Subnets in the order of their zones (of the names, where they are named), or why there are none. */
export type SubnetChoice = { subnets: Subnet[] } | { problem: Problem };

const CLUSTER_TAG = 'kubernetes.io/cluster/';
const ROLES = { Public: 'kubernetes.io/role/elb', Internal: 'kubernetes.io/role/internal-elb' } as const;
/** AWS takes eight addresses of each subnet. */
const LEAST_ADDRESSES = 8;

/**
 * Chooses the subnets of a load balancer, one for each zone (providers 2.1, Subnets). Pure.
 * Named ones are taken as they are. Else those of the cluster are looked at: tagged for it, or for no cluster at all; for a public load balancer
 * only those whose route table leads to an internet gateway; local and wavelength zones never. Of several in a zone the one with the role's tag is
 * preferred, then the one tagged for the cluster, then the one with the lowest id.
 */
export function chooseSubnets(all: readonly Subnet[], tables: readonly RouteTable[], wish: SubnetWish): SubnetChoice {
  const chosen = wish.named === undefined ? discover(all, tables, wish) : pickNamed(all, wish.named);
  if ('problem' in chosen) return chosen;
  return withoutFaults(chosen.subnets, wish);
}

/** True when what is in the subnet is reached from the internet: its route table has a route to an internet gateway. Pure. */
export function isPublic(subnetID: string, tables: readonly RouteTable[]): boolean {
  const table = tables.find(({ subnetIDs }) => subnetIDs.includes(subnetID)) ?? tables.find(({ isMain }) => isMain);
  return table?.gatewayIDs.some((id) => id.startsWith('igw-')) ?? false;
}

function pickNamed(all: readonly Subnet[], named: readonly string[]): SubnetChoice {
  const subnets: Subnet[] = [];
  for (const name of named) {
    const matching = all.filter(({ id, tags }) => id === name || tags.Name === name);
    if (matching.length === 0) {
      return refusal(name, `there is no subnet with the id or name "${name}" in the VPC. Correct it; there are ${listOf(all)}.`);
    }
    if (matching.length > 1)
      return refusal(name, `several subnets are called "${name}": ${listOf(matching)}. Write the id of the one that is meant.`);
    subnets.push(...matching);
  }
  const twin = subnets.find(({ zone }, index) => subnets.findIndex((other) => other.zone === zone) !== index);
  if (twin === undefined) return { subnets };
  const pair = subnets.filter(({ zone }) => zone === twin.zone);
  return refusal(
    named.join(', '),
    `${listOf(pair)} are both in zone ${twin.zone}, and a load balancer has one subnet in each zone. Remove one of them.`,
  );
}

function discover(all: readonly Subnet[], tables: readonly RouteTable[], wish: SubnetWish): SubnetChoice {
  const candidates = all.filter((subnet) => isOfCluster(subnet, wish) && subnet.zoneType === 'availability-zone');
  const reachable = wish.scheme === 'Internal' ? candidates : candidates.filter(({ id }) => isPublic(id, tables));
  if (reachable.length > 0) return { subnets: onePerZone(reachable, wish) };
  const fallback = all.find(({ id }) => id === wish.fallbackID);
  return fallback === undefined ? refusal('', nothingFound(all, candidates, wish)) : { subnets: [fallback] };
}

function isOfCluster({ tags }: Subnet, { clusterName }: SubnetWish): boolean {
  if (clusterName === undefined || isTagged(tags, clusterName)) return true;
  return !Object.keys(tags).some((key) => key.startsWith(CLUSTER_TAG));
}

function isTagged(tags: Subnet['tags'], clusterName: string | undefined): boolean {
  return clusterName !== undefined && tags[CLUSTER_TAG + clusterName] !== undefined;
}

function onePerZone(subnets: readonly Subnet[], { clusterName, scheme }: SubnetWish): Subnet[] {
  const rank = ({ tags }: Subnet): number => (tags[ROLES[scheme]] === undefined ? 2 : 0) + (isTagged(tags, clusterName) ? 0 : 1);
  const best = [...subnets].sort((a, b) => rank(a) - rank(b) || compare(a.id, b.id));
  const zones = [...new Set(best.map(({ zone }) => zone))].sort(compare);
  return zones.flatMap((wanted) => best.filter(({ zone }) => zone === wanted).slice(0, 1));
}

function withoutFaults(subnets: Subnet[], wish: SubnetWish): SubnetChoice {
  const full = subnets.filter(({ id, availableAddresses }) => availableAddresses < LEAST_ADDRESSES && wish.standsIn?.includes(id) !== true);
  if (full.length > 0) {
    const message = `${listOf(full)} has fewer than ${LEAST_ADDRESSES} free addresses, which AWS asks for. Free some, or name other subnets.`;
    return refusal(full.map(({ id }) => id).join(', '), message);
  }
  const problem = misfitOf(subnets, wish);
  return problem === undefined ? { subnets } : { problem };
}

/** Why a load balancer can't be in these subnets as it is wished for, whether it is there by now or not. Pure. */
export function misfitOf(subnets: readonly Subnet[], { dualStack = false, addresses }: SubnetWish): Problem | undefined {
  const withoutIPv6 = dualStack ? subnets.filter(({ hasIPv6 }) => !hasIPv6) : [];
  if (withoutIPv6.length > 0) {
    const message = `${listOf(withoutIPv6)} has no IPv6 range, which a dual-stack load balancer needs. Give it one, name other subnets, or ask for IPv4 only.`;
    return refusal(withoutIPv6.map(({ id }) => id).join(', '), message).problem;
  }
  if (addresses === undefined || addresses === subnets.length) return undefined;
  const message = `there must be one address for each subnet: these are ${addresses} for ${subnets.length} subnets (${listOf(subnets)}). Name as many subnets as addresses.`;
  return refusal(subnets.map(({ id }) => id).join(', '), message).problem;
}

/** Says what was looked for and what stood in the way, the last step first. */
function nothingFound(all: readonly Subnet[], candidates: readonly Subnet[], { clusterName, scheme }: SubnetWish): string {
  const role = ROLES[scheme];
  const tags = clusterName === undefined ? role : `${CLUSTER_TAG}${clusterName} and ${role}`;
  const remedy = `Tag one subnet of each zone with ${tags}, or name subnets in spec.aws.subnets.`;
  if (all.length === 0) return `the VPC has no subnets. ${remedy}`;
  if (candidates.length > 0) {
    return `a public load balancer needs subnets whose route table has a route to an internet gateway, and ${listOf(candidates)} has none. Add the route, make the load balancer internal, or name subnets in spec.aws.subnets.`;
  }
  const elsewhere = all.filter((subnet) => subnet.zoneType !== 'availability-zone');
  const reason =
    elsewhere.length === all.length
      ? 'all are in local or wavelength zones'
      : `each is tagged for another cluster, or in a local or wavelength zone (${listOf(all)})`;
  return `no subnet of the VPC can be used: ${reason}. ${remedy}`;
}

function refusal(value: string, message: string): { problem: Problem } {
  return { problem: { severity: 'Error', field: 'spec.aws.subnets', value, message } };
}

const MOST_NAMED = 8;

function listOf(subnets: readonly Subnet[]): string {
  const names = subnets.map(({ id, tags }) => (tags.Name === undefined ? id : `${id} (${tags.Name})`));
  const more = names.length - MOST_NAMED;
  return more > 0 ? `${names.slice(0, MOST_NAMED).join(', ')} and ${more} more` : names.join(', ');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
