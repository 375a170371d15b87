import type { AzureLoadBalancer, CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import { hasFloatingIP } from '../load-balancers/rules';
import { familyOf, type WantedRule } from './security-rule';

const INTERNET = 'Internet';
const EVERYBODY = ['0.0.0.0/0', '::/0'];
const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

/** What decides the rules of a load balancer. */
export type AccessSpec = Pick<CloudLoadBalancerSpec, 'listeners' | 'sourceRanges' | 'scheme'> & {
  azure?: Pick<AzureLoadBalancer, 'access' | 'floatingIP' | 'allPorts'> | undefined;
};

/**
 * The rules that let clients in to a load balancer. A narrower source never stands beside everybody (cloud-provider-azure#337); an internal load
 * balancer lets the internet in only where its ranges say so; whoever is in the virtual network is let in by Azure's own rule, unless it is denied. Pure.
 * @param destinations what Nodes see: the frontend's addresses, or their own where floating IP is off
 * @param ofOthers addresses that are none of its additional ones, whatever it says
 */
export function wantedRules(spec: AccessSpec, destinations: readonly string[], ofOthers: readonly string[] = []): WantedRule[] {
  const access = spec.azure?.access ?? {};
  if (access.rules === 'None') return [];
  const { serviceTags: tags = [], additionalAddresses = [], denyOthers = false } = access;
  const ranges = access.ranges ?? spec.sourceRanges ?? [];
  const named = tags.length === 0 && isOpen(spec, ranges) ? [INTERNET] : tags;
  const all = [...destinations, ...additionalAddresses.filter((address) => !ofOthers.includes(address))];
  return FAMILIES.flatMap((family) => {
    const own = all.filter((address) => familyOf(address) === family);
    if (own.length === 0) return [];
    const within = ranges.filter((range) => familyOf(range) === family);
    const sources = [...named.map((tag) => [tag]), ...(within.length > 0 ? [within] : [])];
    return [
      ...portsOf(spec, family).flatMap(({ protocol, ports }) =>
        sources.map((from): WantedRule => ({ access: 'Allow', family, protocol, sources: from, ports, destinations: own })),
      ),
      ...(denyOthers && ranges.length > 0 ? [denyAll(family, own)] : []),
    ];
  });
}

/** Everybody: nothing was said, or everybody was named; of an internal one only the latter. */
function isOpen({ scheme }: AccessSpec, ranges: readonly string[]): boolean {
  const isNamed = ranges.some((range) => EVERYBODY.includes(range));
  return ranges.length === 0 ? scheme === 'Public' : isNamed;
}

function denyAll(family: IPFamily, destinations: string[]): WantedRule {
  return { access: 'Deny', family, protocol: '*', sources: ['*'], destinations };
}

/** Ports that Nodes see, by protocol: the frontend's, or node ports without floating IP. Azure's rules know SCTP as any protocol. */
function portsOf(spec: AccessSpec, family: IPFamily): { protocol: WantedRule['protocol']; ports: number[] }[] {
  const byProtocol = new Map<WantedRule['protocol'], number[]>();
  for (const { protocol, port, nodePort } of spec.listeners) {
    const key = protocol === 'TCP' ? 'Tcp' : protocol === 'UDP' ? 'Udp' : '*';
    const seen = hasFloatingIP(spec, family) ? port : nodePort;
    if (seen !== undefined) byProtocol.set(key, [...(byProtocol.get(key) ?? []), seen]);
  }
  const order: WantedRule['protocol'][] = ['Tcp', 'Udp', '*'];
  return order.flatMap((protocol) => {
    const ports = byProtocol.get(protocol);
    return ports === undefined ? [] : [{ protocol, ports: [...new Set(ports)].sort((a, b) => a - b) }];
  });
}
