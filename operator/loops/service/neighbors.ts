import { isDeepStrictEqual } from 'node:util';
import { SERVICE_UID_ANNOTATION } from '../../../crds';
import type { Store, StoreChange } from '../../kube/api';
import { keyOf } from '../../kube/object';
import type { Neighbor } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';

/** The load balancers beside a Service's own, and which Services have asked for them: what they get may be another thing when those change. */
export class Neighbors {
  private readonly asking = new Set<string>();
  /** What was known last of each load balancer: the store may believe a status later than it has it. */
  private readonly known = new Map<string, Neighbor>();

  constructor(private readonly store: Pick<Store<StoredCloudLoadBalancer>, 'list'>) {}

  /** Those of a CloudProvider, for the Service of this key. */
  of(key: string, provider: string): Neighbor[] {
    this.asking.add(key);
    return this.store
      .list()
      .flatMap((object) => (object.spec.provider === provider && keyOf(object.metadata) !== key ? [neighborOf(object)] : []));
  }

  /** The Service begins to be looked at anew, or is gone. */
  forget(key: string): void {
    this.asking.delete(key);
  }

  /** Services for which this change of a load balancer matters, but for its own. */
  affectedBy({ key, current }: Pick<StoreChange<StoredCloudLoadBalancer>, 'key' | 'current'>): string[] {
    const neighbor = current && neighborOf(current);
    if (isDeepStrictEqual(this.known.get(key), neighbor)) return [];
    if (neighbor === undefined) this.known.delete(key);
    else this.known.set(key, neighbor);
    return [...this.asking].filter((one) => one !== key).sort();
  }
}

function neighborOf({ metadata, spec, status }: StoredCloudLoadBalancer): Neighbor {
  // What was written for another object says nothing of this one.
  const ingress = status?.objectUID === metadata.uid ? (status.ingress ?? []) : [];
  return {
    uid: metadata.uid,
    ownerUID: metadata.annotations?.[SERVICE_UID_ANNOTATION] ?? metadata.uid,
    key: keyOf(metadata),
    createdAt: metadata.creationTimestamp,
    spec,
    addresses: ingress.flatMap(({ ip }) => ip ?? []),
  };
}
