import type { NodeRule } from './node-rule';
import { rulesForPorts } from './node-rules';

type Family = 'IPv4' | 'IPv6';

/** Everybody, of IPv4 as upstream writes it. */
export const EVERYBODY: Readonly<Record<Family, string>> = { IPv4: '0.0.0.0/0', IPv6: '::/0' };
/** Types and codes: destination unreachable, fragmentation needed; and packet too big. */
const PATH_MTU = {
  IPv4: { protocol: 'icmp', from: 3, to: 4 },
  IPv6: { protocol: 'icmpv6', from: 2, to: 0 },
} as const;

/** Who comes to the Nodes through a load balancer that has no security group. */
export interface Demand {
  /** By which the load balancer comes to the Nodes; absent = IPv4. All ranges are of it. */
  family?: Family | undefined;
  /** Ranges of clients, and prefix lists. */
  clients: readonly string[];
  /** Ports of Nodes that clients come to, such as tcp/30080. */
  ports: readonly string[];
  /** Ports of Nodes that are checked. */
  checks: readonly string[];
  /** Ranges of the load balancer's subnets: health checks come from there. */
  subnets: readonly string[];
  /** Clients come with the load balancer's addresses too, not with their own. */
  hidesClients: boolean;
  pathMTU: boolean;
}

/**
 * Upstream's rules for one load balancer (providers 2.1): its clients and the ICMP message of path MTU discovery from where they are, and health
 * checks from its subnets. AWS knows a rule by protocol, ports and source alone, so what is wanted twice is one rule, and that of clients stands first.
 * A health check that everybody may do is no rule of its own. Pure.
 */
export function clientRules(demand: Demand): NodeRule[] {
  const { family = 'IPv4', clients, ports, checks, subnets, hidesClients, pathMTU } = demand;
  const sources = [...new Set([...clients, ...(hidesClients ? subnets : [])])];
  const ofClients = rulesForPorts(ports).flatMap((at) => sources.map((source): NodeRule => ({ ...at, source, kind: 'client' })));
  const open = new Set(ofClients.filter(({ source }) => source === EVERYBODY[family]).map(({ protocol, from }) => `${protocol}/${from}`));
  const ofChecks = rulesForPorts(checks.filter((check) => !open.has(check))).flatMap((at) =>
    subnets.map((source): NodeRule => ({ ...at, source, kind: 'health' })),
  );
  const mtu = pathMTU ? sources.map((source): NodeRule => ({ ...PATH_MTU[family], source, kind: 'mtu' })) : [];
  return distinct([...ofClients, ...ofChecks, ...mtu]);
}

/** The first of those with one place. */
function distinct(rules: readonly NodeRule[]): NodeRule[] {
  const byPlace = new Map<string, NodeRule>();
  for (const rule of rules) {
    const place = `${rule.protocol} ${rule.from} ${rule.to} ${rule.source}`;
    if (!byPlace.has(place)) byPlace.set(place, rule);
  }
  return [...byPlace.values()];
}
