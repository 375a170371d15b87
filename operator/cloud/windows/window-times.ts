import type { MaintenanceWindow } from '../../../crds';
import { parseDuration } from '../../base/duration';
import { Schedule } from '../../base/schedule';
import { TimeZone } from '../../base/time-zone';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Between two leap days there are up to eight years, and a little for the zone. */
const HORIZON_DAYS = 8 * 366 + 2;

/** When a maintenance window opens and closes. All times are milliseconds since 1970. */
export class WindowTimes {
  private readonly schedule: Schedule;
  private readonly zone: TimeZone;
  private readonly durationMs: number;

  /** @throws UnreadableWindow with the field that is at fault */
  constructor({ schedule, duration, timeZone }: MaintenanceWindow) {
    this.schedule = read('schedule', schedule, () => Schedule.parse(schedule));
    this.zone = read('timeZone', timeZone, () => new TimeZone(timeZone), 'it is no time zone; write one such as Europe/Berlin or UTC');
    this.durationMs = read('duration', duration, () => parseDuration(duration));
    if (this.durationMs <= 0) throw new UnreadableWindow('duration', duration, 'the window would never open');
    if (this.next(0) === undefined)
      throw new UnreadableWindow('schedule', schedule, 'no month asked for has that day: the window would never open');
  }

  isOpen(at: number): boolean {
    // The newest opening lasts longest.
    const opened = this.newest(at);
    return opened !== undefined && at < opened + this.durationMs;
  }

  /** The first opening after a time; undefined = none within eight years. */
  next(after: number): number | undefined {
    const today = startOfDay(this.zone.localOf(after));
    for (let day = -1; day <= HORIZON_DAYS; day++) {
      const found = this.openings(today + day * DAY_MS).find((at) => at > after);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The last opening until a time, where the window could be open still. */
  private newest(until: number): number | undefined {
    const today = startOfDay(this.zone.localOf(until));
    const days = Math.ceil(this.durationMs / DAY_MS) + 1;
    for (let day = 1; day >= -days; day--) {
      const found = this.openings(today + day * DAY_MS).findLast((at) => at <= until);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Of one day, ascending but for what clocks skip. @param day its start as a local time */
  private openings(day: number): number[] {
    if (!this.schedule.isOn(new Date(day))) return [];
    return this.zone.instantsOf(this.schedule.times.map((minute) => day + minute * MINUTE_MS));
  }
}

/** A window that can't be read, or never opens. */
export class UnreadableWindow extends Error {
  constructor(
    readonly field: 'schedule' | 'duration' | 'timeZone',
    value: string,
    why: string,
  ) {
    super(`"${value}": ${why}`);
  }
}

function read<T>(field: UnreadableWindow['field'], value: string, parse: () => T, why?: string): T {
  try {
    return parse();
  } catch (thrown) {
    throw new UnreadableWindow(field, value, why ?? (thrown instanceof Error ? thrown.message : String(thrown)));
  }
}

function startOfDay(local: number): number {
  return Math.floor(local / DAY_MS) * DAY_MS;
}
