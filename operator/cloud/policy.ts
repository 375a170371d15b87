import type { CloudLoadBalancerSpec, CloudProviderSpec } from '../../crds';
import type { Problem } from '../../providers/provider';

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
  const problems: Problem[] = [];
  if (policy?.namespaces !== undefined && !policy.namespaces.includes(subject.namespace)) {
    problems.push(forbidden('metadata.namespace', subject.namespace, `allowed are ${policy.namespaces.join(', ') || 'none'}`));
  }
  if (policy?.schemes !== undefined && !policy.schemes.includes(subject.spec.scheme)) {
    problems.push(forbidden('spec.scheme', subject.spec.scheme, `allowed are ${policy.schemes.join(', ') || 'none'}`));
  }
  const home = subject.spec.placement?.namespace ?? subject.namespace;
  if (subject.spec.placement !== undefined && !maySharePlacement(policy, subject.namespace, home)) {
    problems.push(forbidden('spec.placement', `${home}/${subject.spec.placement.name}`, `sharing is ${policy?.sharing ?? 'SameNamespace'}`));
  }
  return problems;
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
