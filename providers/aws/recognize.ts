import type { Ingress } from '../../crds';
import { generationOfName, servingGeneration } from '../generations';
import type { DiscoveredResource, LoadBalancerInput, RecognizedLoadBalancer, TargetGroup } from '../provider';
import { cloudName } from './load-balancers/names';
import { classicLoadBalancer, leastInstancePort, type ClassicLoadBalancerInputs } from './resources/classic-load-balancer';
import { listener, type ListenerInputs } from './resources/listener';
import { loadBalancer } from './resources/load-balancer';
import { sendsAcrossZones, targetGroup, type TargetGroupInputs } from './resources/target-group';

/** What has members: a target group, or a Classic load balancer. */
const WITH_MEMBERS: readonly string[] = [targetGroup.token, classicLoadBalancer.token];
/** What has a name in DNS. */
const ENTRIES: readonly string[] = [loadBalancer.token, classicLoadBalancer.token];

/**
 * LoadBalancers.recognize. AWS keeps the port with the target group, and with the listeners of a Classic load balancer; which Nodes it is for, only the
 * spec says. Pure. Rules of its own in the Nodes' groups are not told: a Node that comes meanwhile is let in by the next update.
 */
export function recognize(found: readonly DiscoveredResource[], { ownerUID, spec }: LoadBalancerInput): RecognizedLoadBalancer | undefined {
  const generationOf = ({ name }: DiscoveredResource): number | undefined =>
    generationOfName(name, (generation) => cloudName(ownerUID, generation));
  const own = found.filter((resource) => generationOf(resource) !== undefined);
  const groups = own.filter(({ type }) => WITH_MEMBERS.includes(type));
  if (groups.length === 0) return undefined;
  const nodeLabels = spec.aws?.targetNodeLabels;
  const entriesOf = (generation: number): Ingress[] => {
    // A load balancer that others share has another name; its listeners lead to it.
    const ofOne = own.filter((resource) => generationOf(resource) === generation);
    const ids = ofOne.map(({ type, id, inputs }) => (type === listener.token ? inputs.loadBalancerArn : id));
    const balancers = found.filter(({ type, id }) => ENTRIES.includes(type) && ids.includes(id));
    return balancers.map(({ outputs }) => ({ hostname: outputs.dnsName as string }));
  };
  return {
    ...servingGeneration(
      groups.map((group) => generationOf(group) ?? 0),
      entriesOf,
    ),
    targetGroups: groups.map((group) => ({
      ...{ id: group.id, port: portOf(group) },
      ...(nodeLabels !== undefined && { nodeLabels }),
      ...accessOf(group, found),
    })),
  };
}

function portOf({ type, inputs }: DiscoveredResource): number {
  if (type !== classicLoadBalancer.token) return Number(inputs.port);
  return leastInstancePort((inputs as unknown as ClassicLoadBalancerInputs).listeners);
}

/** How many target groups its load balancer has, as many as listeners, and whether it sends to all zones: its members are counted by that. */
function accessOf({ id, inputs }: DiscoveredResource, found: readonly DiscoveredResource[]): Pick<TargetGroup, 'access'> {
  const listeners = found.filter(({ type }) => type === listener.token).map((one) => one.inputs as unknown as ListenerInputs);
  const own = listeners.find(({ defaultActions }) => defaultActions.some(({ targetGroupArn }) => targetGroupArn === id));
  const count = listeners.filter(({ loadBalancerArn }) => loadBalancerArn === own?.loadBalancerArn).length;
  const balancer = found.find((one) => one.type === loadBalancer.token && one.id === own?.loadBalancerArn);
  const { loadBalancingCrossZoneEnabled: said = 'use_load_balancer_configuration' } = inputs as unknown as Partial<TargetGroupInputs>;
  const crossZone = sendsAcrossZones(said, balancer?.inputs.enableCrossZoneLoadBalancing === true);
  const counted = { ...(count > 1 && { targetGroups: count }), ...(crossZone && { crossZone }) };
  return Object.keys(counted).length > 0 ? { access: { rules: [], ...counted } } : {};
}
