import { generationOfName } from '../generations';
import type { DiscoveredResource, LoadBalancerInput, LoadBalancerResult } from '../provider';
import { cloudName } from './load-balancers/names';
import { listener } from './resources/listener';
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
  // A load balancer that others share has another name; its listeners lead to it.
  const ofNewest = own.filter((resource) => generationOf(resource) === newest);
  const ids = ofNewest.map(({ type, id, inputs }) => (type === listener.token ? inputs.loadBalancerArn : id));
  const current = found.filter(({ type, id }) => type === loadBalancer.token && ids.includes(id));
  return {
    ingress: current.map(({ outputs }) => ({ hostname: outputs.dnsName as string })),
    targetGroups: groups.map(({ id, inputs }) => ({ id, port: Number(inputs.port), ...(nodeLabels !== undefined && { nodeLabels }) })),
  };
}
