import { isDeepStrictEqual } from 'node:util';
import { SERVICE_READY_CONDITION } from '../../../crds';
import { inChange, newChangeID } from '../../base/change';
import type { ChangeBook } from '../../base/change-book';
import { type Clock, sleep } from '../../base/clock';
import { toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import { traced } from '../../base/tracing';
import type { EventRecorder, KubeApi, Store, StoreChange, WorkQueue } from '../../kube/api';
import { eligibleForLoadBalancers } from '../../kube/node';
import { keyOf, type KubeObject, type Node, type Service, SERVICES } from '../../kube/object';
import type { Clouds, Neighbor } from '../clouds';
import type { StoredCloudLoadBalancer } from '../kinds';
import { LatestWrites } from '../latest-writes';
import { ServiceActor, type Written } from './act';
import { type Action, EVENTS, type Memory } from './actions';
import { type Claim, claimOf } from './claim';
import { isOwnedBy } from './cloud-load-balancer';
import { evaluateDeparted, type LastSeen } from './departed';
import { evaluate, type Gathered, reportFailure } from './evaluate';
import { isAskedFor } from './needs-update';
import { Neighbors } from './neighbors';
import { isObserved } from './observed';
import { conditionOf } from './patches';
import { hasCleanupFinalizer, isLoadBalancer, needsCleanup, SERVICE_RESYNC_MS } from './rules';

/** How long what a write gave back counts for more than the store, in milliseconds. */
const STORE_LAG_LIMIT_MS = 10_000;

export interface ServiceLoopDependencies {
  api: KubeApi;
  services: Store<Service>;
  /** By whose labels a cloud may choose. */
  namespaces: Store<KubeObject>;
  cloudLoadBalancers: Store<StoredCloudLoadBalancer>;
  nodes: Store<Node>;
  clouds: Clouds;
  /** With the source component `service-controller`. */
  events: EventRecorder;
  /** With the back-off of SERVICE_RETRY. */
  queue: WorkQueue;
  /** Told which of the loop's changes is behind a CloudLoadBalancer; absent = nobody is. */
  changes?: ChangeBook;
  clock: Clock;
  logger: Logger;
  /** `--concurrent-service-syncs`. */
  workers: number;
}

/** The service loop: Services of type LoadBalancer in, CloudLoadBalancers out; status and Events back (contract 2). */
export class ServiceLoop {
  /** The newest version of each Service that a pass has seen. */
  private readonly seen = new Map<string, LastSeen>();
  /** Services that are gone, until nothing is left of them. */
  private readonly departed = new Map<string, LastSeen>();
  private readonly writtenServices: LatestWrites<Service>;
  private readonly writtenCloudLoadBalancers: LatestWrites<StoredCloudLoadBalancer>;
  private readonly actor: ServiceActor;
  private readonly neighbors: Neighbors;
  /** Undefined until a Node has come or gone. */
  private hadNodes: boolean | undefined;

  constructor(private readonly dependencies: ServiceLoopDependencies) {
    this.actor = new ServiceActor(dependencies);
    this.neighbors = new Neighbors(dependencies.cloudLoadBalancers);
    this.writtenServices = new LatestWrites(dependencies.clock, STORE_LAG_LIMIT_MS);
    this.writtenCloudLoadBalancers = new LatestWrites(dependencies.clock, STORE_LAG_LIMIT_MS);
  }

  /** Runs until the signal is aborted. Nothing is decided before all stores have synced. */
  async run(signal: AbortSignal): Promise<void> {
    const { services, namespaces, cloudLoadBalancers, nodes, queue, workers } = this.dependencies;
    const unsubscribe = [
      services.onChange((change) => this.onService(change)),
      namespaces.onChange((change) => this.onNamespace(change)),
      cloudLoadBalancers.onChange((change) => this.onCloudLoadBalancer(change)),
      nodes.onChange((change) => this.onNode(change)),
    ];
    try {
      await Promise.all([services, namespaces, cloudLoadBalancers, nodes].map((store) => store.whenSynced(signal)));
      this.requeueAll();
      this.requeueUnwanted();
      await Promise.all([queue.run(workers, (key) => this.sync(key), signal), this.resyncForEver(signal)]);
    } finally {
      unsubscribe.forEach((stop) => stop());
    }
  }

  /** Looks at every Service again, after those that somebody has just changed: for when the CloudProviders have changed. */
  requeueAll(): void {
    this.requeue(isRelevant);
  }

  /** One pass over one Service, as a change of its own; public for tests that need no queue. */
  sync(key: string): Promise<void> {
    return inChange({ id: newChangeID(), object: `Service ${key}` }, () =>
      traced('service', {}, async (span) => {
        if (!(await this.pass(key))) span.drop();
      }),
    );
  }

  /** @returns whether anything was done */
  private async pass(key: string): Promise<boolean> {
    this.neighbors.forget(key);
    const service = this.serviceOf(key);
    const before = this.seen.get(key);
    if (before !== undefined && before.service.metadata.uid !== service?.metadata.uid) {
      this.seen.delete(key);
      if (isLoadBalancer(before.service)) this.departed.set(key, before);
    }
    const waits = await this.finishDeparted(key);
    if (service === undefined || waits) return waits;
    const gathered = this.gather(key, service);
    const { actions, memory } = evaluate(gathered);
    this.seen.set(key, { service, memory });
    try {
      await this.act(gathered.service, actions);
      return actions.length > 0;
    } catch (thrown) {
      await this.fail(gathered, memory, thrown);
      throw thrown;
    }
  }

  /** @returns true when its CloudLoadBalancer begins to go now: the change of that brings the key back */
  private async finishDeparted(key: string): Promise<boolean> {
    const last = this.departed.get(key);
    if (last === undefined) return false;
    const cloudLoadBalancer = this.cloudLoadBalancerOf(key);
    const isOwn = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, last.service.metadata.uid);
    const observed = isObserved(last.service, isOwn ? cloudLoadBalancer : undefined, this.dependencies.clouds);
    const { actions, memory, done } = evaluateDeparted(last, cloudLoadBalancer, observed);
    const deletes = actions.some(({ kind }) => kind === 'Delete');
    if (deletes && (await this.isThereAgain(key, last.service))) {
      this.departed.delete(key);
      return false;
    }
    try {
      await this.act(last.service, actions);
    } catch (thrown) {
      const { type, reason, message } = EVENTS.deleteFailed(toOperatorError(thrown).message);
      if (!observed) this.dependencies.events.event(last.service, type, reason, message);
      throw thrown;
    }
    if (done) this.departed.delete(key);
    else this.departed.set(key, { ...last, memory });
    return deletes;
  }

  /** A list that was behind is not enough to delete anything. */
  private async isThereAgain(key: string, { metadata }: Service): Promise<boolean> {
    return (await this.dependencies.api.get<Service>(SERVICES, key))?.metadata.uid === metadata.uid;
  }

  private async act(service: Service, actions: readonly Action[]): Promise<void> {
    const key = keyOfService(service);
    const written: Written = {};
    // Before the write: its event may be here first.
    if (actions.some(({ kind }) => kind === 'Apply' || kind === 'Delete')) this.dependencies.changes?.note(`CloudLoadBalancer/${key}`);
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

  private serviceOf(key: string): Service | undefined {
    const stored = this.dependencies.services.get(key);
    return stored && this.writtenServices.latest(key, stored);
  }

  private cloudLoadBalancerOf(key: string): StoredCloudLoadBalancer | undefined {
    return this.writtenCloudLoadBalancers.latest(key, this.dependencies.cloudLoadBalancers.get(key));
  }

  private gather(key: string, service: Service): Gathered {
    const { nodes, namespaces, clouds, clock } = this.dependencies;
    const memory = this.seen.get(key)?.memory ?? { serviceUID: service.metadata.uid };
    const cloudLoadBalancer = this.cloudLoadBalancerOf(key);
    const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid);
    const neighborsIn = (provider: string): Neighbor[] => this.neighbors.of(key, provider);
    const placed = { service, namespace: namespaces.get(service.metadata.namespace ?? ''), neighborsIn };
    const claim: Claim = isLoadBalancer(service) ? claimOf(placed, owned ? cloudLoadBalancer : undefined, clouds) : { kind: 'Foreign' };
    return {
      service,
      cloudLoadBalancer,
      claim,
      observed: isObserved(service, owned ? cloudLoadBalancer : undefined, clouds),
      hasNodes: nodes.list().some(eligibleForLoadBalancers),
      memory,
      now: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
    };
  }

  /** Tells the user; what the API server refuses (a CEL rule, a webhook) is the Service's own fault and becomes its condition too. */
  private async fail(gathered: Gathered, memory: Memory, thrown: unknown): Promise<void> {
    if (gathered.observed) return;
    const error = toOperatorError(thrown);
    const { service, cloudLoadBalancer } = gathered;
    const owned = cloudLoadBalancer !== undefined && isOwnedBy(cloudLoadBalancer, service.metadata.uid) ? cloudLoadBalancer : undefined;
    const refused = error.code === 'Invalid';
    const problem = { reason: error.reason ?? (refused ? 'Refused' : 'SyncFailed'), message: error.message, stalled: refused };
    const report = reportFailure({ ...gathered, memory }, owned, problem);
    this.seen.set(keyOfService(service), { service, memory: report.memory });
    const actions = report.actions.filter(({ kind }) => kind === 'Event' || (refused && kind === 'PatchStatus'));
    try {
      await this.act(service, actions);
    } catch (second) {
      this.dependencies.logger.warn({ service: keyOfService(service), err: second }, 'the failure could not be written to the Service');
    }
  }

  private onService({ key, previous, current }: StoreChange<Service>): void {
    this.writtenServices.changed(key, current);
    if (![previous, current].some((service) => service !== undefined && isRelevant(service))) {
      this.seen.delete(key);
      return;
    }
    const asked = isAskedFor(previous, current);
    // What failed was something else: the back-off begins anew.
    if (asked) this.dependencies.queue.forget(key);
    this.dependencies.queue.add(key, asked ? 'Normal' : 'Low');
  }

  private onNamespace({ key, previous, current }: StoreChange<KubeObject>): void {
    if (isDeepStrictEqual(previous?.metadata.labels, current?.metadata.labels)) return;
    this.requeue((service) => service.metadata.namespace === key && isRelevant(service));
  }

  private onCloudLoadBalancer(change: StoreChange<StoredCloudLoadBalancer>): void {
    const { key, current } = change;
    this.writtenCloudLoadBalancers.changed(key, current);
    this.dependencies.queue.add(key);
    for (const affected of this.neighbors.affectedBy(change)) this.dependencies.queue.add(affected, 'Low');
  }

  /** Members follow the Nodes elsewhere; here only the loss of the last one matters (contract 2.5). */
  private onNode({ previous, current }: StoreChange<Node>): void {
    const eligible = (node: Node | undefined): boolean => node !== undefined && eligibleForLoadBalancers(node);
    if (eligible(previous) === eligible(current)) return;
    const hasNodes = this.dependencies.nodes.list().some(eligibleForLoadBalancers);
    if (hasNodes !== this.hadNodes) this.requeueAll();
    this.hadNodes = hasNodes;
  }

  /** What has to go is tried at least so often: nobody changes such a Service any more. */
  private async resyncForEver(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.dependencies;
    while (!signal.aborted) {
      try {
        await sleep(clock, SERVICE_RESYNC_MS, signal);
      } catch (thrown) {
        logger.debug({ err: thrown }, 'the resync of Services ends');
        return;
      }
      this.requeue(needsCleanup);
    }
  }

  /** Services that need no load balancer any more, and have one: nobody may have been there to see them change. */
  private requeueUnwanted(): void {
    const { cloudLoadBalancers, queue } = this.dependencies;
    for (const { metadata } of cloudLoadBalancers.list()) {
      const service = this.serviceOf(keyOf(metadata));
      if (service !== undefined && !isRelevant(service)) queue.add(keyOf(metadata), 'Low');
    }
  }

  private requeue(which: (service: Service) => boolean): void {
    const { services, queue } = this.dependencies;
    for (const service of services.list()) if (which(service)) queue.add(keyOfService(service), 'Low');
  }
}

/** What we have said of a Service must not outlast its type. */
function isRelevant(service: Service): boolean {
  return isLoadBalancer(service) || hasCleanupFinalizer(service) || conditionOf(service, SERVICE_READY_CONDITION) !== undefined;
}

function keyOfService(service: Service): string {
  return `${service.metadata.namespace}/${service.metadata.name}`;
}
