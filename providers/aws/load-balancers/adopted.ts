import { z } from 'zod';
import type { CloudLoadBalancerSpec } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import type { RenderedClassic } from './classic';
import type { RenderedListener } from './listeners';
import type { RenderedLoadBalancer } from './load-balancers';

const mapping = z.object({
  subnetId: z.string(),
  allocationId: z.string().optional(),
  privateIpv4Address: z.string().optional(),
  ipv6Address: z.string().optional(),
});

/** What stays as it is of a load balancer that was taken over, and what the program makes goes by (Adoption.kept). */
export const kept = z.object({
  /** Where it is. */
  subnetMappings: z.array(mapping),
  /** Whether it has security groups: one without can never get any, and is let in to the Nodes by rules of its own. */
  grouped: z.boolean(),
  /** The one that was made for it is taken over with it; absent = there was none, or it was taken over before that was noted. */
  ownGroup: z.literal(true).optional(),
  /** Ids of its groups beside that one. */
  groupIDs: z.array(z.string()),
  /** Its scheme and its name; absent = not known, for it was taken over before they were noted. */
  internal: z.boolean().optional(),
  name: z.string().optional(),
  /** The policies of its TLS listeners, by port; absent = there were none. */
  tlsPolicies: z.record(z.string(), z.string()).optional(),
});
export type Kept = z.infer<typeof kept>;

/** Pure; undefined = the load balancer was made here. */
export function keptOf({ adopted }: LoadBalancerInput): Kept | undefined {
  return adopted === undefined ? undefined : kept.parse(adopted);
}

/** What the spec asks for of a Network load balancer that has a group made for it: to have none is what AWS can't do, so that is looked after. Pure. */
export function withOwnGroup(input: LoadBalancerInput): LoadBalancerInput {
  const { spec } = input;
  const { aws = { type: 'Network' } } = spec;
  if (aws.securityGroups?.groups !== undefined) return input;
  return { ...input, spec: { ...spec, aws: { ...aws, securityGroups: { ...aws.securityGroups, mode: 'Managed' } } } };
}

/** A Network load balancer stays in its subnets, with groups or without, and with its TLS policies where the spec names none. Pure. */
export function keepNetwork(rendered: RenderedLoadBalancer, as: Kept, spec: CloudLoadBalancerSpec): RenderedLoadBalancer {
  const { securityGroup, backend, settings, ...more } = rendered;
  const rest = { ...more, listeners: rendered.listeners.map((listener) => keepPolicy(listener, as, spec)) };
  delete rest.subnets;
  // They are on it.
  delete rest.addresses;
  const { enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce = 'on', ...ungrouped } = settings;
  const base = { ...rest, adopted: true as const };
  const inPlace = { ...ungrouped, subnetMappings: as.subnetMappings };
  if (!as.grouped) {
    delete base.namedGroups;
    return { ...base, settings: inPlace, securityGroupIDs: [] };
  }
  return {
    ...base,
    settings: { ...inPlace, enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: enforce },
    ...(securityGroup !== undefined && { securityGroup }),
    ...(backend !== undefined && { backend }),
    securityGroupIDs: groupsOf(rest.securityGroupIDs, as, spec),
  };
}

/** The default here may be stricter than what stands, and would cut off old clients. */
function keepPolicy(listener: RenderedListener, { tlsPolicies = {} }: Kept, { aws }: CloudLoadBalancerSpec): RenderedListener {
  const { settings } = listener;
  const policy = tlsPolicies[settings.port];
  if (settings.protocol !== 'TLS' || policy === undefined || aws?.tls?.policy !== undefined) return listener;
  return { ...listener, settings: { ...settings, sslPolicy: policy } };
}

/** A Classic one can be moved to other subnets; it is where the spec names some. Pure. */
export function keepClassic(rendered: RenderedClassic, as: Kept, spec: CloudLoadBalancerSpec): RenderedClassic {
  const subnets = spec.aws?.subnets === undefined ? as.subnetMappings.map(({ subnetId }) => subnetId).sort() : rendered.subnets;
  return { ...rendered, subnets, securityGroupIDs: groupsOf(rendered.securityGroupIDs, as, spec) };
}

/** Groups that somebody else has put on it stay, but where the spec names all of them. */
function groupsOf(rendered: readonly string[], { groupIDs }: Kept, { aws }: CloudLoadBalancerSpec): string[] {
  return aws?.securityGroups?.groups === undefined ? [...new Set([...rendered, ...groupIDs])].sort() : [...rendered];
}
