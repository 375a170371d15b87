import Operator, {
  ResourceEventType,
  ResourceMetaImpl,
  type OperatorLogger,
  type ResourceEvent,
  type ResourceMeta,
} from '@dot-i/k8s-operator';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { OperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { KubeApi, Store, WorkQueue } from './api';
import { keyOf, splitKey, type KubeObject, type ObjectKey, type ResourcePath } from './object';
import { apiVersionOf, collectionPath, resourceName } from './resource-url';

export interface KindControllerOptions<T extends KubeObject> {
  kubeConfig: KubeConfig;
  api: KubeApi;
  logger: Logger;
  /** The kind that this controller reconciles. */
  resource: ResourcePath;
  /** Filled by a reflector that somebody else starts. */
  store: Store<T>;
  queue: WorkQueue;
  /** How many keys at once. */
  workers: number;
  /** Owner of the status fields in server-side apply, for example `cloud-operator-cloud`. */
  fieldManager: string;
}

/**
 * Operator without its constructor, which reads the default kubeconfig of the machine (and throws when that one is broken) although ours is
 * given, and makes a queue that isn't used here.
 */
const OperatorWithoutConstructor = function () {} as unknown as abstract new () => Operator;
Object.defineProperty(OperatorWithoutConstructor, 'prototype', { value: Operator.prototype });

/**
 * Base of the controllers of our own kinds: the life cycle and the finalizer flow of @dot-i/k8s-operator over our own reflector, keyed queue
 * and client. Its watch loop, which loses deletions and ends the process on errors, never runs.
 */
export abstract class KindController<T extends KubeObject> extends OperatorWithoutConstructor {
  private readonly stopping = new AbortController();
  /** What each key's object was when it was last handed out; without an entry the next event is Added. */
  private readonly seen = new Map<ObjectKey, T>();
  private running: Promise<void> = Promise.resolve();
  private unsubscribe: () => void = () => undefined;

  constructor(protected readonly options: KindControllerOptions<T>) {
    super();
    this.kubeConfig = options.kubeConfig;
    this.logger = loggerOf(options.logger);
  }

  /** Brings one object to what it says; the object may be gone. A throw is logged and tried again after the key's back-off. */
  protected abstract reconcile(key: ObjectKey): Promise<void>;

  /** Waits for the first list of the store, then starts the workers. */
  protected override async init(): Promise<void> {
    const { resource, store } = this.options;
    try {
      await store.whenSynced(this.stopping.signal);
    } catch (thrown) {
      if (this.stopping.signal.aborted) return;
      throw thrown;
    }
    await this.watchResource(resource.group, resource.version, resource.plural, (event) => this.reconcile(keyOf(event.meta)));
  }

  /** Tells the workers to end; the process lives on. */
  override stop(): void {
    this.unsubscribe();
    this.stopping.abort(new OperatorError('Canceled', `the controller of ${resourceName(this.options.resource)} was stopped`));
  }

  /** Resolves after `stop` when the keys that run have ended. */
  async ended(): Promise<void> {
    await this.running;
  }

  /**
   * Calls `onEvent` for each change of the store, keyed: one at a time for each object, with the newest version, again when it throws.
   * @throws OperatorError Invalid for another resource than the controller's own
   */
  // The base class has five parameters.
  // eslint-disable-next-line max-params
  protected override watchResource(
    group: string,
    version: string,
    plural: string,
    onEvent: (event: ResourceEvent) => Promise<void>,
    namespace?: string,
  ): Promise<void> {
    const { resource, store, queue, workers } = this.options;
    if (group !== resource.group || version !== resource.version || plural !== resource.plural) {
      const wanted = `${plural}.${group}/${version}`;
      return Promise.reject(
        new OperatorError('Invalid', `the controller of ${resourceName(resource)} can't watch ${wanted}: it needs a controller of its own`),
      );
    }
    const inScope = (key: ObjectKey): boolean => namespace === undefined || key.startsWith(`${namespace}/`);
    this.unsubscribe = store.onChange(({ key }) => {
      if (inScope(key)) queue.add(key);
    });
    for (const object of store.list()) {
      if (inScope(keyOf(object.metadata))) queue.add(keyOf(object.metadata));
    }
    this.running = queue.run(workers, (key) => onEvent(this.eventOf(key)), this.stopping.signal);
    return Promise.resolve();
  }

  protected override getCustomResourceApiUri(group: string, version: string, plural: string, namespace?: string): string {
    const server = this.kubeConfig.getCurrentCluster()?.server ?? '';
    return server + collectionPath({ group, version, plural, kind: '', namespaced: namespace !== undefined }, namespace);
  }

  /** Applies the whole status server-side: fields that are left out are given up. */
  protected override async setResourceStatus(meta: ResourceMeta, status: unknown): Promise<ResourceMeta> {
    const { api, resource, fieldManager } = this.options;
    const body = { metadata: { name: meta.name, namespace: meta.namespace }, status };
    const applied = await api.apply<T>(resource, keyOf(meta), body, { fieldManager, force: true, subresource: 'status' });
    return this.metaOf(applied);
  }

  /**
   * As setResourceStatus, with a JSON merge patch on the status as it is now.
   * @throws OperatorError NotFound when the object is gone
   */
  protected override async patchResourceStatus(meta: ResourceMeta, status: unknown): Promise<ResourceMeta> {
    const current = await this.options.api.get<T & { status?: unknown }>(this.options.resource, keyOf(meta));
    if (current === undefined) throw new OperatorError('NotFound', `${this.options.resource.kind} ${keyOf(meta)} is gone`);
    return this.setResourceStatus(meta, mergePatch(current.status, status));
  }

  /** @throws OperatorError Conflict when the object has changed since `meta` was read */
  protected override async setResourceFinalizers(meta: ResourceMeta, finalizers: string[]): Promise<void> {
    // `add` also replaces; without finalizers the member is absent, and `replace` would fail.
    const patch = [
      { op: 'test', path: '/metadata/resourceVersion', value: meta.resourceVersion },
      { op: 'add', path: '/metadata/finalizers', value: finalizers },
    ];
    await this.options.api.patch(this.options.resource, keyOf(meta), 'json', patch);
  }

  /** @throws OperatorError always: the leader installs the CRDs, and the base's way drops their validation rules */
  protected override registerCustomResourceDefinition(crdFile: string): Promise<never> {
    return Promise.reject(new OperatorError('Invalid', `${crdFile}: CRDs are not registered by a controller`));
  }

  /** An event for the inherited finalizer flow, with a copy of the object: the flow changes it, and objects of the store are frozen. */
  protected eventFor(object: KubeObject, type: ResourceEventType = ResourceEventType.Modified): ResourceEvent {
    return { meta: this.metaOf(object), type, object: structuredClone(object) as unknown as KubernetesObject };
  }

  /** The newest version of a key's object; Deleted with the last known one, or a bare one when it was never seen. */
  private eventOf(key: ObjectKey): ResourceEvent {
    const current = this.options.store.get(key);
    const before = this.seen.get(key);
    if (current === undefined) {
      this.seen.delete(key);
      return this.eventFor(before ?? bareObject(this.options.resource, key), ResourceEventType.Deleted);
    }
    this.seen.set(key, current);
    return this.eventFor(current, before === undefined ? ResourceEventType.Added : ResourceEventType.Modified);
  }

  private metaOf(object: KubeObject): ResourceMeta {
    return ResourceMetaImpl.createWithPlural(this.options.resource.plural, object as unknown as KubernetesObject);
  }
}

function bareObject(resource: ResourcePath, key: ObjectKey): KubeObject {
  const metadata = { ...splitKey(key), uid: '', resourceVersion: '0', creationTimestamp: '' };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata };
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = mergePatch(result[name], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function loggerOf(logger: Logger): OperatorLogger {
  return {
    debug: (message) => logger.debug(message),
    info: (message) => logger.info(message),
    warn: (message) => logger.warn(message),
    error: (message) => logger.error(message),
  };
}
