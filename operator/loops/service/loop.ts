import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { EventRecorder, KubeApi, Store, StoreChange, WorkQueue } from '../../kube/api';
import { eligibleForLoadBalancers } from '../../kube/node';
import type { Node, Service } from '../../kube/object';
import type { Clouds } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';
import { LatestWrites } from '../latest-writes';
import { ServiceActor, type Written } from './act';
import type { Action, Memory } from './actions';
import { claimOf } from './claim';
import { isOwnedBy } from './cloud-load-balancer';
import { evaluate, type Gathered, reportFailure } from './evaluate';
import { hasCleanupFinalizer, isLoadBalancer } from './rules';

/** How long what a write gave back counts for more than the store, in milliseconds. */
const STORE_LAG_LIMIT_MS = 10_000;

export interface ServiceLoopDependencies {
  api: KubeApi;
  services: Store<Service>;
  cloudLoadBalancers: Store<StoredCloudLoadBalancer>;
  nodes: Store<Node>;
  clouds: Clouds;
  /** With the source component `service-controller`. */
  events: EventRecorder;
  /** With the back-off of SERVICE_RETRY. */
  queue: WorkQueue;
  clock: Clock;
  logger: Logger;
  /** `--concurrent-service-syncs`. */
  workers: number;
}

/** The service loop: Services of type LoadBalancer in, CloudLoadBalancers out; status and Events back (contract 2). */
export class ServiceLoop {
  private readonly memories = new Map<string, Memory>();
  private readonly writtenServices: LatestWrites<Service>;
  private readonly writtenCloudLoadBalancers: LatestWrites<StoredCloudLoadBalancer>;
  private readonly actor: ServiceActor;

  constructor(private readonly dependencies: ServiceLoopDependencies) {
    this.actor = new ServiceActor(dependencies);
    this.writtenServices = new LatestWrites(dependencies.clock, STORE_LAG_LIMIT_MS);
    this.writtenCloudLoadBalancers = new LatestWrites(dependencies.clock, STORE_LAG_LIMIT_MS);
  }

  /** Runs until the signal is aborted. Nothing is decided before all stores have synced. */
  async run(signal: AbortSignal): Promise<void> {
    const { services, cloudLoadBalancers, nodes, queue, workers } = this.dependencies;
    const unsubscribe = [
      services.onChange((change) => this.onService(change)),
      cloudLoadBalancers.onChange((change) => this.onCloudLoadBalancer(change)),
      nodes.onChange((change) => this.onNode(change)),
    ];
    try {
      await Promise.all([services, cloudLoadBalancers, nodes].map((store) => store.whenSynced(signal)));
      this.requeueAll();
      await queue.run(workers, (key) => this.sync(key), signal);
    } finally {
      unsubscribe.forEach((stop) => stop());
    }
  }

  /** Looks at every Service again: for when the CloudProviders have changed. */
  requeueAll(): void {
    const { services, queue } = this.dependencies;
    for (const service of services.list()) {
      if (isRelevant(service)) queue.add(keyOfService(service));
    }
  }

  /** One pass over one Service; public for tests that need no queue. */
  async sync(key: string): Promise<void> {
    const gathered = this.gather(key);
    if (gathered === undefined) return;
    const { actions, memory } = evaluate(gathered);
    this.memories.set(key, memory);
    try {
      await this.act(gathered.service, actions);
    } catch (thrown) {
      await this.fail(gathered, memory, thrown);
      throw thrown;
    }
  }

  private async act(service: Service, actions: readonly Action[]): Promise<void> {
    const key = keyOfService(service);
    const written: Written = {};
    try {
      await this.actor.act(service, actions, written);
    } finally {
      if (written.service !== undefined) this.writtenServices.wrote(key, written.service);
      if (written.cloudLoadBalancer !== undefined) {
        this.writtenCloudLoadBalancers.wrote(key, written.cloudLoadBalancer);
        // Should it vanish before the store has seen it, no event will tell.
        this.dependencies.queue.addAfter(key, STORE_LAG_LIMIT_MS);
      }
    }
  }

  private gather(key: string): Gathered | undefined {
    const { services, cloudLoadBalancers, nodes, clouds, clock } = this.dependencies;
    const stored = services.get(key);
    const service = stored && this.writtenServices.latest(key, stored);
    if (service === undefined) {
      this.memories.delete(key);
      return undefined;
    }
    const known = this.memories.get(key);
    const memory = known?.serviceUID === service.metadata.uid ? known : { serviceUID: service.metadata.uid };
    const cloudLoadBalancer = this.writtenCloudLoadBalancers.latest(key, cloudLoadBalancers.get(key));
    const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid);
    return {
      service,
      cloudLoadBalancer,
      claim: isLoadBalancer(service) ? claimOf(service, owned ? cloudLoadBalancer : undefined, clouds) : { kind: 'Foreign' },
      eligibleNodes: nodes.list().filter(eligibleForLoadBalancers).length,
      memory,
      now: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  }

  /** Tells the user; what the API server refuses (a CEL rule, a webhook) is the Service's own fault and becomes its condition too. */
  private async fail(gathered: Gathered, memory: Memory, thrown: unknown): Promise<void> {
    const error = toOperatorError(thrown);
    const { service, cloudLoadBalancer } = gathered;
    const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid) ? cloudLoadBalancer : undefined;
    const refused = error.code === 'Invalid';
    const problem = { reason: refused ? 'Refused' : 'SyncFailed', message: error.message, stalled: refused };
    const report = reportFailure({ ...gathered, memory }, owned, problem);
    this.memories.set(keyOfService(service), report.memory);
    const actions = report.actions.filter(({ kind }) => kind === 'Event' || (refused && kind === 'PatchStatus'));
    try {
      await this.act(service, actions);
    } catch (second) {
      this.dependencies.logger.warn({ service: keyOfService(service), err: second }, 'the failure could not be written to the Service');
    }
  }

  private onService({ key, previous, current }: StoreChange<Service>): void {
    this.writtenServices.changed(key, current);
    if (![previous, current].some((service) => service !== undefined && isRelevant(service))) return;
    // What failed was something else: the back-off begins anew.
    if (previous !== undefined && asksForOther(previous, current)) this.dependencies.queue.forget(key);
    this.dependencies.queue.add(key);
  }

  private onCloudLoadBalancer({ key, current }: StoreChange<StoredCloudLoadBalancer>): void {
    this.writtenCloudLoadBalancers.changed(key, current);
    this.dependencies.queue.add(key);
  }

  /** Members follow the Nodes elsewhere; here only the loss of the last one matters (contract 2.5). */
  private onNode({ previous, current }: StoreChange<Node>): void {
    const eligible = (node: Node | undefined): boolean => node !== undefined && eligibleForLoadBalancers(node);
    if (eligible(previous) !== eligible(current)) this.requeueAll();
  }
}

function isRelevant(service: Service): boolean {
  return isLoadBalancer(service) || hasCleanupFinalizer(service);
}

/** What people say of a Service has changed, not only what controllers say. */
function asksForOther(previous: Service, current: Service | undefined): boolean {
  const asked = (service: Service | undefined): unknown => [
    service?.spec,
    service?.metadata.annotations,
    service?.metadata.labels,
    service?.metadata.deletionTimestamp,
  ];
  return !isDeepStrictEqual(asked(previous), asked(current));
}

function keyOfService(service: Service): string {
  return `${service.metadata.namespace}/${service.metadata.name}`;
}
