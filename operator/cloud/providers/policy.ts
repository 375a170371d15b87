import ipaddr from 'ipaddr.js';
import type { CloudLoadBalancerSpec, CloudProviderSpec } from '../../../crds';
import type { Named, Problem } from '../../../providers/provider';

/** What of a load balancer the policy judges. */
export interface PolicySubject {
  namespace: string;
  spec: Pick<CloudLoadBalancerSpec, 'scheme' | 'placement'>;
  /** What of the account its settings name (LoadBalancers.named). */
  named: readonly Named[];
}

/**
 * What `CloudProvider.spec.policy` forbids about one load balancer; empty = allowed. Pure.
 * Holds for objects made by the service loop and by people alike (design: Who may do what).
 */
export function policyProblems(policy: CloudProviderSpec['policy'], subject: PolicySubject): Problem[] {
  return [
    outside('metadata.namespace', subject.namespace, policy?.namespaces),
    outside('spec.scheme', subject.spec.scheme, policy?.schemes),
    placementProblem(policy, subject),
    ...subject.named.map((one) => nameProblem(policy, one)),
  ].filter((problem) => problem !== undefined);
}

/**
 * What is wrong about where a route leads: outside of the cluster's own ranges it would take somebody else's traffic. Pure.
 * @param clusterCIDRs `--cluster-cidr`; empty = every destination is allowed
 */
export function destinationProblem(destination: string, clusterCIDRs: readonly string[]): Problem | undefined {
  const [address, bits] = ipaddr.parseCIDR(destination);
  const holds = (cluster: string): boolean => {
    const [base, prefix] = ipaddr.parseCIDR(cluster);
    return base.kind() === address.kind() && prefix <= bits && address.match(base, prefix);
  };
  if (clusterCIDRs.length === 0 || clusterCIDRs.some(holds)) return undefined;
  const field = 'spec.destinationCIDR';
  const message = `${field} ${destination} is not within the cluster's CIDRs (${clusterCIDRs.join(', ')}); correct it, or the operator's --cluster-cidr`;
  return { severity: 'Error', field, value: destination, message };
}

function outside(field: string, value: string, allowed: readonly string[] | undefined): Problem | undefined {
  if (allowed === undefined || allowed.includes(value)) return undefined;
  return forbidden(field, value, `allowed are ${allowed.join(', ') || 'none'}`);
}

function placementProblem(policy: CloudProviderSpec['policy'], { namespace, spec }: PolicySubject): Problem | undefined {
  const { placement } = spec;
  if (placement === undefined) return undefined;
  const home = placement.namespace ?? namespace;
  if (maySharePlacement(policy, namespace, home)) return undefined;
  return forbidden('spec.placement', `${home}/${placement.name}`, `sharing is ${policy?.sharing ?? 'SameNamespace'}`);
}

function nameProblem(policy: CloudProviderSpec['policy'], { list, field, value }: Named): Problem | undefined {
  const patterns = policy?.[list];
  const allows = list !== 'reservedTagKeys';
  if (patterns === undefined || patterns.some((pattern) => fits(pattern, value)) === allows) return undefined;
  return forbidden(field, value, `${allows ? 'allowed' : 'reserved'} are ${patterns.join(', ') || 'none'}`);
}

/** Whether a text is as a pattern has it, in which each * stands for any text. One look at each part, however many there are. */
function fits(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return text === pattern;
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= end;
}

function maySharePlacement(policy: CloudProviderSpec['policy'], namespace: string, home: string): boolean {
  switch (policy?.sharing ?? 'SameNamespace') {
    case 'None':
      return false;
    case 'SameNamespace':
      return namespace === home;
    case 'Namespaces':
      return namespace === home || (policy?.sharingNamespaces ?? []).includes(namespace);
  }
}

function forbidden(field: string, value: string, allowed: string): Problem {
  return {
    severity: 'Error',
    field,
    value,
    message: `${field} "${value}" is not allowed by the CloudProvider's policy (${allowed}); ask the platform team or change it`,
  };
}
