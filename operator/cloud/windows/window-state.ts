import type { MaintenanceWindow } from '../../../crds';
import type { Problem } from '../../../providers/provider';
import { toSecond } from '../../base/next-try';
import { UnreadableWindow, WindowTimes } from './window-times';

/** Maintenance windows that stand in one place. */
export interface PlacedWindows {
  /** For messages: `spec.maintenanceWindows`, or the same of a CloudProvider. */
  field: string;
  windows: readonly MaintenanceWindow[];
}

/** Whether updates may reach the cloud now. Times are milliseconds since 1970. */
export type WindowState =
  | { state: 'Open' }
  /** `why` is the beginning of a sentence. */
  | { state: 'Closed'; opensAt: number; why: string }
  /** A person must correct the windows. */
  | { state: 'Never'; problem: Problem };

/** Windows of two places that do not meet within a year are taken for a contradiction. */
const MEETING_MS = 366 * 86_400_000;

/**
 * Where several places have windows, one of each must be open. Pure.
 * @param places those of the object and of its CloudProvider, as far as they have any
 */
export function windowState(places: readonly PlacedWindows[], now: number): WindowState {
  const problem = places.flatMap(unreadable)[0];
  if (problem !== undefined) return { state: 'Never', problem };
  const groups = places.map(({ windows }) => windows.map((window) => new WindowTimes(window)));
  const closed = places.filter((_place, index) => !isOpen(groups[index] ?? [], now));
  if (closed.length === 0) return { state: 'Open' };
  const opensAt = meeting(groups, now);
  if (opensAt === undefined) return { state: 'Never', problem: neverTogether(places) };
  const why = `no maintenance window is open (${closed.map(({ field }) => field).join(', ')}); the next one opens at ${toSecond(opensAt)}`;
  return { state: 'Closed', opensAt, why };
}

function isOpen(group: readonly WindowTimes[], at: number): boolean {
  return group.some((window) => window.isOpen(at));
}

/** The first time at which every group has an open window. */
function meeting(groups: readonly (readonly WindowTimes[])[], now: number): number | undefined {
  let at = now;
  while (at - now <= MEETING_MS || groups.length === 1) {
    const waits = groups.filter((group) => !isOpen(group, at));
    if (waits.length === 0) return at;
    const openings = waits.map((group) => Math.min(...group.map((window) => window.next(at) ?? Infinity)));
    at = Math.max(...openings);
    if (at === Infinity) return undefined;
  }
  return undefined;
}

function unreadable({ field, windows }: PlacedWindows): Problem[] {
  return windows.flatMap((window, index) => {
    const found = problemOf(window);
    if (found === undefined) return [];
    // A field of a CloudProvider is named with it, behind the path.
    const [path, ...owner] = field.split(' ');
    const at = [`${path}[${index}].${found.field}`, ...owner].join(' ');
    return [{ severity: 'Error', field: at, value: window[found.field], message: `${at}: ${found.message}` }];
  });
}

function problemOf(window: MaintenanceWindow): UnreadableWindow | undefined {
  try {
    new WindowTimes(window);
    return undefined;
  } catch (thrown) {
    if (thrown instanceof UnreadableWindow) return thrown;
    throw thrown;
  }
}

function neverTogether(places: readonly PlacedWindows[]): Problem {
  const fields = places.map(({ field }) => field);
  const message = `${fields.join(' and ')} are never open at the same time within a year, so that no update would ever run; change one of them`;
  return { severity: 'Error', field: fields[0] ?? '', value: '', message };
}
