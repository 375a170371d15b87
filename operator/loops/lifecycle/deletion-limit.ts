import type { Store } from '../../kube/api';
import type { Node } from '../../kube/object';

/** How many Nodes may be deleted: a wrong answer of a cloud must not take the whole cluster away. */
export interface DeletionLimitSettings {
  /** Share of the Nodes, 0…1; 1 = no limit. At least one Node may always go. */
  share: number;
  windowMs: number;
}

/** Counts deletions over a sliding window of monotonic time. */
export class DeletionLimit {
  /** When each Node was deleted, by UID. */
  private readonly deletions = new Map<string, { name: string; at: number }>();

  constructor(
    private readonly settings: DeletionLimitSettings,
    private readonly nodes: Pick<Store<Node>, 'list' | 'get'>,
  ) {}

  /**
   * Takes a place for the deletion of a Node before that is asked for, so that several at a time share the limit. A deletion whose answer was lost keeps
   * its place, and may be tried again.
   * @returns false when there is none left
   */
  take({ metadata: { name, uid } }: Node, now: number): boolean {
    for (const [gone, { at }] of this.deletions) if (now - at >= this.settings.windowMs) this.deletions.delete(gone);
    if (this.deletions.has(uid)) return true;
    // A Node is still there for a moment after its deletion.
    const left = [...this.deletions].filter(([gone, { name: of }]) => this.nodes.get(of)?.metadata.uid !== gone).length;
    const before = this.nodes.list().length + left;
    if (this.deletions.size >= Math.max(1, Math.ceil(before * this.settings.share))) return false;
    this.deletions.set(uid, { name, at: now });
    return true;
  }

  /** The Node was not deleted, and may not have to be. */
  giveBack({ metadata: { uid } }: Node): void {
    this.deletions.delete(uid);
  }
}
