import { ANNOTATIONS, CloudLoadBalancerKind, MAX_LISTENERS, validateSpec } from '../../../crds';
import type { Service } from '../../kube/object';
import type { WantedSpec } from './compile';
import type { Problem } from './problem';
import { sourceRangesField } from './source-ranges';

/** What the API server would refuse, in terms of the Service: its own answer names fields that the Service doesn't have. Pure. */
export function refusalsOf(service: Service, spec: WantedSpec): Problem[] {
  if (spec.listeners.length > MAX_LISTENERS) return [tooManyPorts(spec.listeners.length)];
  const checked = validateSpec(CloudLoadBalancerKind, spec);
  if (checked.ok) return [];
  return checked.problems.map(({ field, message }) => ({ reason: 'Refused', message: `${fieldOf(service, field)}: ${message}` }));
}

function tooManyPorts(count: number): Problem {
  const message = `spec.ports: ${count} ports, and a load balancer has at most ${MAX_LISTENERS}; divide them among several Services, which can share an address by the annotation ${ANNOTATIONS.placement}`;
  return { reason: 'TooManyPorts', message };
}

/** Where the Service says what stands in a field of the CloudLoadBalancer. */
function fieldOf(service: Service, field: string): string {
  return field
    .replace(/^spec\.listeners\b/, 'spec.ports')
    .replace(/^spec\.sourceRanges\b/, sourceRangesField(service))
    .replace(/^spec\.addresses\[\d+\]/, `spec.loadBalancerIP: "${service.spec.loadBalancerIP}"`);
}
