import { AWS_LIMITS, type AWSLimits, type CloudLoadBalancerSpec } from '../../crds';
import type { Problem } from '../provider';
import { isClassic } from './load-balancers/classic';
import type { Port } from './load-balancers/listeners';
import { nodeAccessOf } from './load-balancers/node-access';
import { ruleCount } from './load-balancers/security-groups';
import { groupModeOf, type LoadBalancerScope } from './scope';

/** What to do where a quota was raised. */
function raise(limit: keyof AWSLimits): string {
  return `where AWS has raised the quota, write spec.aws.limits.${limit} of the CloudProvider`;
}

/** Of the account, with AWS's usual figures where nothing is said. Pure. */
export function limitsOf({ limits = AWS_LIMITS }: Pick<LoadBalancerScope, 'limits'>): AWSLimits {
  return limits;
}

/** Pure. */
export function validateListenerCount(spec: CloudLoadBalancerSpec, ports: readonly Port[], scope: LoadBalancerScope): Problem[] {
  const name = isClassic(spec) ? 'listenersPerClassicLoadBalancer' : 'listenersPerLoadBalancer';
  const most = limitsOf(scope)[name];
  if (ports.length <= most) return [];
  const kind = isClassic(spec) ? 'Classic' : 'Network';
  const message = `a ${kind} load balancer has at most ${most} listeners, and these are ${ports.length}. Spread the ports over several Services; ${raise(name)}.`;
  return [error('spec.listeners', ports.length, message)];
}

/** Groups that are named, the one that is made, and the cluster's backend group. Pure. */
export function validateGroupCount(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Problem[] {
  const named = namedOf(spec, scope);
  const isMade = named === undefined && hasGroup(spec, scope);
  const own = named?.length ?? Number(isMade);
  const backend = Number(isMade && nodeAccessOf(spec, 'Made', scope) === 'Backend');
  const additional = isClassic(spec) ? (spec.aws?.securityGroups?.additionalGroupIDs?.length ?? 0) : 0;
  const [count, most] = [own + backend + additional, limitsOf(scope).securityGroupsPerInterface];
  if (count <= most) return [];
  const parts = [`${own} of its own`, `${additional} beside`, `${backend} that lets it in to the Nodes`].join(', ');
  const message = `a load balancer has at most ${most} security groups, and these are ${count}: ${parts}. Name fewer; ${raise('securityGroupsPerInterface')}.`;
  return [error('spec.aws.securityGroups', count, message)];
}

function namedOf(spec: CloudLoadBalancerSpec, { classicSecurityGroupID: all }: LoadBalancerScope): string[] | undefined {
  return spec.aws?.securityGroups?.groups ?? (isClassic(spec) && all !== undefined ? [all] : undefined);
}

/** Rules of the group that is made for the load balancer: AWS counts IPv4 and IPv6 each by itself. Pure. */
export function validateRuleCount(spec: CloudLoadBalancerSpec, ports: readonly Port[], scope: LoadBalancerScope): Problem[] {
  const isMade = spec.aws?.securityGroups?.groups === undefined && hasGroup(spec, scope);
  const [count, most] = [ruleCount(spec, ports), limitsOf(scope).rulesPerSecurityGroup];
  if (!isMade || count <= most) return [];
  const message = `these ports and ranges need ${count} rules in one security group, and the limit is ${most}. Use wider ranges (a prefix list saves none: AWS counts as many rules as it has room for entries); ${raise('rulesPerSecurityGroup')}.`;
  return [error('spec.sourceRanges', spec.sourceRanges?.length ?? 0, message)];
}

function hasGroup(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): boolean {
  if (isClassic(spec) && scope.classicSecurityGroupID !== undefined) return false;
  const usual = isClassic(spec) ? 'Managed' : groupModeOf(scope);
  return (spec.aws?.securityGroups?.mode ?? usual) === 'Managed';
}

function error(field: string, value: number, message: string): Problem {
  return { severity: 'Error', field, value: String(value), message };
}
