import type { Clock } from '../../base/clock';
import type { StoreChange } from '../../kube/api';
import { eligibleForLoadBalancers } from '../../kube/node';
import type { Node } from '../../kube/object';
import type { MemberKeeper } from './member-keeper';
import type { CloudRegistry } from '../providers/registry';

/** Changes that come within this time are one. */
const SETTLE_MS = 20;
/** Nodes that join one after another are gathered for so long: with a thousand load balancers, each look makes a thousand passes. */
const GATHER_MS = 1_000;

export interface TargetWatchOptions {
  members: MemberKeeper;
  registry: CloudRegistry;
  clock: Clock;
  /** The autoscaler's taint and a deletion timestamp count at once; otherwise at the next change that counts, as upstream. */
  promptRemoval: boolean;
  /** A provider's load balancers have other targets now. */
  changed: (provider: string) => void;
}

/**
 * Tells whose load balancers must be looked at after Nodes have changed: once for changes that come together, and only where the targets are others.
 * A Node that goes is not waited with.
 */
export class TargetWatch {
  private readonly hashes = new Map<string, string>();
  /** Providers that a Node may have or not: until that is known their targets stay as they are. */
  private readonly undecided = new Set<string>();
  private planned: { due: number; cancel: () => void } | undefined;
  private lookedAt = -Infinity;
  private stopped = false;
  private readonly stopFollowing: () => void;

  constructor(private readonly options: TargetWatchOptions) {
    const { registry } = options;
    this.stopFollowing = registry.onChange(() => this.lookSoon());
    registry.owners.onChange(() => this.lookSoon());
  }

  onNode(change: StoreChange<Node>): void {
    const missed = change.current === undefined ? [] : this.options.members.missedBy(change.current);
    missed.forEach((provider) => this.hashes.delete(provider));
    if (missed.length === 0 && !this.options.members.mayBeChangedBy(change, this.options.promptRemoval)) return;
    this.lookWithin(isTarget(change.previous) && !isTarget(change.current) ? SETTLE_MS : this.gatherMs);
  }

  stop(): void {
    this.stopped = true;
    this.stopFollowing();
    this.planned?.cancel();
  }

  private lookSoon(): void {
    this.lookWithin(this.gatherMs);
  }

  private get gatherMs(): number {
    return Math.max(SETTLE_MS, this.lookedAt + GATHER_MS - this.options.clock.monotonic());
  }

  private lookWithin(ms: number): void {
    const due = this.options.clock.monotonic() + ms;
    if (this.stopped || (this.planned !== undefined && this.planned.due <= due)) return;
    this.planned?.cancel();
    this.planned = { due, cancel: this.options.clock.after(ms, () => this.look()) };
  }

  private look(): void {
    this.planned = undefined;
    this.lookedAt = this.options.clock.monotonic();
    for (const { name } of this.options.registry.list()) {
      const hash = this.options.members.targetsHash(name);
      const decided = this.isDecidedNow(name);
      const outdated = this.options.members.hasUsedOthers(name);
      if (this.hashes.get(name) === hash && !decided && !outdated) continue;
      this.hashes.set(name, hash);
      this.options.changed(name);
    }
  }

  /** What could not be written meanwhile is not left to its back-off. */
  private isDecidedNow(provider: string): boolean {
    if (!this.options.members.isUndecided(provider)) return this.undecided.delete(provider);
    this.undecided.add(provider);
    return false;
  }
}

function isTarget(node: Node | undefined): boolean {
  return node !== undefined && eligibleForLoadBalancers(node);
}
