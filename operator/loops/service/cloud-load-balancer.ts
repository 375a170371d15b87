import { API_VERSION, CloudLoadBalancerKind, SERVICE_UID_ANNOTATION } from '../../../crds';
import { hashJson } from '../../base/json';
import type { Service } from '../../kube/object';
import type { StoredCloudLoadBalancer } from '../kinds';
import { isSubset } from '../subset';
import type { WantedSpec } from './compile';

/** Hash of what was last applied: it shows that a field or annotation that we no longer want must go. */
export const APPLIED_ANNOTATION = 'cloud-operator.dev/applied-hash';

/** A CloudLoadBalancer as it is sent by server-side apply. */
export interface CloudLoadBalancerBody {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace: string;
    /** Set for an object that exists, so that another one of the same name is never written. */
    uid?: string;
    annotations: Record<string, string>;
    ownerReferences: object[];
  };
  spec: WantedSpec;
}

/**
 * True when the CloudLoadBalancer was made for this very Service. The owner reference says so; the annotation says it still
 * after the garbage collector has taken the reference off (deletion with `--cascade=orphan`).
 */
export function isOwnedBy(cloudLoadBalancer: StoredCloudLoadBalancer, serviceUID: string): boolean {
  return (
    hasOwnerReference(cloudLoadBalancer, serviceUID) || cloudLoadBalancer.metadata.annotations?.[SERVICE_UID_ANNOTATION] === serviceUID
  );
}

/** The object to apply. Pure. */
export function bodyOf(
  service: Service,
  { spec, annotations: levers = {} }: { spec: WantedSpec; annotations?: Record<string, string> },
  existing: StoredCloudLoadBalancer | undefined,
): CloudLoadBalancerBody {
  const { name, namespace, uid } = service.metadata;
  const hash = hashJson(Object.keys(levers).length === 0 ? spec : { spec, levers });
  return {
    apiVersion: API_VERSION,
    kind: CloudLoadBalancerKind.kind,
    metadata: {
      name,
      namespace: namespace ?? 'default',
      ...(existing === undefined ? {} : { uid: existing.metadata.uid }),
      annotations: { ...levers, [SERVICE_UID_ANNOTATION]: uid, [APPLIED_ANNOTATION]: hash },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    spec,
  };
}

/** True when nothing must be applied: what we want is there, and nothing that we wanted before is left over. */
export function isUpToDate(existing: StoredCloudLoadBalancer, body: CloudLoadBalancerBody, serviceUID: string): boolean {
  return (
    hasOwnerReference(existing, serviceUID) &&
    isSubset(body.metadata.annotations, existing.metadata.annotations ?? {}) &&
    isSubset(body.spec, existing.spec, ['sourceRanges'])
  );
}

function hasOwnerReference(cloudLoadBalancer: StoredCloudLoadBalancer, serviceUID: string): boolean {
  return cloudLoadBalancer.metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Service' && uid === serviceUID) === true;
}
