import { FIELD_MANAGERS, SERVICE_READY_CONDITION } from '../../../crds';
import type { Service, ServiceIngress } from '../../kube/object';
import type { StoredCloudLoadBalancer } from '../kinds';
import { readinessOf } from '../readiness';
import { conditionOf, ingressOf, sameIngress, withMode } from './patches';
import { isDeleting } from './rules';

/**
 * The ingress that a Service's status should hold; undefined = leave what is there.
 *
 * A CloudLoadBalancer's status counts only when it was written for that very object (design: Status used as input is not trusted).
 * A new address is published when the load balancer is Ready; one that is published stays, and is restored when somebody wipes it,
 * while a later update fails; it goes when the load balancer goes. What somebody else put there is left until we have something of our own.
 * @param published what this process published before
 */
export function wantedIngress(
  service: Service,
  owned: StoredCloudLoadBalancer | undefined,
  published: readonly ServiceIngress[] | undefined,
): readonly ServiceIngress[] | undefined {
  const ours = published !== undefined || isPublished(service);
  if (owned === undefined) return ours ? [] : undefined;
  if (isDeleting(owned)) return undefined;
  const ingress = ingressOfOwned(owned);
  if (ingress === undefined) return published;
  if (readinessOf(owned).ready?.status === 'True') return ingress;
  const serving = [published ?? [], ingressOf(service)].some((shown) => sameIngress(shown, ingress));
  return serving || (ours && ingress.length === 0) ? ingress : undefined;
}

/**
 * The address in the Service's status is ours, also after a restart.
 *
 * A Ready condition of ours that is True is only ever written together with an ingress. With any other, the ingress may be the one that a controller
 * before us wrote and that still serves: whether it is ours, the API server has noted.
 */
export function isPublished(service: Service): boolean {
  return conditionOf(service, SERVICE_READY_CONDITION)?.status === 'True' || (ingressOf(service).length > 0 && isWrittenByUs(service));
}

function isWrittenByUs({ metadata: { managedFields = [] } }: Service): boolean {
  return managedFields.some(({ manager, subresource, fieldsV1 }) => {
    const fields = fieldsV1 as { 'f:status'?: { 'f:loadBalancer'?: { 'f:ingress'?: object } } } | undefined;
    const writes = fields?.['f:status']?.['f:loadBalancer']?.['f:ingress'] !== undefined;
    return writes && manager === FIELD_MANAGERS.service && subresource === 'status';
  });
}

function ingressOfOwned({ metadata, status }: StoredCloudLoadBalancer): ServiceIngress[] | undefined {
  return status?.objectUID === metadata.uid ? (status.ingress ?? []).map(withMode) : undefined;
}
