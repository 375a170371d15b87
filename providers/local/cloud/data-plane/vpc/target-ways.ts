import type { Family } from '../../../api';
import { familyOf } from '../ip-range';
import { run, runEach } from './commands';

/** The first mark, and number of a route table; those of the kernel are below. */
const FIRST = 1001;
/** Before the main table (32766), behind the local one (0). */
const PREFERENCE = 1000;

/** For each target a mark, and for each mark the way: packets that bear it go to that target, whatever their destination. */
export class TargetWays {
  private readonly marks = new Map<string, number>();
  private readonly made = new Set<string>();
  private next = FIRST;

  markOf(address: string): number {
    let mark = this.marks.get(address);
    if (mark === undefined) {
      mark = this.next++;
      this.marks.set(address, mark);
    }
    return mark;
  }

  /** @returns the targets to which no way can be made, with what the kernel said; all others have theirs */
  async add(addresses: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> {
    const fresh = [...addresses].filter((address) => !this.made.has(address));
    const refused = await forEachFamily(fresh, (address) => {
      const mark = this.markOf(address);
      return [`route replace default via ${address} table ${mark}`, `rule add fwmark ${mark} lookup ${mark} pref ${PREFERENCE}`];
    });
    for (const address of fresh) if (!refused.has(address)) this.made.add(address);
    // There is a whole way or none: the next try begins anew.
    await this.remove([...refused.keys()]);
    return refused;
  }

  async keepOnly(addresses: ReadonlySet<string>): Promise<void> {
    const gone = [...this.marks.keys()].filter((address) => !addresses.has(address));
    await this.remove(gone.filter((address) => this.made.has(address)));
    for (const address of gone) {
      this.made.delete(address);
      this.marks.delete(address);
    }
  }

  /** What is not there any more is as good as removed. */
  private async remove(addresses: readonly string[]): Promise<void> {
    await forEachFamily(addresses, (address) => removalOf(this.markOf(address)));
  }
}

function removalOf(mark: number | string): string[] {
  return [`rule del fwmark ${mark} lookup ${mark} pref ${PREFERENCE}`, `route flush table ${mark}`];
}

/**
 * `ip rule` takes the family only as an option, not from what it reads.
 * @returns what the kernel said of the addresses of which it refused a line
 */
async function forEachFamily(addresses: readonly string[], linesOf: (address: string) => string[]): Promise<Map<string, string>> {
  const refused = new Map<string, string>();
  for (const [family, option] of [['IPv4', '-4'] as const, ['IPv6', '-6'] as const] satisfies [Family, string][]) {
    const lines = addresses
      .filter((address) => familyOf(address) === family)
      .flatMap((address) => linesOf(address).map((line) => ({ address, line })));
    const failures = await runEach(
      option,
      lines.map(({ line }) => line),
    );
    failures.forEach((message, index) => refused.set(lines[index]?.address ?? '', message));
  }
  return refused;
}

/** Takes away every rule of ours, with its table: those of a process that has ended. */
export async function removeWays(): Promise<void> {
  for (const option of ['-4', '-6']) {
    const listing = await run(['ip', option, '-json', 'rule', 'show', 'pref', String(PREFERENCE)]);
    const rules = JSON.parse(listing.trim() === '' ? '[]' : listing) as { fwmark?: string; table?: string }[];
    const ours = rules.filter(({ fwmark, table }) => Number(fwmark) >= FIRST && Number(fwmark) === Number(table));
    await runEach(
      option,
      ours.flatMap(({ table = '' }) => removalOf(table)),
    );
  }
}
