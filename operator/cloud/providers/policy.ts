import type { CloudLoadBalancerSpec, CloudProviderSpec } from '../../../crds';
import type { Problem } from '../../../providers/provider';

/** What of a load balancer the policy judges. */
export interface PolicySubject {
  namespace: string;
  spec: Pick<CloudLoadBalancerSpec, 'scheme' | 'placement'>;
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
  ].filter((problem) => problem !== undefined);
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
