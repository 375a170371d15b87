import { maskedCIDR, type AWSHealthCheck, type AWSTargetGroup, type CloudLoadBalancerSpec } from '../../crds';
import type { Problem } from '../provider';
import { isClassic, renderClassicCheck } from './load-balancers/classic';
import { renderHealthCheck, speaksTLS, type Port } from './load-balancers/listeners';
import { isGrouped } from './load-balancers/network-settings';
import { nodeAccessOf } from './load-balancers/node-access';
import { isDualStack, isIPv6Alone } from './load-balancers/subnet-mappings';
import { EVERYBODY } from './nodes/client-rules';
import type { LoadBalancerScope } from './scope';

type Figure = 'interval' | 'timeout' | 'healthyThreshold' | 'unhealthyThreshold';
type Field = 'intervalSeconds' | 'timeoutSeconds' | 'healthyThreshold' | 'unhealthyThreshold';

const FIELDS: Readonly<Record<Figure, Field>> = {
  interval: 'intervalSeconds',
  timeout: 'timeoutSeconds',
  healthyThreshold: 'healthyThreshold',
  unhealthyThreshold: 'unhealthyThreshold',
};
/** What AWS takes of each, the least and the most, in seconds and checks. */
const RANGES = {
  Network: { interval: [5, 300], timeout: [2, 120], healthyThreshold: [2, 10], unhealthyThreshold: [2, 10] },
  Classic: { interval: [5, 300], timeout: [2, 60], healthyThreshold: [2, 10], unhealthyThreshold: [2, 10] },
} as const;

/** The check as it would be sent, whichever block says what of it: AWS knows ranges, and how long it may take beside the time between two. Pure. */
export function validateHealthCheck(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Problem[] {
  const kind = isClassic(spec) ? 'Classic' : 'Network';
  const check = isClassic(spec) ? renderClassicCheck(spec, scope) : renderHealthCheck(spec, scope);
  const own = spec.aws?.healthCheck ?? {};
  const outside = (Object.keys(FIELDS) as Figure[]).filter((figure) => !isWithin(check[figure], RANGES[kind][figure]));
  const problems = outside.map((figure) => {
    const [least, most] = RANGES[kind][figure];
    const message = `the health check of a ${kind} load balancer takes ${least} to ${most} here. Write one of these.`;
    return error(fieldOf(own, FIELDS[figure]), check[figure], message);
  });
  const { interval, timeout } = check;
  const most = kind === 'Classic' ? interval - 1 : interval;
  if (problems.length > 0 || timeout <= most) return problems;
  const message = `a check of a ${kind} load balancer may take ${most} s at most where the next one begins after ${interval} s. Write at most ${most}, or a longer interval.`;
  return [error(fieldOf(own, 'timeoutSeconds'), timeout, message)];
}

/** A client stays with one Node by its address, of which AWS knows nothing where TLS ends at the load balancer. Pure. */
export function validateStickiness({ aws, sessionAffinity }: CloudLoadBalancerSpec, ports: readonly Port[]): Problem[] {
  const asked = aws?.targetGroup?.stickiness;
  const isSticky = asked === undefined ? sessionAffinity?.type === 'ClientIP' : asked === 'SourceIP';
  const encrypted = aws === undefined ? undefined : ports.find((port) => speaksTLS(port, aws));
  if (!isSticky || encrypted === undefined) return [];
  const message = `listener "${encrypted.name}" speaks TLS, and there AWS keeps no client with one Node. Write sessionAffinity: None, or target-group-attributes: stickiness.enabled=false, or name the other ports in ssl-ports.`;
  const field = asked === undefined ? 'spec.sessionAffinity.type' : 'spec.aws.targetGroup.stickiness';
  return [error(field, asked ?? 'ClientIP', message)];
}

/** Connections that are cut at once are not drained. Pure. */
export function drainsWhatIsCut({
  unhealthyDrainingIntervalSeconds: drains = 0,
  unhealthyConnectionTermination: cuts = true,
}: AWSTargetGroup = {}): boolean {
  return drains !== 0 && cuts;
}

/** The same, for the author of a spec. Pure. */
export function validateDraining({ aws }: CloudLoadBalancerSpec): Problem[] {
  if (!drainsWhatIsCut(aws?.targetGroup)) return [];
  const message =
    'AWS drains connections to unhealthy targets only where they are not cut. Set unhealthyConnectionTermination: false beside it (attribute target_health_state.unhealthy.connection_termination.enabled=false), or remove it.';
  return [error('spec.aws.targetGroup.unhealthyDrainingIntervalSeconds', aws?.targetGroup?.unhealthyDrainingIntervalSeconds ?? 0, message)];
}

/** Nodes are reached by IPv4 where a Service has that, and else by IPv6: by Network load balancers of both families. Pure. */
export function validateFamilies(spec: CloudLoadBalancerSpec): Problem[] {
  if (!isIPv6Alone(spec)) return [];
  const families = spec.ipFamilies.join(', ');
  if (isClassic(spec)) {
    const message =
      'a Classic load balancer reaches Nodes by IPv4, where nobody answers for a Service of IPv6 alone. Write spec.aws.type: Network (annotation type: nlb), or give it both families (ipFamilyPolicy: PreferDualStack or RequireDualStack).';
    return [error('spec.ipFamilies', families, message)];
  }
  if (!isDualStack(spec)) {
    const message = 'targets of IPv6 are for a dual-stack load balancer. Write DualStack, or remove it.';
    return [error('spec.aws.ipAddressType', 'IPv4', message)];
  }
  return [];
}

/**
 * Without a security group clients are held off at the Nodes, where those of the other family than the target groups' come with the load balancer's address, as its
 * health checks do: who lets in some ranges alone lets in all of that family. Pure.
 */
export function validateOtherFamily(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Problem[] {
  const [other, own] = isIPv6Alone(spec) ? (['IPv4', 'IPv6'] as const) : (['IPv6', 'IPv4'] as const);
  const { sourceRanges = [], aws } = spec;
  const lists = aws?.securityGroups?.prefixListIDs ?? [];
  const holdsOff = sourceRanges.length + lists.length > 0 && !sourceRanges.map(maskedCIDR).includes(EVERYBODY[other]);
  if (!holdsOff || !isDualStack(spec) || !hasOwnRules(spec, scope)) return [];
  const message = `nobody can hold off clients of ${other} here: the Nodes are reached by ${own}, to which they come with an address of the load balancer, and it has no security group. Write spec.aws.securityGroups.mode: Managed, let in ${EVERYBODY[other]} as well, or open the Nodes by hand and write backendRules: None.`;
  const field = sourceRanges.length === 0 ? 'spec.aws.securityGroups.prefixListIDs' : 'spec.sourceRanges';
  // One of both families may be there already, and goes on.
  return [{ ...error(field, [...sourceRanges, ...lists].join(', '), message), severity: other === 'IPv4' ? 'Error' : 'Warning' }];
}

/** Its clients are let in to the Nodes one by one. */
function hasOwnRules(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): boolean {
  return !isGrouped(spec, scope) && nodeAccessOf(spec, 'None', scope) === 'Clients';
}

function isWithin(value: number, [least, most]: readonly [number, number]): boolean {
  return value >= least && value <= most;
}

function fieldOf(own: AWSHealthCheck, field: Field): string {
  return own[field] === undefined ? `spec.healthCheck.${field}` : `spec.aws.healthCheck.${field}`;
}

function error(field: string, value: number | string, message: string): Problem {
  return { severity: 'Error', field, value: String(value), message };
}
