import type { ServiceIngress } from '../../kube/object';
import type { CloudLoadBalancerBody } from './cloud-load-balancer';

/** What a pass does for one Service, in this order. */
export type Action =
  | { kind: 'Event'; type: 'Normal' | 'Warning'; reason: string; message: string }
  | { kind: 'AddFinalizer'; patch: object }
  | { kind: 'Apply'; body: CloudLoadBalancerBody }
  /** Deletes the CloudLoadBalancer with this UID. */
  | { kind: 'Delete'; uid: string }
  /**
   * Takes our finalizer off, once a live read has shown that the CloudLoadBalancer is gone.
   * `asks`: there may be something in the cloud that a controller before us has made under the same finalizer
   */
  | { kind: 'Release'; patch: object; asks: boolean }
  | { kind: 'PatchStatus'; patch: object }
  /** Comes back after the key's own back-off: what is waited for sends no event. */
  | { kind: 'Retry' };

/** True for what is done to our own kind, and not to the Service. Pure. */
export function isOfOurs({ kind }: Action): boolean {
  return kind === 'Apply' || kind === 'Delete' || kind === 'Retry';
}

/** What is remembered of a Service between passes; lost in a restart, where the Service's conditions take its place. */
export interface Memory {
  serviceUID: string;
  /** Hash of the spec for which EnsuringLoadBalancer was said. */
  ensuring?: string;
  /** A spec was applied, and EnsuredLoadBalancer not said yet. */
  pending?: boolean;
  /** The last failure that was said. */
  failure?: string;
  /** The ingress that we published. */
  published?: readonly ServiceIngress[];
  /** No Node was eligible when it was last looked at. */
  withoutNodes?: boolean;
  /** It was last seen with a class that nobody here claims. */
  others?: true;
  /** DeletingLoadBalancer was said, and DeletedLoadBalancer not yet. */
  deleting?: boolean;
}

export interface Evaluation {
  actions: Action[];
  memory: Memory;
}

/** Events of contract 2.5. */
export const EVENTS = {
  ensuring: normal('EnsuringLoadBalancer', 'Ensuring load balancer'),
  ensured: normal('EnsuredLoadBalancer', 'Ensured load balancer'),
  deleting: normal('DeletingLoadBalancer', 'Deleting load balancer'),
  deleted: normal('DeletedLoadBalancer', 'Deleted load balancer'),
  withoutNodes: warning('UnAvailableLoadBalancer', 'There are no available nodes for LoadBalancer'),
  deleteFailed: (error: string) => warning('DeleteLoadBalancerFailed', `Error deleting load balancer: ${error}`),
  failed: (error: string) => warning('SyncLoadBalancerFailed', `Error syncing load balancer: ${error}`),
} as const;

function normal(reason: string, message: string): Action & { kind: 'Event' } {
  return { kind: 'Event', type: 'Normal', reason, message };
}

function warning(reason: string, message: string): Action & { kind: 'Event' } {
  return { kind: 'Event', type: 'Warning', reason, message };
}
