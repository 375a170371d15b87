import type { CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';

/** Of frontends, rules, probes, public addresses, and addresses of Private Link Services. */
export const NAME_LENGTH = 80;
/** Upstream leaves room for the suffix of a family, whether there is one or not. */
const FAMILY_LENGTH = '-IPv6'.length;
/** Upstream's name of a load balancer ends here (contract 1.3, DefaultLoadBalancerName). */
export const BASE_LENGTH = 32;

/** What of a load balancer decides its names. */
export type Named = Pick<LoadBalancerInput, 'ownerUID' | 'generation'> & { spec: Pick<CloudLoadBalancerSpec, 'ipFamilies' | 'azure'> };

/** Upstream's name for what belongs to one Service; later generations bear their number behind it. Pure. */
export function baseNameOf({ ownerUID, generation = 0 }: Pick<Named, 'ownerUID' | 'generation'>): string {
  const base = `a${ownerUID.replaceAll('-', '')}`.slice(0, BASE_LENGTH);
  return generation === 0 ? base : `${base}-g${generation}`;
}

/** Of the second family, where a load balancer has two. Pure. */
export function familySuffix({ spec: { ipFamilies } }: Pick<Named, 'spec'>, family: IPFamily): string {
  return ipFamilies.length > 1 && family === 'IPv6' ? '-IPv6' : '';
}

/** Upstream's name of a frontend, with the subnet that an internal one names. Pure. */
export function frontendNameOf(input: Named, family: IPFamily): string {
  const subnet = input.spec.azure?.subnetName;
  const name = subnet === undefined ? baseNameOf(input) : `${baseNameOf(input)}-${subnet}`;
  const most = NAME_LENGTH - FAMILY_LENGTH;
  // Azure's names end with a letter, a digit or an underscore.
  const cut = name.length <= most ? name : name.slice(0, most).replace(/[^A-Za-z_]$/, '_');
  return `${cut}${familySuffix(input, family)}`;
}

/** Upstream's name of a rule, and of the probe of its port. Pure. */
export function ruleNameOf(input: Named, { protocol, port }: { protocol: string; port: number }, family: IPFamily): string {
  const subnet = input.spec.azure?.subnetName;
  const base = baseNameOf(input);
  const place = `${protocol}-${port}`;
  const room = NAME_LENGTH - FAMILY_LENGTH - `${base}-${place}`.length - 1;
  const segment = subnet === undefined ? '' : `-${subnet.slice(0, room)}`;
  return `${base}${segment}-${place}${familySuffix(input, family)}`;
}

/** Upstream's name of the public address that is made for a load balancer. Pure. */
export function publicIPNameOf(input: Named, clusterName: string, family: IPFamily): string {
  const { ipv4PrefixID, ipv6PrefixID } = input.spec.azure?.publicIP ?? {};
  const prefixID = family === 'IPv6' ? ipv6PrefixID : ipv4PrefixID;
  const prefix = prefixID === undefined ? '' : `-${prefixID.slice(prefixID.lastIndexOf('/') + 1)}`;
  const suffix = familySuffix(input, family);
  return `${clusterName}-${baseNameOf(input)}${prefix}`.slice(0, NAME_LENGTH - suffix.length) + suffix;
}

/** Upstream's names of the pools of Nodes: one for each family. Pure. */
export function poolNameOf(clusterName: string, family: IPFamily): string {
  return family === 'IPv6' ? `${clusterName}-IPv6` : clusterName;
}
