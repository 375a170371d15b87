/** What only one member of a stack can have, in words. With `by`, those have it together for whom that is the same. */
export type Claim = string | { claim: string; by: string };

/** A member that asks for ports, addresses or whatever else only one member of a stack can have. */
export interface Claimant {
  uid: string;
  /** namespace/name, for messages. */
  key: string;
  /** RFC 3339. */
  createdAt: string;
  /** What its new spec asks for; absent where that does not come into question. */
  wanted?: readonly Claim[];
  /** What its accepted input has in the cloud. */
  held: readonly Claim[];
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
  const holdings = new Holdings();
  for (const claimant of claimants) claimant.held.forEach((claim) => holdings.add(claimant, claim));
  const conflicts = new Map<string, Conflict>();
  for (const claimant of [...claimants].sort(byAge)) {
    const { uid, wanted = [] } = claimant;
    const conflict = wanted.map((claim) => holdings.conflict(uid, claim)).find((one) => one !== undefined);
    if (conflict !== undefined) conflicts.set(uid, conflict);
    else wanted.forEach((claim) => holdings.add(claimant, claim));
  }
  return conflicts;
}

type Holding = Pick<Claimant, 'uid' | 'key'> & { by: string | undefined };

/** Who has what. */
class Holdings {
  private readonly holdings = new Map<string, Holding[]>();

  add({ uid, key }: Claimant, of: Claim): void {
    const { claim, by } = parted(of);
    const beside = by === undefined ? [] : (this.holdings.get(claim) ?? []);
    this.holdings.set(claim, [...beside, { uid, key, by }]);
  }

  conflict(uid: string, of: Claim): Conflict | undefined {
    const { claim, by } = parted(of);
    const other = this.holdings.get(claim)?.find((one) => one.uid !== uid && (by === undefined || one.by !== by));
    return other && { claim, incumbent: other.key };
  }
}

function parted(claim: Claim): { claim: string; by?: string } {
  return typeof claim === 'string' ? { claim } : claim;
}

function byAge(a: Claimant, b: Claimant): number {
  const [first, second] = [`${a.createdAt} ${a.key}`, `${b.createdAt} ${b.key}`];
  return first < second ? -1 : first > second ? 1 : 0;
}
