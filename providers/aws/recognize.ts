import { generationOfName } from '../generations';
import type { DiscoveredResource, LoadBalancerInput, LoadBalancerResult } from '../provider';
import { cloudName } from './load-balancers/names';
import { loadBalancer } from './resources/load-balancer';
import { targetGroup } from './resources/target-group';

/** LoadBalancers.recognize. AWS keeps the port with the target group; which Nodes it is for, only the spec says. Pure. */
export function recognize(found: readonly DiscoveredResource[], { ownerUID, spec }: LoadBalancerInput): LoadBalancerResult | undefined {
  const generationOf = ({ name }: DiscoveredResource): number | undefined =>
    generationOfName(name, (generation) => cloudName(ownerUID, generation));
  const own = found.filter((resource) => generationOf(resource) !== undefined);
  const groups = own.filter(({ type }) => type === targetGroup.token);
  if (groups.length === 0) return undefined;
  const nodeLabels = spec.aws?.targetNodeLabels;
  const newest = Math.max(...groups.map((group) => generationOf(group) ?? 0));
  const current = own.filter((resource) => resource.type === loadBalancer.token && generationOf(resource) === newest);
  return {
    ingress: current.map(({ outputs }) => ({ hostname: outputs.dnsName as string })),
    targetGroups: groups.map(({ id, inputs }) => ({ id, port: Number(inputs.port), ...(nodeLabels !== undefined && { nodeLabels }) })),
  };
}
