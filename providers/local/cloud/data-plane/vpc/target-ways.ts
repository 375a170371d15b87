import type { Family } from '../../../api';
import { familyOf } from '../ip-range';
import { run } from './commands';

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

  async add(addresses: ReadonlySet<string>): Promise<void> {
    const fresh = [...addresses].filter((address) => !this.made.has(address));
    await forEachFamily(fresh, (address) => {
      const mark = this.markOf(address);
      return [`route replace default via ${address} table ${mark}`, `rule add fwmark ${mark} lookup ${mark} pref ${PREFERENCE}`];
    });
    for (const address of fresh) this.made.add(address);
  }

  async keepOnly(addresses: ReadonlySet<string>): Promise<void> {
    const gone = [...this.made].filter((address) => !addresses.has(address));
    await forEachFamily(gone, (address) => {
      const mark = this.markOf(address);
      return [`rule del fwmark ${mark} lookup ${mark} pref ${PREFERENCE}`, `route flush table ${mark}`];
    });
    for (const address of gone) {
      this.made.delete(address);
      this.marks.delete(address);
    }
  }
}

/** `ip rule` takes the family only as an option, not from what it reads. */
async function forEachFamily(addresses: readonly string[], linesOf: (address: string) => string[]): Promise<void> {
  for (const [family, option] of [['IPv4', '-4'] as const, ['IPv6', '-6'] as const] satisfies [Family, string][]) {
    const lines = addresses.filter((address) => familyOf(address) === family).flatMap(linesOf);
    if (lines.length > 0) await run(['ip', option, '-batch', '-'], `${lines.join('\n')}\n`);
  }
}

/** Takes away every rule of ours, with its table: those of a process that has ended. */
export async function removeWays(): Promise<void> {
  for (const option of ['-4', '-6']) {
    const listing = await run(['ip', option, '-json', 'rule', 'show', 'pref', String(PREFERENCE)]);
    const rules = JSON.parse(listing.trim() === '' ? '[]' : listing) as { fwmark?: string; table?: string }[];
    const ours = rules.filter(({ fwmark, table }) => Number(fwmark) >= FIRST && Number(fwmark) === Number(table));
    const lines = ours.flatMap(({ table }) => [
      `rule del fwmark ${table} lookup ${table} pref ${PREFERENCE}`,
      `route flush table ${table}`,
    ]);
    if (lines.length > 0) await run(['ip', option, '-batch', '-'], `${lines.join('\n')}\n`);
  }
}
