import { type Clock, sleep } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { EventRecorder, KubeApi, Store } from '../../kube/api';
import { type Node, NODES } from '../../kube/object';
import type { InstanceLookup, Instances } from '../instances';
import { type ConfirmationRule, confirmationRule, type Misses } from './confirmations';
import { DeletionLimit, type DeletionLimitSettings } from './deletion-limit';
import { type Action, evaluateLookup, evaluateReady, mustAsk } from './evaluate';

/** Contract 4: retries of a taint patch on a Node that changed meanwhile. */
const CONFLICT_RETRIES = 5;
const CONFLICT_WAIT_MS = 100;

export interface LifecycleLoopSettings {
  /** `--node-monitor-period`, in milliseconds, from the end of one pass to the start of the next. */
  periodMs: number;
  /** `--concurrent-node-lifecycle-syncs`. */
  workers: number;
  confirmation: ConfirmationRule;
  deletionLimit: DeletionLimitSettings;
}

export const LIFECYCLE_LOOP_DEFAULTS: LifecycleLoopSettings = {
  periodMs: 5_000,
  workers: 1,
  confirmation: confirmationRule(15_000),
  deletionLimit: { share: 0.5, windowMs: 300_000 },
};

export interface LifecycleLoopMetrics {
  nodesMonitored(tookMs: number): void;
  instanceAsked(operation: 'instance_exists' | 'instance_shutdown', result: 'success' | 'error' | 'instance_not_found' | 'canceled'): void;
}

export interface LifecycleLoopDependencies {
  api: KubeApi;
  nodes: Store<Node>;
  instances: Instances;
  /** Nothing is written to Nodes of this CloudProvider, which is only observed. */
  observes: (provider: string) => boolean;
  /** With the source component `cloud-node-lifecycle-controller`. */
  events: EventRecorder;
  metrics: LifecycleLoopMetrics;
  clock: Clock;
  logger: Logger;
  settings: LifecycleLoopSettings;
}

/**
 * How an answer counts: of a machine that nobody, or more than one, says is his own, no cloud has said that it doesn't exist; upstream says of unmanaged
 * Nodes that they do.
 */
const EXISTENCE = {
  Found: 'success',
  Unmanaged: 'success',
  Missing: 'instance_not_found',
  Unclaimed: 'error',
  Ambiguous: 'error',
} as const;

/** The cloud-node-lifecycle loop: deletes Nodes whose machine is gone, and taints those whose machine is shut down (contract 4). */
export class LifecycleLoop {
  /** By Node name. */
  private readonly misses = new Map<string, Misses>();
  private readonly limit: DeletionLimit;
  /** Nodes about which nothing is to be done: each version of a Node is an object of its own, which is never changed. */
  private readonly fine = new WeakSet<Node>();
  /** UIDs of Nodes of which it was said that too many are being deleted. */
  private readonly heldBack = new Set<string>();

  constructor(private readonly dependencies: LifecycleLoopDependencies) {
    const { nodes, settings } = dependencies;
    const { workers, deletionLimit } = settings;
    if (workers < 1) throw new OperatorError('Invalid', `concurrent-node-lifecycle-syncs must be at least 1, but got ${workers}`);
    this.limit = new DeletionLimit(deletionLimit, nodes);
  }

  /** Runs until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, clock, settings, logger } = this.dependencies;
    await nodes.whenSynced(signal);
    while (!signal.aborted) {
      await this.pass();
      try {
        await sleep(clock, settings.periodMs, signal);
      } catch (thrown) {
        logger.debug({ err: thrown }, 'the lifecycle loop ends');
      }
    }
  }

  /** One look at every Node. What goes wrong with one is logged, and the others go on. */
  async pass(): Promise<void> {
    const { nodes, settings, clock, metrics } = this.dependencies;
    const startedAt = clock.monotonic();
    const all = nodes.list();
    if (this.misses.size + this.heldBack.size > 0) this.forgetGone(all);
    const waiting = all.filter((node) => this.isToBeJudged(node));
    const work = async (): Promise<void> => {
      for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) await this.monitor(node);
    };
    await Promise.all(Array.from({ length: settings.workers }, work));
    metrics.nodesMonitored(clock.monotonic() - startedAt);
  }

  /** Of thousands of Nodes, nearly all are Ready, and nothing is to be done about them. */
  private isToBeJudged(node: Node): boolean {
    if (this.fine.has(node)) return false;
    if (mustAsk(node)) return true;
    this.misses.delete(node.metadata.name);
    if (evaluateReady(node).kind !== 'None') return true;
    this.fine.add(node);
    return false;
  }

  private async monitor(node: Node): Promise<void> {
    const { name } = node.metadata;
    try {
      await this.act(node, mustAsk(node) ? await this.judge(node) : evaluateReady(node));
    } catch (thrown) {
      this.dependencies.logger.warn({ node: name, err: thrown }, 'the Node could not be judged; it stays as it is until the next pass');
    }
  }

  private async judge(node: Node): Promise<Action> {
    const { clock, settings } = this.dependencies;
    const lookup = await this.ask(node);
    if ('provider' in lookup && this.dependencies.observes(lookup.provider)) return { kind: 'None' };
    const before = this.misses.get(node.metadata.name);
    const when = { rule: settings.confirmation, now: clock.monotonic(), wallNow: clock.now() };
    const { action, misses } = evaluateLookup(node, lookup, before, when);
    if (misses === undefined) this.misses.delete(node.metadata.name);
    else this.misses.set(node.metadata.name, misses);
    return action;
  }

  /** One answer says whether the machine is there, and whether it is shut down. */
  private async ask(node: Node): Promise<InstanceLookup> {
    const { metrics } = this.dependencies;
    try {
      const lookup = await this.lookup(node);
      metrics.instanceAsked('instance_exists', EXISTENCE[lookup.state]);
      if (lookup.state === 'Found') metrics.instanceAsked('instance_shutdown', 'success');
      return lookup;
    } catch (thrown) {
      metrics.instanceAsked('instance_exists', toOperatorError(thrown).code === 'Canceled' ? 'canceled' : 'error');
      throw thrown;
    }
  }

  /** The listing is younger than a period, where the cloud allows that, so that one serves a whole pass. */
  private lookup(node: Node): Promise<InstanceLookup> {
    const { instances, settings } = this.dependencies;
    const { providerID } = node.spec;
    const identity = { name: node.metadata.name, labels: node.metadata.labels ?? {} };
    const maxAgeMs = settings.periodMs * 0.9;
    return instances.lookup(providerID === undefined || providerID === '' ? identity : { ...identity, providerID }, maxAgeMs);
  }

  private async act(node: Node, action: Action): Promise<void> {
    switch (action.kind) {
      case 'None':
        return;
      case 'PatchNode':
        return this.patch(node, action);
      case 'Delete':
        return this.delete(node);
    }
  }

  /** A Node that changed meanwhile is judged again as it is now, with the same answer of the cloud. */
  private async patch(node: Node, action: Action & { kind: 'PatchNode' }): Promise<void> {
    const { api, clock } = this.dependencies;
    let patch = action.patch;
    for (let attempt = 0; ; attempt++) {
      try {
        await api.patch(NODES, node.metadata.name, 'strategic', patch);
        return;
      } catch (thrown) {
        if (toOperatorError(thrown).code !== 'Conflict' || attempt >= CONFLICT_RETRIES) throw thrown;
      }
      await sleep(clock, CONFLICT_WAIT_MS);
      const fresh = await api.get<Node>(NODES, node.metadata.name);
      if (fresh?.metadata.uid !== node.metadata.uid) return;
      const again = mustAsk(fresh) ? await this.judge(fresh) : evaluateReady(fresh);
      if (again.kind !== 'PatchNode') return;
      patch = again.patch;
    }
  }

  /** The DELETE carries the UID and version that were judged: a machine that registered anew under the name is never hit (contract 4, QUIRK). */
  private async delete(node: Node): Promise<void> {
    const { api, nodes, events, clock, logger } = this.dependencies;
    const { name, uid, resourceVersion } = node.metadata;
    const current = nodes.get(name);
    if (current?.metadata.uid !== uid || current.spec.providerID !== node.spec.providerID || !mustAsk(current)) return;
    if (!this.limit.take(node, clock.monotonic())) return this.holdBack(node);
    events.event(node, 'Normal', 'DeletingNode', `Deleting node ${name} because it does not exist in the cloud provider`);
    try {
      await api.remove(NODES, name, { uid, resourceVersion });
      this.misses.delete(name);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code === 'Conflict') {
        this.limit.giveBack(node);
        logger.info({ node: name }, 'the Node changed while it was being deleted; it is judged again');
      } else events.event(node, 'Warning', 'DeletingNodeFailed', `Failed deleting node ${name}: ${error.message}`);
    }
  }

  private holdBack(node: Node): void {
    const { events, logger, settings } = this.dependencies;
    const { name, uid } = node.metadata;
    if (this.heldBack.has(uid)) return;
    this.heldBack.add(uid);
    const share = Math.round(settings.deletionLimit.share * 100);
    const message = `Not deleting node ${name} now, although it does not exist in the cloud provider: more than ${share} % of the nodes would be gone within ${settings.deletionLimit.windowMs / 1000} s`;
    events.event(node, 'Warning', 'DeletingNodeHeldBack', message);
    logger.warn({ node: name }, message);
  }

  private forgetGone(present: readonly Node[]): void {
    const names = new Set(present.map(({ metadata }) => metadata.name));
    const uids = new Set(present.map(({ metadata }) => metadata.uid));
    for (const name of [...this.misses.keys()]) if (!names.has(name)) this.misses.delete(name);
    for (const uid of [...this.heldBack]) if (!uids.has(uid)) this.heldBack.delete(uid);
  }
}
