/** What it takes until a machine counts as gone. */
export interface ConfirmationRule {
  /** So many successful listings in a row must miss the machine. */
  listings: number;
  /** So many milliseconds must lie between the first of them and now. */
  graceMs: number;
}

/** What `--node-deletion-grace` asks for, in milliseconds: without a grace period the first word counts, as upstream. */
export function confirmationRule(graceMs: number): ConfirmationRule {
  return { listings: graceMs <= 0 ? 1 : 2, graceMs };
}

/** How often, and since when, one machine was missed. */
export interface Misses {
  /** A Node that registers anew under the same name, or with another machine, starts afresh. */
  nodeUID: string;
  providerID: string;
  listings: number;
  /** Monotonic milliseconds. */
  since: number;
  /** When the newest of the listings was taken, monotonic milliseconds. */
  listedAt: number;
}

/** A successful listing without the machine; one that was counted already is not counted again. Times are monotonic milliseconds. Pure. */
export function missed(
  before: Misses | undefined,
  node: { nodeUID: string; providerID: string },
  { now, listedAt }: { now: number; listedAt: number },
): Misses {
  const same = before?.nodeUID === node.nodeUID && before.providerID === node.providerID;
  if (!same) return { ...node, listings: 1, since: now, listedAt };
  return before.listedAt === listedAt ? before : { ...before, listings: before.listings + 1, listedAt };
}

export function isConfirmed(misses: Misses, rule: ConfirmationRule, now: number): boolean {
  return misses.listings >= rule.listings && now - misses.since >= rule.graceMs;
}
