const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** Least and greatest number of a field, and the names of its numbers from the least on. */
const FIELDS: { name: string; least: number; most: number; words: readonly string[] }[] = [
  { name: 'minute', least: 0, most: 59, words: [] },
  { name: 'hour', least: 0, most: 23, words: [] },
  { name: 'day of the month', least: 1, most: 31, words: [] },
  { name: 'month', least: 1, most: 12, words: MONTHS },
  { name: 'day of the week', least: 0, most: 7, words: WEEKDAYS }, // 7 is Sunday too
];

/** A schedule as a CronJob has it: the times of a day, and the days that have them. */
export class Schedule {
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[];

  private constructor(
    minutes: ReadonlySet<number>,
    hours: ReadonlySet<number>,
    private readonly days: { ofMonth: ReadonlySet<number>; months: ReadonlySet<number>; ofWeek: ReadonlySet<number>; either: boolean },
  ) {
    const ascending = (numbers: ReadonlySet<number>): number[] => [...numbers].sort((a, b) => a - b);
    this.times = ascending(hours).flatMap((hour) => ascending(minutes).map((minute) => hour * 60 + minute));
  }

  /** @throws RangeError that says what can't be read */
  static parse(text: string): Schedule {
    const words = text.trim().split(/ +/);
    if (words.length !== FIELDS.length) throw new RangeError(`it has ${words.length} fields, not five`);
    const [minutes, hours, ofMonth, months, weekdays] = FIELDS.map((field, index) => numbersOf(words[index] ?? '', field)) as Five;
    const ofWeek = new Set([...weekdays].map((day) => day % 7));
    // As in every cron: where both are restricted, one of them is enough.
    const either = !words[2]?.startsWith('*') && !words[4]?.startsWith('*');
    return new Schedule(minutes, hours, { ofMonth, months, ofWeek, either });
  }

  /** @param date a day, as UTC */
  isOn(date: Date): boolean {
    const { ofMonth, months, ofWeek, either } = this.days;
    if (!months.has(date.getUTCMonth() + 1)) return false;
    const [month, week] = [ofMonth.has(date.getUTCDate()), ofWeek.has(date.getUTCDay())];
    return either ? month || week : month && week;
  }
}

type Numbers = Set<number>;
type Five = [Numbers, Numbers, Numbers, Numbers, Numbers];

function numbersOf(text: string, field: (typeof FIELDS)[number]): Numbers {
  return new Set(text.split(',').flatMap((item) => itemOf(item, field)));
}

function itemOf(item: string, { name, least, most, words }: (typeof FIELDS)[number]): number[] {
  const unreadable = (): RangeError => new RangeError(`"${item}" is no ${name}`);
  const match = /^(\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item);
  if (match === null) throw unreadable();
  const [, all, from = '', to, step] = match;
  const numberOf = (word: string): number => {
    const named = words.indexOf(word.toUpperCase());
    const number = named >= 0 ? named + least : Number(word);
    if (!Number.isInteger(number) || number < least || number > most) throw unreadable();
    return number;
  };
  const first = all === '*' ? least : numberOf(from);
  const last = all === '*' || (to === undefined && step !== undefined) ? most : numberOf(to ?? from);
  const by = Number(step ?? 1);
  if (last < first || by < 1) throw unreadable();
  return Array.from({ length: Math.floor((last - first) / by) + 1 }, (_, index) => first + index * by);
}
