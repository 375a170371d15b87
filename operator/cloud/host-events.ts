import { SERVICE_UID_ANNOTATION } from '../../crds';
import type { OperatorError } from '../base/errors';
import type { EventRecorder, EventTarget } from '../kube/api';
import type { StoredLoadBalancer } from './load-balancer-stacks';

/** So many Nodes are named in an Event (contract 2.1). */
const NAMED = 20;

/** Says on Services that their load balancers have got other targets, in upstream's words (contract 2.5). */
export class HostEvents {
  /** @param events with the source component `service-controller` */
  constructor(private readonly events: EventRecorder) {}

  /** @param nodes names of the new targets; that there are none is said by the service loop */
  updated(object: StoredLoadBalancer, nodes: readonly string[]): void {
    const service = serviceOf(object);
    if (service === undefined || nodes.length === 0 || !wasReady(object)) return;
    this.events.event(service, 'Normal', 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
  }

  /** Not when nothing was tried, or when the load balancer itself has turned out to be gone. */
  failed(object: StoredLoadBalancer, nodes: readonly string[], error: OperatorError): void {
    const service = serviceOf(object);
    const isSilent = error.code === 'Canceled' || error.code === 'NotFound' || error.reason === 'NodeUndecided';
    if (service === undefined || isSilent || !wasReady(object)) return;
    const message = `Error updating load balancer with new hosts [${namesOf(nodes)}] [node names limited, total number of nodes: ${nodes.length}], error: ${error.message}`;
    this.events.event(service, 'Warning', 'UpdateLoadBalancerFailed', message);
  }
}

function namesOf(nodes: readonly string[]): string {
  const named = nodes.slice(0, NAMED).sort();
  return [...named, ...(nodes.length > NAMED ? [`<${nodes.length - NAMED} more>`] : [])].join(' ');
}

/** The first targets of a load balancer, and those of another spec, are part of its making. */
function wasReady({ metadata, status }: StoredLoadBalancer): boolean {
  const ready = status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;
  return ready && status.observedGeneration === metadata.generation;
}

/** The Service that it was made for; undefined = a person made it. */
function serviceOf({ metadata: { name, namespace, annotations } }: StoredLoadBalancer): EventTarget | undefined {
  const uid = annotations?.[SERVICE_UID_ANNOTATION];
  if (uid === undefined) return undefined;
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, uid, ...(namespace === undefined ? {} : { namespace }) } };
}
