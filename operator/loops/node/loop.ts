import { isDeepStrictEqual } from 'node:util';
import { type Clock, sleep } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { EventRecorder, KubeApi, Store, StoreChange, WorkQueue } from '../../kube/api';
import { type Node, NODES } from '../../kube/object';
import type { InstanceLookup, Instances } from '../instances';
import { type Action, evaluateAddresses, evaluateInitialize, evaluateLabels, isUninitialized, SYNCED } from './evaluate';

/** Back-off of a Node's key: 5 ms doubling to 1000 s (contract 3.1). */
export const NODE_RETRY = { baseMs: 5, maxMs: 1_000_000 };

/** Contract 3.1: retries of a Node that changed while it was being written. */
const CONFLICT_RETRIES = 20;
const CONFLICT_WAIT_MS = 50;

/** How long until a Node is tried again that no cloud claims: doubling, so that a cloud which never lists it is not asked for ever. */
const UNCLAIMED_RETRY = { baseMs: 1_000, maxMs: 300_000 };

export interface NodeLoopSettings {
  /** `--concurrent-node-syncs`. */
  workers: number;
  /** `--concurrent-node-status-updates`. */
  statusUpdateWorkers: number;
  /** `--node-status-update-frequency`, in milliseconds. */
  statusUpdateMs: number;
  /** How old a listing may be from which a Node is initialized: one listing serves all Nodes that join together. */
  listingMaxAgeMs: number;
  /** The same where the listing was taken after the Node was first seen: it can't be from before its machine. */
  laterListingMaxAgeMs: number;
}

export const NODE_LOOP_DEFAULTS: NodeLoopSettings = {
  ...{ workers: 1, statusUpdateWorkers: 1, statusUpdateMs: 300_000 },
  ...{ listingMaxAgeMs: 1_000, laterListingMaxAgeMs: 30_000 },
};

export interface NodeLoopMetrics {
  /** Ages of a Node, in milliseconds: when its taint was taken off, and when all was done. */
  nodeInitialized(taintedMs: number, syncedMs: number): void;
}

export interface NodeLoopDependencies {
  api: KubeApi;
  nodes: Store<Node>;
  instances: Instances;
  /** Nothing is written to Nodes of this CloudProvider, which is only observed. */
  observes: (provider: string) => boolean;
  /** With the source component `cloud-node-controller`. */
  events: EventRecorder;
  /** With the back-off of NODE_RETRY. */
  queue: WorkQueue;
  metrics: NodeLoopMetrics;
  clock: Clock;
  logger: Logger;
  settings: NodeLoopSettings;
}

/** The cloud-node loop: initializes Nodes that the kubelet tainted, and keeps their addresses and labels (contract 3). Needs nothing but Nodes. */
export class NodeLoop {
  /** By UID: how often a Node was unclaimed, and what was said of it. */
  private readonly unclaimed = new Map<string, { times: number; said: string }>();

  /** By UID, on the monotonic clock: when a Node was first seen that was not initialized then. */
  private readonly seenAt = new Map<string, number>();

  /** Names of initialized Nodes whose addresses could not be written yet. */
  private readonly addressesDue = new Set<string>();

  constructor(private readonly dependencies: NodeLoopDependencies) {
    if (dependencies.settings.workers <= 0) throw new OperatorError('Invalid', 'concurrent-node-syncs must be a positive number');
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, queue, settings } = this.dependencies;
    const unsubscribe = nodes.onChange((change) => this.onNode(change));
    try {
      await nodes.whenSynced(signal);
      for (const node of nodes.list()) {
        this.see(node);
        queue.add(node.metadata.name, isUninitialized(node) ? 'Normal' : 'Low');
      }
      await Promise.all([queue.run(settings.workers, (key) => this.sync(key), signal), this.refreshForEver(signal)]);
    } finally {
      unsubscribe();
    }
  }

  /** One pass over one Node; public for tests that need no queue. */
  async sync(name: string): Promise<void> {
    const { api, nodes } = this.dependencies;
    let node = nodes.get(name);
    for (let attempt = 0; node !== undefined; attempt++) {
      try {
        return await this.pass(node);
      } catch (thrown) {
        if (toOperatorError(thrown).code !== 'Conflict' || attempt >= CONFLICT_RETRIES) throw thrown;
      }
      await sleep(this.dependencies.clock, CONFLICT_WAIT_MS);
      node = await api.get<Node>(NODES, name);
    }
  }

  /** One look at the addresses of every initialized Node, from one listing per provider (contract 3.4). */
  async refreshAddresses(): Promise<void> {
    const { nodes, queue, settings } = this.dependencies;
    const left = nodes.list();
    const work = async (): Promise<void> => {
      for (let node = left.shift(); node !== undefined; node = left.shift()) {
        if (isUninitialized(node)) queue.add(node.metadata.name);
        else await this.refresh(node);
      }
    };
    await Promise.all(Array.from({ length: settings.statusUpdateWorkers }, work));
  }

  private async pass(node: Node): Promise<void> {
    const { name } = node.metadata;
    if (!isUninitialized(node)) {
      await this.act(node, evaluateLabels(node));
      if (this.addressesDue.has(name)) await this.refresh(node);
      return;
    }
    const lookup = await this.lookup(node, this.listingMaxAgeMs(node));
    if (lookup.state === 'Found' && this.dependencies.observes(lookup.provider)) return;
    await this.act(node, this.initialization(node, lookup));
  }

  /** What the Node or its machine lacks is told on the Node, once: no retry mends it. */
  private initialization(node: Node, lookup: InstanceLookup): Action[] {
    const { uid } = node.metadata;
    try {
      return this.onlyNews(node, evaluateInitialize(node, lookup));
    } catch (thrown) {
      const { message } = toOperatorError(thrown);
      const { said, times = 0 } = this.unclaimed.get(uid) ?? {};
      if (said !== message) this.dependencies.events.event(node, 'Warning', 'NodeNotInitialized', message);
      this.unclaimed.set(uid, { times: times + 1, said: message });
      throw thrown;
    }
  }

  /** Whom a listing did not have is looked for in a new one. */
  private listingMaxAgeMs({ metadata: { uid } }: Node): number {
    const { listingMaxAgeMs, laterListingMaxAgeMs } = this.dependencies.settings;
    const seenAt = this.seenAt.get(uid);
    if (seenAt === undefined || this.unclaimed.has(uid)) return listingMaxAgeMs;
    return Math.max(listingMaxAgeMs, Math.min(laterListingMaxAgeMs, this.dependencies.clock.monotonic() - seenAt));
  }

  private async lookup(node: Node, maxAgeMs: number): Promise<InstanceLookup> {
    const { name, labels } = node.metadata;
    const { providerID } = node.spec;
    const identity = { name, labels: labels ?? {}, ...(providerID === undefined || providerID === '' ? {} : { providerID }) };
    try {
      return await this.dependencies.instances.lookup(identity, maxAgeMs);
    } catch (thrown) {
      const { code, message, retryAfterMs } = toOperatorError(thrown);
      const detail = retryAfterMs === undefined ? { cause: thrown } : { cause: thrown, retryAfterMs };
      throw new OperatorError(code, `failed to get instance metadata for node ${name}: ${message}`, detail);
    }
  }

  /** An event about an unclaimed Node is said once, not at every try. */
  private onlyNews(node: Node, actions: Action[]): Action[] {
    const { uid } = node.metadata;
    const known = this.unclaimed.get(uid);
    const warning = actions.find((action) => action.kind === 'Event' && action.type === 'Warning');
    if (warning?.kind !== 'Event') {
      this.unclaimed.delete(uid);
      return actions;
    }
    this.unclaimed.set(uid, { times: (known?.times ?? 0) + 1, said: warning.message });
    return known?.said === warning.message ? actions.filter((action) => action !== warning) : actions;
  }

  private async act(node: Node, actions: Action[]): Promise<void> {
    const { api, events, queue, metrics } = this.dependencies;
    const { name, uid } = node.metadata;
    let patchedMs = 0;
    for (const action of actions) {
      switch (action.kind) {
        case 'Event':
          events.event(node, action.type, action.reason, action.message);
          if (action.reason === SYNCED) metrics.nodeInitialized(patchedMs, this.ageOf(node));
          break;
        case 'PatchNode':
          await api.patch(NODES, name, 'strategic', action.patch);
          patchedMs = this.ageOf(node);
          break;
        case 'PatchStatus':
          await this.writeAddresses(name, action.patch);
          break;
        case 'Retry': {
          const times = this.unclaimed.get(uid)?.times ?? 1;
          queue.addAfter(name, Math.min(UNCLAIMED_RETRY.maxMs, UNCLAIMED_RETRY.baseMs * 2 ** Math.min(times - 1, 20)));
        }
      }
    }
  }

  /** Contract 3.4: a failure is logged, and what comes after it goes on; the addresses are tried again. */
  private async writeAddresses(name: string, patch: object): Promise<void> {
    const { api, logger, queue } = this.dependencies;
    this.addressesDue.add(name);
    try {
      await api.patch(NODES, name, 'strategic', patch, { subresource: 'status' });
      this.addressesDue.delete(name);
    } catch (thrown) {
      logger.warn({ node: name, err: thrown }, 'the addresses of the Node could not be written; it is tried again');
      queue.addRateLimited(name);
    }
  }

  /** In milliseconds, by two clocks. */
  private ageOf({ metadata }: Node): number {
    return Math.max(0, this.dependencies.clock.now() - Date.parse(metadata.creationTimestamp));
  }

  /** Contract 3.4: what is wrong with one Node is logged, and the others go on. */
  private async refresh(node: Node): Promise<void> {
    const { settings, logger, queue } = this.dependencies;
    const { name } = node.metadata;
    try {
      const lookup = await this.lookup(node, settings.statusUpdateMs / 2);
      if (lookup.state === 'Found' && this.dependencies.observes(lookup.provider)) return;
      if (lookup.state === 'Found') await this.act(node, evaluateAddresses(node, lookup.metadata));
      else logger.debug({ node: name, state: lookup.state }, 'no addresses from the cloud; those of the Node stay');
    } catch (thrown) {
      logger.warn({ node: name, err: thrown }, 'the addresses of the Node could not be refreshed; it is tried again');
      if (this.addressesDue.has(name)) queue.addRateLimited(name);
    }
  }

  /** The period is measured from the end of the previous run; the first run is at once. */
  private async refreshForEver(signal: AbortSignal): Promise<void> {
    const { clock, settings, logger } = this.dependencies;
    while (!signal.aborted) {
      await this.refreshAddresses();
      try {
        await sleep(clock, settings.statusUpdateMs, signal);
      } catch (thrown) {
        logger.debug({ err: thrown }, 'the address loop ends');
      }
    }
  }

  private see(node: Node): void {
    const { uid } = node.metadata;
    if (!isUninitialized(node)) this.seenAt.delete(uid);
    else if (!this.seenAt.has(uid)) this.seenAt.set(uid, this.dependencies.clock.monotonic());
  }

  /** Heartbeats change nothing that matters here; a cloud must not be asked at each of them. */
  private onNode({ key, previous, current }: StoreChange<Node>): void {
    if (current === undefined) {
      this.addressesDue.delete(key);
      if (previous !== undefined) [this.unclaimed, this.seenAt].forEach((byUID) => byUID.delete(previous.metadata.uid));
      return;
    }
    this.see(current);
    if (previous === undefined || !isDeepStrictEqual(relevant(previous), relevant(current))) this.dependencies.queue.add(key);
  }
}

function relevant({ metadata, spec }: Node): object {
  return {
    uid: metadata.uid,
    labels: metadata.labels,
    annotations: metadata.annotations,
    taints: spec.taints,
    providerID: spec.providerID,
  };
}
