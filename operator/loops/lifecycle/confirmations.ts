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
}

/** One more successful listing without the machine. Pure. @param now monotonic milliseconds */
export function missed(before: Misses | undefined, node: { nodeUID: string; providerID: string }, now: number): Misses {
  const same = before?.nodeUID === node.nodeUID && before.providerID === node.providerID;
  return same ? { ...before, listings: before.listings + 1 } : { ...node, listings: 1, since: now };
}

export function isConfirmed(misses: Misses, rule: ConfirmationRule, now: number): boolean {
  return misses.listings >= rule.listings && now - misses.since >= rule.graceMs;
}
