import type { Clock } from '../base/clock';
import type { StoreChange } from '../kube/api';
import type { Node } from '../kube/object';
import type { MemberKeeper } from './member-keeper';
import type { CloudRegistry } from './registry';

/** Changes that come within this time are one. */
const SETTLE_MS = 20;

export interface TargetWatchOptions {
  members: MemberKeeper;
  registry: CloudRegistry;
  clock: Clock;
  /** The autoscaler's taint and a deletion timestamp count at once; otherwise at the next change that counts, as upstream. */
  promptRemoval: boolean;
  /** A provider's load balancers have other targets now. */
  changed: (provider: string) => void;
}

/** Tells whose load balancers must be looked at after Nodes have changed: once for changes that come together, and only where the targets are others. */
export class TargetWatch {
  private readonly hashes = new Map<string, string>();
  private cancel: (() => void) | undefined;
  private stopped = false;
  private readonly stopFollowing: () => void;

  constructor(private readonly options: TargetWatchOptions) {
    const { registry } = options;
    this.stopFollowing = registry.onChange(() => this.lookSoon());
    registry.owners.onChange(() => this.lookSoon());
  }

  onNode(change: StoreChange<Node>): void {
    if (this.options.members.mayBeChangedBy(change, this.options.promptRemoval)) this.lookSoon();
  }

  stop(): void {
    this.stopped = true;
    this.stopFollowing();
    this.cancel?.();
  }

  private lookSoon(): void {
    if (!this.stopped) this.cancel ??= this.options.clock.after(SETTLE_MS, () => this.look());
  }

  private look(): void {
    this.cancel = undefined;
    for (const { name } of this.options.registry.list()) {
      const hash = this.options.members.targetsHash(name);
      if (this.hashes.get(name) === hash) continue;
      this.hashes.set(name, hash);
      this.options.changed(name);
    }
  }
}
