/** How many Nodes may be deleted: a wrong answer of a cloud must not take the whole cluster away. */
export interface DeletionLimitSettings {
  /** Share of the Nodes, 0…1; 1 = no limit. At least one Node may always go. */
  share: number;
  windowMs: number;
}

/** Counts deletions over a sliding window of monotonic time. */
export class DeletionLimit {
  private deletions: number[] = [];

  constructor(private readonly settings: DeletionLimitSettings) {}

  /** @param nodes how many Nodes there are now */
  allows(nodes: number, now: number): boolean {
    this.deletions = this.deletions.filter((at) => now - at < this.settings.windowMs);
    const before = nodes + this.deletions.length;
    return this.deletions.length < Math.max(1, Math.ceil(before * this.settings.share));
  }

  record(now: number): void {
    this.deletions.push(now);
  }
}
