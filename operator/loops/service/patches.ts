import { isDeepStrictEqual } from 'node:util';
import { type Ingress, SERVICE_READY_CONDITION, SERVICE_STALLED_CONDITION } from '../../../crds';
import type { KubeCondition, Service, ServiceIngress } from '../../kube/object';
import { FINALIZER_LOAD_BALANCER_CLEANUP as FINALIZER } from '../../kube/well-known';
import { hasCleanupFinalizer } from './rules';

/** Condition that lists what was ignored in a Service, for example an annotation that the cloud doesn't know. */
export const SERVICE_WARNING_CONDITION = 'cloud-operator.dev/Warning';

/** What a Service's status should say; an absent part is left as it is. */
export interface WantedStatus {
  ingress?: readonly Ingress[];
  ready?: ConditionContent;
  /** `null` = nobody is needed. */
  stalled?: ConditionContent | null;
  /** `null` = there is nothing to warn of. */
  warning?: ConditionContent | null;
}

export interface ConditionContent {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** Strategic merge patch that adds the finalizer, as client-go makes it; undefined when it is there (contract 2.11). */
export function addFinalizerPatch(service: Service): object | undefined {
  if (hasCleanupFinalizer(service)) return undefined;
  const present = service.metadata.finalizers ?? [];
  const order = present.length === 0 ? {} : { '$setElementOrder/finalizers': [...present, FINALIZER] };
  return { metadata: { ...order, finalizers: [FINALIZER] } };
}

/**
 * Takes the finalizer off and empties the status in one patch. It names the UID, so that it can't touch a Service
 * that was made anew under the same name, and only our finalizer, so that one added meanwhile stays.
 */
export function releasePatch(service: Service): object | undefined {
  if (!hasCleanupFinalizer(service)) return undefined;
  const metadata = { uid: service.metadata.uid, '$deleteFromPrimitiveList/finalizers': [FINALIZER] };
  const status = {
    ...(ingressOf(service).length === 0 ? {} : { loadBalancer: { ingress: null } }),
    ...withoutOurConditions(service),
  };
  return Object.keys(status).length === 0 ? { metadata } : { metadata, status };
}

/** Strategic merge patch that takes away what we have said of a Service; undefined when that is nothing. */
export function silencePatch(service: Service): object | undefined {
  const status = withoutOurConditions(service);
  return status.conditions === undefined ? undefined : { status };
}

function withoutOurConditions(service: Service): { conditions?: object[] } {
  const ours = [SERVICE_READY_CONDITION, SERVICE_STALLED_CONDITION, SERVICE_WARNING_CONDITION].filter(
    (type) => conditionOf(service, type) !== undefined,
  );
  return ours.length === 0 ? {} : { conditions: ours.map((type) => ({ $patch: 'delete', type })) };
}

/** Strategic merge patch of the status with only what differs; undefined when nothing does. @param now RFC 3339 time */
export function statusPatch(service: Service, wanted: WantedStatus, now: string): object | undefined {
  const conditions = [
    ...conditionPatch(service, SERVICE_READY_CONDITION, wanted.ready, now),
    ...conditionPatch(service, SERVICE_STALLED_CONDITION, wanted.stalled, now),
    ...conditionPatch(service, SERVICE_WARNING_CONDITION, wanted.warning, now),
  ];
  const ingress = wanted.ingress?.map(withMode);
  const status = {
    ...(ingress === undefined || sameIngress(ingress, ingressOf(service))
      ? {}
      : { loadBalancer: { ingress: ingress.length === 0 ? null : ingress } }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
  return Object.keys(status).length === 0 ? undefined : { status };
}

/** Contract 2.11: absent and empty lists are equal, an unset ipMode is not VIP, and ports count. */
export function sameIngress(a: readonly ServiceIngress[], b: readonly ServiceIngress[]): boolean {
  return isDeepStrictEqual(a.map(plain), b.map(plain));
}

export function ingressOf(service: Service): ServiceIngress[] {
  return service.status?.loadBalancer?.ingress ?? [];
}

export function conditionOf(service: Service, type: string): KubeCondition | undefined {
  return service.status?.conditions?.find((condition) => condition.type === type);
}

/** The API server fills ipMode in for addresses; without it every comparison would differ (contract 2.11). */
export function withMode(ingress: Ingress): ServiceIngress {
  const { ip, hostname, ipMode } = ingress;
  return {
    ...(ip === undefined ? {} : { ip }),
    ...(hostname === undefined ? {} : { hostname }),
    ...(ip === undefined ? {} : { ipMode: ipMode ?? 'VIP' }),
  };
}

function plain(ingress: ServiceIngress): object {
  return JSON.parse(JSON.stringify(ingress)) as object;
}

function conditionPatch(service: Service, type: string, wanted: ConditionContent | null | undefined, now: string): object[] {
  const current = conditionOf(service, type);
  if (wanted === undefined) return [];
  if (wanted === null) return current === undefined ? [] : [{ $patch: 'delete', type }];
  const same = current?.status === wanted.status && current.reason === wanted.reason && current.message === wanted.message;
  if (same) return [];
  const lastTransitionTime = current?.status === wanted.status ? (current.lastTransitionTime ?? now) : now;
  const { generation } = service.metadata;
  return [{ type, ...wanted, ...(generation === undefined ? {} : { observedGeneration: generation }), lastTransitionTime }];
}
