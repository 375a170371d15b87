import { CLOUD_INSTANCES, CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_ROUTES, CLOUD_STACKS, FIELD_MANAGERS } from '../crds';
import type { Logger } from './base/log';
import type { StoredInstance } from './cloud/instances/instance-mirror';
import type { StoredLoadBalancer } from './cloud/stack/load-balancer-stacks';
import type { StoredProvider } from './cloud/providers/provider-reconciler';
import type { StoredRoute } from './cloud/stack/route-stacks';
import type { StoredStack } from './cloud/stack/stack-record';
import { ROUTE_INDEXES } from './loops/route/loop';
import type { ListWatchApi } from './kube/client';
import { NAMESPACES, NODES, SERVICES, type KubeObject, type Node, type ResourcePath, type Service } from './kube/object';
import { dropManagedFields, keepManagedFieldsOf, Reflector } from './kube/reflector';

/** Six to twelve seconds of them: a restart of the API server is no news. */
const STALE_AFTER_FAILURES = 4;

/** A collection of the API server whose changes don't come in. */
export interface StaleCollection {
  collection: string;
  /** The last failure. */
  why: string;
}

/** A cache of every collection that the operator reads. */
export class Stores {
  readonly services: Reflector<Service>;
  readonly namespaces: Reflector<KubeObject>;
  readonly nodes: Reflector<Node>;
  readonly providers: Reflector<StoredProvider>;
  readonly loadBalancers: Reflector<StoredLoadBalancer>;
  readonly routes: Reflector<StoredRoute>;
  readonly stacks: Reflector<StoredStack>;
  readonly instances: Reflector<StoredInstance>;

  constructor(
    private readonly api: ListWatchApi,
    private readonly logger: Logger,
  ) {
    this.services = this.reflect<Service>(SERVICES, keepManagedFieldsOf(FIELD_MANAGERS.service));
    this.namespaces = this.reflect<KubeObject>(NAMESPACES, dropAnnotations);
    this.nodes = this.reflect<Node>(NODES, dropImages);
    this.providers = this.reflect<StoredProvider>(CLOUD_PROVIDERS);
    this.loadBalancers = this.reflect<StoredLoadBalancer>(CLOUD_LOAD_BALANCERS);
    this.routes = new Reflector<StoredRoute>({
      api,
      resource: CLOUD_ROUTES,
      indexes: ROUTE_INDEXES,
      logger: logger.child({ collection: CLOUD_ROUTES.plural }),
    });
    this.stacks = this.reflect<StoredStack>(CLOUD_STACKS);
    this.instances = this.reflect<StoredInstance>(CLOUD_INSTANCES);
  }

  /** Fills the caches until the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.all().map((reflector) => reflector.start(signal)));
  }

  /** What is not filled yet, in words; undefined when all is. */
  unsynced(): string | undefined {
    const waiting = this.all().filter((reflector) => !reflector.store.synced);
    return waiting.length === 0 ? undefined : waiting.map((reflector) => reflector.status().message).join('; ');
  }

  /** What stands in the way of a cache and does not pass by itself, in words: a kind that is missing, a right that is. */
  blocked(): string[] {
    return this.all().flatMap((reflector) => {
      const { synced, phase, lastError, message } = reflector.status();
      return !synced && (phase === 'Missing' || lastError?.code === 'Credentials') ? [message] : [];
    });
  }

  /** Collections whose changes have not come in for a while although they did before. */
  stale(): StaleCollection[] {
    return this.all().flatMap((reflector) => {
      const { synced, failures, lastError } = reflector.status();
      if (!synced || failures < STALE_AFTER_FAILURES || lastError === undefined) return [];
      return [{ collection: reflector.resource.plural, why: lastError.message }];
    });
  }

  /** What was in the way may be gone: nobody waits for his back-off. */
  retryNow(): void {
    this.all().forEach((reflector) => reflector.retryNow());
  }

  private all(): Pick<Reflector<KubeObject>, 'start' | 'status' | 'store' | 'retryNow' | 'resource'>[] {
    return [this.services, this.namespaces, this.nodes, this.providers, this.loadBalancers, this.routes, this.stacks, this.instances];
  }

  private reflect<T extends KubeObject>(resource: ResourcePath, transform: (object: T) => T = dropManagedFields): Reflector<T> {
    return new Reflector<T>({ api: this.api, resource, transform, logger: this.logger.child({ collection: resource.plural }) });
  }
}

/** Of a namespace nobody reads more here than its labels. */
function dropAnnotations(namespace: KubeObject): KubeObject {
  const { metadata, ...rest } = dropManagedFields(namespace);
  delete metadata.annotations;
  return { ...rest, metadata };
}

/** A Node's list of images is large and nobody reads it here. */
function dropImages(node: Node): Node {
  const status: Node['status'] & { images?: unknown } = { ...node.status };
  delete status.images;
  return { ...dropManagedFields(node), status };
}
