import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { IPFamily } from '../../../crds';

/** A rule of a security group as Azure writes it; what is not looked at here stays as it is. */
export interface SecurityRule {
  name: string;
  properties: SecurityRuleProperties;
}

export interface SecurityRuleProperties {
  priority: number;
  direction: 'Inbound' | 'Outbound';
  access: 'Allow' | 'Deny';
  protocol: 'Tcp' | 'Udp' | '*';
  sourcePortRange?: string;
  sourceAddressPrefix?: string;
  sourceAddressPrefixes?: string[];
  destinationAddressPrefix?: string;
  destinationAddressPrefixes?: string[];
  destinationPortRange?: string;
  destinationPortRanges?: string[];
}

/** What a load balancer needs of the security group: some ports of some addresses for some sources. */
export interface WantedRule {
  access: 'Allow' | 'Deny';
  family: IPFamily;
  protocol: 'Tcp' | 'Udp' | '*';
  /** CIDRs of the family; a service tag is a source by itself. */
  sources: string[];
  /** Absent = all, for access Deny. */
  ports?: number[];
  /** Addresses of the family. */
  destinations: string[];
}

/** What stands before the names of upstream's rules, and of ours, which are the same. */
export const RULE_PREFIX = 'k8s-azure-lb_';

/** Upstream's name of a rule: by all that it is of but its destinations, so that Services share it (providers 2.2). Pure. */
export function ruleNameOf({ access, family, protocol, sources, ports = [] }: Omit<WantedRule, 'destinations'>): string {
  if (access === 'Deny') return `${RULE_PREFIX}deny-all_${family}`;
  const of = [protocol, [...sources].sort().join(','), ports.map(String).sort().join(',')].join('_');
  return `${RULE_PREFIX}allow_${family}_${createHash('md5').update(of).digest('hex')}`;
}

/** Destinations of a rule, in whichever of the two forms. Pure. */
export function destinationsOf({ destinationAddressPrefix, destinationAddressPrefixes = [] }: SecurityRuleProperties): string[] {
  return inEitherForm(destinationAddressPrefix, destinationAddressPrefixes);
}

/** Sources of a rule, in whichever of the two forms. Pure. */
export function sourcesOf({ sourceAddressPrefix, sourceAddressPrefixes = [] }: SecurityRuleProperties): string[] {
  return inEitherForm(sourceAddressPrefix, sourceAddressPrefixes);
}

/** Ports of a rule, in whichever of the two forms; undefined = all. Pure. */
export function portsOf({ destinationPortRange, destinationPortRanges = [] }: SecurityRuleProperties): string[] | undefined {
  const all = inEitherForm(destinationPortRange, destinationPortRanges);
  return all.includes('*') ? undefined : all;
}

/** Azure says one by itself, and several in a list. */
function inEitherForm(only: string | undefined, several: readonly string[]): string[] {
  return [...(only === undefined || only === '' ? [] : [only]), ...several];
}

/** Destinations as Azure wants them: one by itself, several in a list; each once, in order. Pure. */
export function asDestinations(
  addresses: readonly string[],
): Pick<SecurityRuleProperties, 'destinationAddressPrefix' | 'destinationAddressPrefixes'> {
  const all = [...new Set(addresses)].sort();
  const [only, ...more] = all;
  return only !== undefined && more.length === 0 ? { destinationAddressPrefix: only } : { destinationAddressPrefixes: all };
}

/** The family of an address or a CIDR. Pure. */
export function familyOf(address: string): IPFamily {
  return isIP(address.split('/')[0] ?? '') === 6 ? 'IPv6' : 'IPv4';
}
