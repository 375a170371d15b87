import { SERVICE_UID_ANNOTATION } from '../../../crds';
import type { Target } from '../../../providers/provider';
import type { Clock } from '../../base/clock';
import { toOperatorError, type OperatorError } from '../../base/errors';
import type { EventRecorder, EventTarget } from '../../kube/api';
import type { StoredLoadBalancer } from '../stack/load-balancer-stacks';

type TargetNode = Pick<Target, 'nodeName'>;

/** So many Nodes are named in an Event (contract 2.1). */
const NAMED = 20;

export interface HostEventsOptions {
  /** With the source component `service-controller`. */
  events: EventRecorder;
  clock: Clock;
  /** Told how long it took to bring the targets of a load balancer in use to other Nodes, in milliseconds. */
  onSynced: (tookMs: number, failed: boolean) => void;
}

/** Says on Services that their load balancers have got other targets, in upstream's words, and counts it (contract 2.5, 2.13). */
export class HostEvents {
  constructor(private readonly options: HostEventsOptions) {}

  /**
   * @param nodes the new targets
   * @param sync brings them into the cloud, and gives how many writes that took
   * @throws what `sync` throws
   */
  async tell(object: StoredLoadBalancer, nodes: readonly TargetNode[], sync: () => Promise<number>): Promise<void> {
    const { clock, onSynced } = this.options;
    const startedAt = clock.monotonic();
    try {
      const writes = await sync();
      if (writes === 0 || !wasReady(object)) return;
      onSynced(clock.monotonic() - startedAt, false);
      // That there are none is said by the service loop.
      if (nodes.length > 0) this.say(object, 'Normal', 'UpdatedLoadBalancer', 'Updated load balancer with new hosts');
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (wasTried(error) && wasReady(object)) {
        onSynced(clock.monotonic() - startedAt, true);
        this.say(object, 'Warning', 'UpdateLoadBalancerFailed', failureText(nodes, error));
      }
      throw thrown;
    }
  }

  private say(object: StoredLoadBalancer, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const service = serviceOf(object);
    if (service !== undefined) this.options.events.event(service, type, reason, message);
  }
}

/** False when nothing was tried, or when the load balancer itself has turned out to be gone. */
function wasTried({ code, reason }: OperatorError): boolean {
  return code !== 'Canceled' && code !== 'NotFound' && reason !== 'NodeUndecided';
}

function failureText(nodes: readonly TargetNode[], { message }: OperatorError): string {
  const limited = `[node names limited, total number of nodes: ${nodes.length}]`;
  return `Error updating load balancer with new hosts [${namesOf(nodes)}] ${limited}, error: ${message}`;
}

function namesOf(nodes: readonly TargetNode[]): string {
  const named = nodes
    .slice(0, NAMED)
    .map(({ nodeName }) => nodeName)
    .sort();
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
