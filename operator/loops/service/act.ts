import { FIELD_MANAGERS, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { EventRecorder, KubeApi, WorkQueue } from '../../kube/api';
import { keyOf, type Service, SERVICES } from '../../kube/object';
import { FINALIZER_LOAD_BALANCER_CLEANUP } from '../../kube/well-known';
import type { Clouds, LeftBehind } from '../clouds';
import { deleteObject } from '../deletion';
import type { StoredCloudLoadBalancer } from '../kinds';
import { type Action, EVENTS } from './actions';
import { type CloudLoadBalancerBody, isOwnedBy } from './cloud-load-balancer';

/** How long until a Service is looked at again whose CloudLoadBalancer was found by a live read only. */
const STORE_LAG_MS = 1_000;

const STATUS = { subresource: 'status', fieldManager: FIELD_MANAGERS.service } as const;

export interface ActorDependencies {
  api: KubeApi;
  clouds: Pick<Clouds, 'leftFor'>;
  events: EventRecorder;
  queue: WorkQueue;
}

/** The objects as they are after our writes. */
export interface Written {
  service?: Service;
  cloudLoadBalancer?: StoredCloudLoadBalancer;
}

/** Carries out what was decided for one Service. */
export class ServiceActor {
  constructor(private readonly dependencies: ActorDependencies) {}

  /**
   * Acts in order and stops at the first failure.
   * @param written filled with what the writes gave back, also when a later one fails
   * @throws OperatorError with upstream's words for the step that failed (contract 2.5)
   */
  async act(service: Service, actions: readonly Action[], written: Written): Promise<void> {
    for (const action of actions) {
      if (action.kind === 'Release' && action.asks) await this.assertNothingLeft(service);
      try {
        Object.assign(written, await this.one(service, action));
      } catch (thrown) {
        throw explain(action, thrown);
      }
    }
  }

  private async one(service: Service, action: Action): Promise<Written> {
    const { api, events, queue } = this.dependencies;
    const key = keyOf(service.metadata);
    switch (action.kind) {
      case 'Event':
        events.event(service, action.type, action.reason, action.message);
        return {};
      case 'AddFinalizer':
        return { service: await api.patch<Service>(SERVICES, key, 'strategic', action.patch, STATUS) };
      case 'Apply':
        return { cloudLoadBalancer: await this.apply(service, action.body) };
      case 'Delete':
        await deleteObject(api, CLOUD_LOAD_BALANCERS, key, action.uid);
        return {};
      case 'Release':
        return this.release(service, action.patch);
      case 'PatchStatus':
        return this.patchStatus(key, action.patch);
      case 'Retry':
        queue.addRateLimited(key);
        return {};
    }
  }

  /** The store may not know yet of an object that somebody else has just made: a live read keeps us from writing into it. */
  private async apply(service: Service, body: CloudLoadBalancerBody): Promise<StoredCloudLoadBalancer> {
    const { api } = this.dependencies;
    const key = keyOf(service.metadata);
    let uid = body.metadata.uid;
    if (uid === undefined) {
      const live = await api.get<StoredCloudLoadBalancer>(CLOUD_LOAD_BALANCERS, key);
      if (live !== undefined && !isOwnedBy(live, service.metadata.uid)) {
        throw new OperatorError('Conflict', `CloudLoadBalancer ${key} was not made for this Service and is not taken over`);
      }
      uid = live?.metadata.uid;
    }
    const metadata = uid === undefined ? body.metadata : { ...body.metadata, uid };
    const options = { fieldManager: FIELD_MANAGERS.service, force: true };
    return api.apply<StoredCloudLoadBalancer>(CLOUD_LOAD_BALANCERS, key, { ...body, metadata }, options);
  }

  /** The finalizer is the promise that nothing is left: a store that lags behind is not enough to drop it. */
  private async release(service: Service, patch: object): Promise<Written> {
    const { api, events, queue } = this.dependencies;
    const key = keyOf(service.metadata);
    const live = await api.get<StoredCloudLoadBalancer>(CLOUD_LOAD_BALANCERS, key);
    if (live !== undefined && isOwnedBy(live, service.metadata.uid)) {
      queue.addAfter(key, STORE_LAG_MS);
      return {};
    }
    const written = await this.patchStatus(key, patch);
    const { type, reason, message } = EVENTS.deleted;
    events.event(service, type, reason, message);
    return written;
  }

  /** The promise may be that of a controller before us. @throws OperatorError with the reason LeftBehind while what it has made stands */
  private async assertNothingLeft({ metadata: { uid, annotations = {} }, spec: { loadBalancerClass } }: Service): Promise<void> {
    const claim = { uid, annotations, ...(loadBalancerClass === undefined ? {} : { loadBalancerClass }) };
    const left = await this.dependencies.clouds.leftFor(claim).catch((thrown: unknown) => {
      throw inWords('failed to check if load balancer exists before cleanup', toOperatorError(thrown));
    });
    if (left !== undefined) throw leftBehind(left);
  }

  /** NotFound is ignored: the object vanished when its last finalizer went (contract 2.7). */
  private async patchStatus(key: string, patch: object): Promise<Written> {
    try {
      return { service: await this.dependencies.api.patch<Service>(SERVICES, key, 'strategic', patch, STATUS) };
    } catch (thrown) {
      if (toOperatorError(thrown).code !== 'NotFound') throw thrown;
      return {};
    }
  }
}

/** Nothing in the cloud is deleted that was not made here, or taken over with consent (docs/operate/adopt.md). */
function leftBehind({ what, by }: LeftBehind): OperatorError {
  const remedy = `Delete it with what belongs to it, or have ${by} do so (docs/migrate/aws.md); this Service then goes by itself. To keep it, take the finalizer ${FINALIZER_LOAD_BALANCER_CLEANUP} off the Service`;
  const message = `failed to delete load balancer: ${what} stands, and was never taken over here. ${remedy}`;
  return new OperatorError('Invalid', message, { reason: 'LeftBehind' });
}

const STEPS: Partial<Record<Action['kind'], string>> = {
  AddFinalizer: 'failed to add load balancer cleanup finalizer',
  Apply: 'failed to ensure load balancer',
  Delete: 'failed to delete load balancer',
  Release: 'failed to remove load balancer cleanup finalizer',
  PatchStatus: 'failed to update load balancer status',
};

function explain(action: Action, thrown: unknown): OperatorError {
  const error = toOperatorError(thrown);
  const step = STEPS[action.kind];
  return step === undefined ? error : inWords(step, error);
}

function inWords(step: string, error: OperatorError): OperatorError {
  const detail = error.retryAfterMs === undefined ? { cause: error } : { cause: error, retryAfterMs: error.retryAfterMs };
  return new OperatorError(error.code, `${step}: ${error.message}`, detail);
}
