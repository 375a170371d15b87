import { maskedCIDR, type CloudLoadBalancerSpec } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import type { Port } from './listeners';
import { hashedName } from './names';
import { isBeyondShared } from './node-access';
import type { BackendGroupInputs } from '../resources/backend-group';
import { isGroupID, type NamedGroupsInputs } from '../resources/named-groups';
import type { SecurityGroupRuleInputs } from '../resources/security-group-rule';
import { isDualStack } from './subnet-mappings';
import { groupModeOf, type LoadBalancerScope } from '../scope';

const EVERYBODY = { IPv4: '0.0.0.0/0', IPv6: '::/0' } as const;
/** Types and codes: destination unreachable, fragmentation needed; and packet too big. */
const PATH_MTU = {
  IPv4: { ipProtocol: 'icmp', fromPort: 3, toPort: 4 },
  IPv6: { ipProtocol: 'icmpv6', fromPort: 2, toPort: 0 },
} as const;

/** The frontend group of one load balancer: who may come in. */
export interface RenderedSecurityGroup {
  /** Name in the program. */
  name: string;
  groupName: string;
  description: string;
  rules: RenderedRule[];
}

/** A load balancer's part in the cluster's backend group. */
export interface RenderedBackend {
  /** Name in the program. */
  name: string;
  settings: BackendGroupInputs;
}

export interface RenderedRule {
  /** Name in the program. */
  name: string;
  settings: Omit<SecurityGroupRuleInputs, 'securityGroupId' | 'tags'>;
}

/**
 * The group that is made for a load balancer; undefined = none, because it names its own or has none. Pure.
 */
export function renderSecurityGroup(
  base: string,
  ports: readonly Port[],
  input: LoadBalancerInput,
  scope: LoadBalancerScope,
): RenderedSecurityGroup | undefined {
  const { namespace, name, uid, spec, generation = 0 } = input;
  const own = spec.aws?.securityGroups;
  if ((own?.mode ?? groupModeOf(scope)) === 'None' || own?.groups !== undefined) return undefined;
  const group = `${base}-frontend`;
  return {
    name: group,
    groupName: hashedName(input, [scope.clusterID, uid, generation, scope.vpcID]),
    description: `Clients of the load balancer of ${namespace}/${name}`.slice(0, 255),
    rules: renderRules(group, ports, spec),
  };
}

/** Who may come in to the ports of one load balancer. @param group what the rules' names in the program begin with. Pure. */
export function renderRules(group: string, ports: readonly Port[], spec: CloudLoadBalancerSpec): RenderedRule[] {
  return sourcesOf(spec).flatMap((source) => rulesFor(group, source, ports, spec));
}

/** How many rules of one family, the one with more, the group that is made for a load balancer has: prefix lists count for both. Pure. */
export function ruleCount(spec: CloudLoadBalancerSpec, ports: readonly Port[]): number {
  const rules = renderRules('', ports, spec);
  const [onlyIPv6, onlyIPv4] = (['cidrIpv6', 'cidrIpv4'] as const).map((of) => rules.filter(({ settings }) => settings[of] !== undefined));
  return rules.length - Math.min(onlyIPv6?.length ?? 0, onlyIPv4?.length ?? 0);
}

/**
 * The part in the backend group of a load balancer with a group of its own. Pure.
 * @param base name of the load balancer in the program
 * @param ports of Nodes that it needs
 */
export function renderBackend(base: string, ports: readonly string[], { vpcID = '' }: LoadBalancerScope): RenderedBackend {
  const beyond = [...new Set(ports.filter(isBeyondShared))].sort();
  return { name: `${base}-backend`, settings: { vpcId: vpcID, frontend: `${base}-frontend`, ports: beyond } };
}

/** Groups that a load balancer names in place of its own. */
export interface RenderedGroups {
  /** Ids of those, where all are ids. */
  securityGroupIDs: string[];
  /** Those that must be looked for by name: all of them, in the author's order. */
  namedGroups?: { name: string; settings: NamedGroupsInputs };
}

/** Pure. */
export function renderGroups(base: string, named: readonly string[], { vpcID = '' }: LoadBalancerScope): RenderedGroups {
  if (named.every(isGroupID)) return { securityGroupIDs: [...named] };
  return { securityGroupIDs: [], namedGroups: { name: `${base}-groups`, settings: { vpcId: vpcID, named: [...named] } } };
}

type Source = Pick<SecurityGroupRuleInputs, 'cidrIpv4' | 'cidrIpv6' | 'prefixListId'>;

/** Nothing said = everybody, by each family that the load balancer has an address of. AWS masks a range, and takes it once. */
function sourcesOf(spec: CloudLoadBalancerSpec): Source[] {
  const lists = (spec.aws?.securityGroups?.prefixListIDs ?? []).map((prefixListId) => ({ prefixListId }));
  const ranges = [...new Set((spec.sourceRanges ?? []).map(maskedCIDR))].sort();
  const everybody = isDualStack(spec) ? [EVERYBODY.IPv4, EVERYBODY.IPv6] : [EVERYBODY.IPv4];
  if (ranges.length === 0 && lists.length === 0) return everybody.map(rangeOf);
  return [...ranges.map(rangeOf), ...lists];
}

function rangeOf(range: string): Source {
  return range.includes(':') ? { cidrIpv6: range } : { cidrIpv4: range };
}

function rulesFor(group: string, source: Source, ports: readonly Port[], { aws }: CloudLoadBalancerSpec): RenderedRule[] {
  const from = source.cidrIpv4 ?? source.cidrIpv6 ?? source.prefixListId ?? '';
  // A URN is taken apart at its double colons.
  const label = from.replaceAll(':', '_');
  const transports = ports.flatMap(({ port, protocol }) =>
    protocol
      .toLowerCase()
      .split('_')
      .map((ipProtocol) => ({ port, ipProtocol })),
  );
  const rules = transports.map(({ port, ipProtocol }) => ({
    name: `${group}-${ipProtocol}-${port}-${label}`,
    settings: { ipProtocol, fromPort: port, toPort: port, ...source },
  }));
  if (aws?.securityGroups?.pathMTUDiscovery === false) return rules;
  const tooBig = PATH_MTU[source.cidrIpv6 === undefined ? 'IPv4' : 'IPv6'];
  return [...rules, { name: `${group}-${tooBig.ipProtocol}-${label}`, settings: { ...tooBig, ...source } }];
}
