import type { AzureLoadBalancer, CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import { hasFloatingIP } from '../load-balancers/rules';
import { familyOf, type WantedRule } from './security-rule';
import { fewestRanges } from './source-ranges';

const INTERNET = 'Internet';
const EVERYBODY = { IPv4: '0.0.0.0/0', IPv6: '::/0' } as const;
const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

/** What decides the rules of a load balancer. */
export type AccessSpec = Pick<CloudLoadBalancerSpec, 'listeners' | 'sourceRanges' | 'scheme'> & {
  azure?: Pick<AzureLoadBalancer, 'access' | 'floatingIP' | 'allPorts'> | undefined;
};

/**
 * The rules that let clients in to a load balancer, each family by itself: who names everybody in one says nothing of the other. A narrower source never
 * stands beside everybody (cloud-provider-azure#337); an internal load balancer lets the internet in only where its ranges say so; whoever is in the
 * virtual network is let in by Azure's own rule, unless it is denied. Pure.
 * @param destinations what Nodes see: the frontend's addresses, or their own where floating IP is off
 * @param ofOthers addresses that are none of its additional ones, whatever it says
 */
export function wantedRules(spec: AccessSpec, destinations: readonly string[], ofOthers: readonly string[] = []): WantedRule[] {
  const access = spec.azure?.access ?? {};
  if (access.rules === 'None') return [];
  const { additionalAddresses = [], denyOthers = false } = access;
  const ranges = rangesOf(spec);
  const all = [...destinations, ...additionalAddresses.filter((address) => !ofOthers.includes(address))];
  return FAMILIES.flatMap((family) => {
    const own = all.filter((address) => familyOf(address) === family);
    if (own.length === 0) return [];
    const sources = sourcesIn(family, spec);
    return [
      ...portsOf(spec, family).flatMap(({ protocol, ports }) =>
        sources.map((from): WantedRule => ({ access: 'Allow', family, protocol, sources: from, ports, destinations: own })),
      ),
      ...(denyOthers && ranges.length > 0 ? [denyAll(family, own)] : []),
    ];
  });
}

function rangesOf({ azure, sourceRanges = [] }: AccessSpec): readonly string[] {
  return azure?.access?.ranges ?? sourceRanges;
}

/** The sources of a family, each for a rule: everybody alone where they are named, or nothing at all is; else tags, each by itself, and ranges. */
function sourcesIn(family: IPFamily, spec: AccessSpec): string[][] {
  const tags = spec.azure?.access?.serviceTags ?? [];
  const ranges = rangesOf(spec);
  const within = fewestRanges(ranges.filter((range) => familyOf(range) === family));
  const everybody = EVERYBODY[family];
  // Upstream has both: the tag is all but the virtual network and Azure itself.
  if (within.includes(everybody)) return [[INTERNET], [everybody]];
  const isOpen = tags.length === 0 && ranges.length === 0 && spec.scheme === 'Public';
  return [...(isOpen ? [INTERNET] : tags).map((tag) => [tag]), ...(within.length > 0 ? [within] : [])];
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
