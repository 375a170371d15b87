const DAY_MS = 86_400_000;

/** What clocks show in an IANA time zone, by the rules that Node's own ICU data has. Local times are milliseconds since 1970 as if the zone were UTC. */
export class TimeZone {
  private readonly format: Intl.DateTimeFormat;

  /** @throws RangeError when there is no such zone */
  constructor(name: string) {
    const [two, numeric] = ['2-digit', 'numeric'] as const;
    const time = { hour: two, minute: two, second: two, hourCycle: 'h23' } as const;
    this.format = new Intl.DateTimeFormat('en-US', { timeZone: name, year: numeric, month: two, day: two, ...time });
  }

  /** @param at milliseconds since 1970 */
  localOf(at: number): number {
    const parts: Record<string, number> = {};
    for (const { type, value } of this.format.formatToParts(at)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }

  /**
   * When clocks show a local time. One that comes twice, as clocks go back, is the first of the two; one that clocks skip counts as that much later as
   * they skip.
   */
  instantOf(local: number): number {
    const before = this.offsetAt(local - DAY_MS);
    const candidates = [before, this.offsetAt(local + DAY_MS)].map((offset) => local - offset);
    const shown = candidates.filter((at) => this.localOf(at) === local);
    return shown.length === 0 ? local - before : Math.min(...shown);
  }

  /** The same of several, ascending; cheap where no clocks change around them. */
  instantsOf(locals: readonly number[]): number[] {
    const [first = 0, last = 0] = [locals[0], locals.at(-1)];
    const offset = this.offsetAt(first - DAY_MS);
    return offset === this.offsetAt(last + DAY_MS) ? locals.map((local) => local - offset) : locals.map((local) => this.instantOf(local));
  }

  private offsetAt(at: number): number {
    return this.localOf(at) - Math.floor(at / 1000) * 1000;
  }
}
