/** A member that asks for ports, addresses or whatever else only one member of a stack can have. */
export interface Claimant {
  uid: string;
  /** namespace/name, for messages. */
  key: string;
  /** RFC 3339. */
  createdAt: string;
  /** What its new spec asks for; absent where that does not come into question. */
  wanted?: readonly string[];
  /** What its accepted input has in the cloud. */
  held: readonly string[];
}

export interface Conflict {
  /** What both want, in words. */
  claim: string;
  /** namespace/name of the one that has it. */
  incumbent: string;
}

/**
 * Who must wait for whom (design: Conflict). What is in the cloud stays with whom it belongs to, also while that one asks for something else: it is
 * free when the other's update has succeeded. What nobody has goes to the older object, then to the first by name. Pure.
 * @returns the conflicts of those whose new spec can't be tried, by UID
 */
export function conflictsOf(claimants: readonly Claimant[]): Map<string, Conflict> {
  const holders = new Map(claimants.flatMap((claimant) => claimant.held.map((claim): [string, Claimant] => [claim, claimant])));
  const conflicts = new Map<string, Conflict>();
  for (const claimant of [...claimants].sort(byAge)) {
    const { uid, wanted = [] } = claimant;
    const claim = wanted.find((one) => (holders.get(one)?.uid ?? uid) !== uid);
    if (claim !== undefined) conflicts.set(uid, { claim, incumbent: holders.get(claim)?.key ?? '' });
    else wanted.forEach((one) => holders.set(one, claimant));
  }
  return conflicts;
}

function byAge(a: Claimant, b: Claimant): number {
  const [first, second] = [`${a.createdAt} ${a.key}`, `${b.createdAt} ${b.key}`];
  return first < second ? -1 : first > second ? 1 : 0;
}
