import { SERVICE_READY_CONDITION } from '../../../crds';
import type { Service } from '../../kube/object';
import type { Clouds, ServiceClaim } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';
import { conditionOf, ingressOf } from './patches';
import { hasCleanupFinalizer } from './rules';

/**
 * Whether nothing is written to a Service, because its CloudProvider is only observed: that of its CloudLoadBalancer, else the one that would take it.
 * Where none can, all that there are decide; without any, a Service must be told why it waits, but not one that another controller may serve. Pure.
 */
export function isObserved(
  service: Service,
  owned: StoredCloudLoadBalancer | undefined,
  clouds: Pick<Clouds, 'forService' | 'observes' | 'providers'>,
): boolean {
  if (owned !== undefined) return clouds.observes(owned.spec.provider);
  const choice = clouds.forService(claimOf(service));
  if (choice.kind === 'Foreign') return false;
  if (choice.kind === 'Chosen') return clouds.observes(choice.provider);
  const providers = clouds.providers();
  return providers.length === 0 ? mayBeServedElsewhere(service) : providers.every((provider) => clouds.observes(provider));
}

/** It has what a load balancer leaves on a Service, and nothing that we have ever said. Pure. */
export function mayBeServedElsewhere(service: Service): boolean {
  const isServed = hasCleanupFinalizer(service) || ingressOf(service).length > 0;
  return isServed && conditionOf(service, SERVICE_READY_CONDITION) === undefined;
}

function claimOf({ metadata, spec: { loadBalancerClass } }: Service): ServiceClaim {
  return { annotations: metadata.annotations ?? {}, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) };
}
