import { isDeepStrictEqual } from 'node:util';
import { type Clock, sleep } from '../../base/clock';
import { OperatorError, toOperatorError } from '../../base/errors';
import type { Logger } from '../../base/log';
import type { EventRecorder, KubeApi, Store, StoreChange, WorkQueue } from '../../kube/api';
import { type Node, NODES } from '../../kube/object';
import type { NodeClaim } from '../clouds';
import type { BlockSetMetrics } from './block-set';
import { evaluate, isRefused, outcomeOf, podCidrPatch } from './evaluate';
import { CidrLedger } from './ledger';
import type { NodeCidrSettings } from './settings';

/** Contract 6.2. */
const WORKERS = 30;
const PATCH_TRIES = 3;
const LIST_RETRY_MS = 10_000;
const LIST_DEADLINE_MS = 600_000;

export interface IpamLoopDependencies {
  api: KubeApi;
  nodes: Store<Node>;
  /** With the source component `cidrAllocator`. */
  events: EventRecorder;
  queue: WorkQueue;
  /** For one cluster CIDR, with the number of its blocks. */
  metrics: (clusterCidr: string, blocks: number) => BlockSetMetrics;
  /** The Node's CloudProvider is only observed: another controller gives it its podCIDRs. */
  observes: (node: NodeClaim) => boolean;
  clock: Clock;
  logger: Logger;
  settings: NodeCidrSettings;
}

/** The node IPAM loop: gives every Node its podCIDRs, one block of each cluster CIDR (contract 6). Needs nothing but Nodes. */
export class IpamLoop {
  private readonly ledger: CidrLedger;
  /** UIDs of Nodes that have what the ledger says, although the store may not show it yet. */
  private readonly written = new Set<string>();
  /** Names of Nodes for which there was no free block, in the order in which they asked. */
  private readonly waiting = new Set<string>();
  /** By UID: what was said last of podCIDRs that have no place here. */
  private readonly said = new Map<string, string>();

  constructor(private readonly dependencies: IpamLoopDependencies) {
    const { settings, metrics, logger } = dependencies;
    this.ledger = new CidrLedger(settings, metrics);
    for (const range of settings.unreadable) logger.warn({ range }, `--service-cluster-ip-range: ${range} is not a CIDR, and is left out`);
  }

  /**
   * Runs until the signal is aborted. What Nodes have is taken up before anything is handed out: from a list of its own, since the store may
   * not yet show what an earlier leader wrote last.
   * @throws OperatorError Invalid when a Node has podCIDRs that have no place in the cluster's; that of the list when there is none for 10 min
   */
  async run(signal: AbortSignal): Promise<void> {
    const { nodes, queue } = this.dependencies;
    await nodes.whenSynced(signal);
    for (const node of [...(await this.listNodes(signal)), ...nodes.list()]) this.takeUp(node);
    const unsubscribe = nodes.onChange((change) => this.onNode(change));
    try {
      for (const node of nodes.list()) queue.add(node.metadata.name);
      await queue.run(WORKERS, (key) => this.sync(key), signal);
    } finally {
      unsubscribe();
    }
  }

  requeueAll(): void {
    for (const { metadata } of this.dependencies.nodes.list()) this.dependencies.queue.add(metadata.name, 'Low');
  }

  /** One pass over one Node; public for tests that need no queue. */
  async sync(name: string): Promise<void> {
    const node = this.dependencies.nodes.get(name);
    if (node === undefined) return;
    const { uid } = node.metadata;
    const action = evaluate(node, {
      held: this.ledger.held(uid),
      written: this.written.has(uid),
      observed: this.dependencies.observes(claimOf(node)),
    });
    switch (action.kind) {
      case 'None':
        return;
      case 'Observe':
        return this.dependencies.logger.debug({ node: name }, 'its CloudProvider is only observed: no podCIDRs are given');
      case 'Hold':
        return this.hold(node, action.podCIDRs);
      case 'Reserve':
        return this.write(node, this.reserve(node));
      case 'Write':
        return this.write(node, action.podCIDRs);
    }
  }

  private async listNodes(signal: AbortSignal): Promise<Node[]> {
    const { api, clock, logger } = this.dependencies;
    const end = clock.monotonic() + LIST_DEADLINE_MS;
    for (;;) {
      try {
        return await api.list<Node>(NODES);
      } catch (thrown) {
        const { code, message } = toOperatorError(thrown);
        if (clock.monotonic() >= end) throw new OperatorError(code, `failed to list all nodes: ${message}`, { cause: thrown });
        logger.warn({ error: message }, 'no podCIDRs are given out before all Nodes have been listed; it is tried again in 10 s');
      }
      await sleep(clock, LIST_RETRY_MS, signal);
    }
  }

  /** @throws OperatorError Invalid when its podCIDRs have no place in the cluster's */
  private takeUp({ metadata, spec: { podCIDRs = [] } }: Node): void {
    if (podCIDRs.length === 0) return;
    this.ledger.hold(metadata, podCIDRs);
    this.written.add(metadata.uid);
  }

  private reserve(node: Node): string[] {
    const { name } = node.metadata;
    this.waiting.delete(name);
    try {
      return this.ledger.reserve(node.metadata);
    } catch (thrown) {
      this.waiting.add(name);
      this.say(node, 'CIDRNotAvailable');
      throw thrown;
    }
  }

  /** Three tries at once (contract 6.2), each followed by a look at how the Node is now: an answer may be lost, or somebody else quicker. */
  private async write(node: Node, podCIDRs: readonly string[]): Promise<void> {
    const { api } = this.dependencies;
    const { name, uid } = node.metadata;
    const failures: OperatorError[] = [];
    while (failures.length < PATCH_TRIES) {
      try {
        await api.patch(NODES, name, 'strategic', podCidrPatch(node, podCIDRs));
        this.wasWritten(uid);
        return;
      } catch (thrown) {
        failures.push(toOperatorError(thrown));
      }
      if (await this.isSettled(node, podCIDRs)) return;
    }
    this.say(node, 'CIDRAssignmentFailed');
    if (failures.every(isRefused)) this.release(uid);
    throw failures.at(-1) ?? new OperatorError('Unknown', `Node ${name} was not written`);
  }

  /** Unless the Node went meanwhile, and gave its blocks back. */
  private wasWritten(uid: string): void {
    if (this.ledger.held(uid) !== undefined) this.written.add(uid);
  }

  /** False = it is to be written again. */
  private async isSettled(node: Node, wanted: readonly string[]): Promise<boolean> {
    const { api } = this.dependencies;
    const { name, uid } = node.metadata;
    const live = await api.get<Node>(NODES, name).catch(toOperatorError);
    switch (outcomeOf(node, wanted, live)) {
      case 'Written':
        this.wasWritten(uid);
        return true;
      case 'Other':
        this.hold(node, (live as Node).spec.podCIDRs ?? []);
        return true;
      case 'Gone':
        this.release(uid);
        return true;
      case 'Open':
      case 'Unknown':
        return false;
    }
  }

  /** What has no place here can't be mended by trying again: it is said once, on the Node. */
  private hold(node: Node, podCIDRs: readonly string[]): void {
    const { events, logger } = this.dependencies;
    const { name, uid } = node.metadata;
    const before = this.ledger.held(uid)?.length ?? 0;
    try {
      this.ledger.hold(node.metadata, podCIDRs);
      this.said.delete(uid);
    } catch (thrown) {
      const { message } = toOperatorError(thrown);
      if (this.said.get(uid) === message) return;
      this.said.set(uid, message);
      logger.warn({ node: name }, message);
      events.event(node, 'Warning', 'PodCIDRNotAccepted', message);
    }
    if (before > 0) this.wake();
  }

  private release(uid: string): void {
    this.written.delete(uid);
    this.said.delete(uid);
    if (this.ledger.release(uid)) this.wake();
  }

  /** A block may be free again: the Node that has waited longest is tried, without the rest of its back-off. */
  private wake(): void {
    const [name] = this.waiting;
    if (name === undefined) return;
    this.waiting.delete(name);
    this.dependencies.queue.add(name);
  }

  private say(node: Node, status: 'CIDRNotAvailable' | 'CIDRAssignmentFailed'): void {
    this.dependencies.events.event(node, 'Normal', status, `Node ${node.metadata.name} status is now: ${status}`);
  }

  /** PodCIDRs that somebody else has given a Node are taken here and now, so that no worker hands them out; a Node that is gone gives its own back. */
  private onNode({ key, previous, current }: StoreChange<Node>): void {
    if (previous !== undefined && previous.metadata.uid !== current?.metadata.uid) {
      this.waiting.delete(key);
      this.release(previous.metadata.uid);
    }
    if (current === undefined || (previous !== undefined && isDeepStrictEqual(relevant(previous), relevant(current)))) return;
    const { podCIDRs = [] } = current.spec;
    if (podCIDRs.length === 0) return this.dependencies.queue.add(key);
    this.written.delete(current.metadata.uid);
    if (!isDeepStrictEqual(podCIDRs, this.ledger.held(current.metadata.uid))) this.hold(current, podCIDRs);
  }
}

function claimOf({ metadata: { name, labels = {} }, spec: { providerID } }: Node): NodeClaim {
  return { name, labels, ...(providerID === undefined ? {} : { providerID }) };
}

/** Heartbeats change nothing here. */
function relevant({ metadata, spec }: Node): object {
  return { uid: metadata.uid, deleting: metadata.deletionTimestamp, podCIDRs: spec.podCIDRs };
}
