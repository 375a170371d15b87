import type { MaintenanceWindow } from '../../../crds';
import { windowState, type PlacedWindows, type WindowState } from '../../../operator/cloud/windows/window-state';
import { untilWindow, windowOf, windowProblems } from '../../../operator/cloud/windows/windows-of';
import type { Member } from '../../../operator/cloud/stack/stack-kind';

const FIELD = 'spec.maintenanceWindows';
const HOUR = 3_600_000;

const at = (text: string): number => Date.parse(`${text}:00Z`);
const window = (schedule: string, duration = '1h', timeZone = 'UTC'): MaintenanceWindow => ({ schedule, duration, timeZone });
const own = (...windows: MaintenanceWindow[]): PlacedWindows => ({ field: FIELD, windows });
const ofProvider = (...windows: MaintenanceWindow[]): PlacedWindows => ({ field: `${FIELD} of CloudProvider aws`, windows });

/** `Open`, until when it is closed (UTC, to the minute), or what is wrong. */
function told(state: WindowState): string {
  if (state.state === 'Closed') return new Date(state.opensAt).toISOString().slice(0, 16);
  return state.state === 'Never' ? state.problem.message : state.state;
}

const SATURDAYS = window('0 2 * * SAT', '4h', 'Europe/Berlin');

// 28 November 2026 is a Saturday.
test.each<[string, MaintenanceWindow[], string, string]>([
  ['before it', [SATURDAYS], '2026-11-28T00:59', '2026-11-28T01:00'],
  ['as it opens', [SATURDAYS], '2026-11-28T01:00', 'Open'],
  ['in its last minute', [SATURDAYS], '2026-11-28T04:59', 'Open'],
  ['as it closes', [SATURDAYS], '2026-11-28T05:00', '2026-12-05T01:00'],
  ['the other one is nearer', [SATURDAYS, window('30 6 * * *')], '2026-11-28T05:00', '2026-11-28T06:30'],
  ['it overlaps with itself', [window('*/10 * * * *', '15m')], '2026-11-28T05:09', 'Open'],
  ['it is open for longer than a day', [window('0 0 1 * *', '72h')], '2026-12-03T23:59', 'Open'],
  ['it was', [window('0 0 1 * *', '72h')], '2026-12-04T00:00', '2027-01-01T00:00'],
  ['over midnight of the year', [window('30 23 31 12 *', '1h', 'Asia/Kathmandu')], '2026-12-31T18:15', 'Open'],
  ['29 February', [window('0 0 29 2 *')], '2026-11-28T00:00', '2028-02-29T00:00'],
  ['29 February, after a year that has none', [window('0 0 29 2 *')], '2097-01-01T00:00', '2104-02-29T00:00'],
  // Clocks skip from 02:00 to 03:00 on 29 March, and go back from 03:00 on 25 October.
  ['a time that clocks skip', [window('30 2 * * *', '30m', 'Europe/Berlin')], '2026-03-29T00:59', '2026-03-29T01:30'],
  ['the day after', [window('30 2 * * *', '30m', 'Europe/Berlin')], '2026-03-29T02:00', '2026-03-30T00:30'],
  ['a time that comes twice opens once', [window('30 2 * * *', '30m', 'Europe/Berlin')], '2026-10-25T00:29', '2026-10-25T00:30'],
  ['and not again', [window('30 2 * * *', '30m', 'Europe/Berlin')], '2026-10-25T01:30', '2026-10-26T01:30'],
  ['it lasts as long as it says while clocks go back', [window('0 2 * * *', '2h', 'Europe/Berlin')], '2026-10-25T01:59', 'Open'],
  ['and no longer', [window('0 2 * * *', '2h', 'Europe/Berlin')], '2026-10-25T02:00', '2026-10-26T01:00'],
])('%s', (_what, windows, now, expected) => {
  expect(told(windowState([own(...windows)], at(now)))).toBe(expected);
});

test.each<[string, [MaintenanceWindow, MaintenanceWindow], string, string]>([
  ['both are open', [window('0 2 * * *', '2h'), window('0 3 * * *', '2h')], '2026-11-28T03:30', 'Open'],
  ['one is', [window('0 2 * * *', '2h'), window('0 3 * * *', '2h')], '2026-11-28T02:30', '2026-11-28T03:00'],
  ['none is', [window('0 2 * * *', '2h'), window('0 3 * * *', '2h')], '2026-11-28T12:00', '2026-11-29T03:00'],
  ['they meet at a weekend', [window('0 2 * * *', '2h'), window('0 0 * * SAT', '24h')], '2026-11-30T02:30', '2026-12-05T02:00'],
  ['they meet once a year', [window('0 0 24 12 *', '24h'), window('0 12 * * *', '1h')], '2026-11-30T12:30', '2026-12-24T12:00'],
])('with the CloudProvider’s: %s', (_what, [mine, theirs], now, expected) => {
  expect(told(windowState([own(mine), ofProvider(theirs)], at(now)))).toBe(expected);
});

test('no windows are no limit', () => expect(windowState([], 0)).toEqual({ state: 'Open' }));

test('what is closed, and until when, is said', () => {
  const closed = windowState([own(window('0 2 * * *')), ofProvider(window('0 0 * * *', '24h'))], at('2026-11-28T12:00'));
  expect(closed).toMatchObject({ why: `no maintenance window is open (${FIELD}); the next one opens at 2026-11-29T02:00:00Z` });
});

test.each<[string, PlacedWindows[], string]>([
  [
    'a day that no month asked for has',
    [own(SATURDAYS, window('0 0 31 2,4-4 *'))],
    `${FIELD}[1].schedule: "0 0 31 2,4-4 *": no month asked for has that day: the window would never open`,
  ],
  ['a range that goes back', [own(window('0 0 * * FRI-TUE'))], `${FIELD}[0].schedule: "0 0 * * FRI-TUE": "FRI-TUE" is no day of the week`],
  [
    'no zone',
    [own(window('0 0 * * *', '1h', 'Europe/Atlantis'))],
    `${FIELD}[0].timeZone: "Europe/Atlantis": it is no time zone; write one such as Europe/Berlin or UTC`,
  ],
  ['no time', [own(window('0 0 * * *', '0s'))], `${FIELD}[0].duration: "0s": the window would never open`],
  [
    'of the CloudProvider',
    [ofProvider(window('0 0 * * *', '1h', 'X'))],
    `${FIELD}[0].timeZone of CloudProvider aws: "X": it is no time zone; write one such as Europe/Berlin or UTC`,
  ],
  [
    'two that contradict each other',
    [own(window('0 2 * * SAT')), ofProvider(window('0 2 * * SUN'))],
    `${FIELD} and ${FIELD} of CloudProvider aws are never open at the same time within a year, so that no update would ever run; change one of them`,
  ],
])('never: %s', (_what, places, message) => {
  expect(told(windowState(places, at('2026-11-28T12:00')))).toBe(message);
});

describe('of objects', () => {
  const member = (...windows: MaintenanceWindow[]): Pick<Member, 'spec'> => ({ spec: { provider: 'aws', maintenanceWindows: windows } });
  const cloud = { name: 'aws', spec: { maintenanceWindows: [window('0 2 * * *')] } };
  const noon = at('2026-11-28T12:00');

  test('the CloudProvider’s hold for all of them', () => {
    expect(told(windowOf({ spec: { provider: 'aws' } }, cloud, noon))).toBe('2026-11-29T02:00');
    expect(windowOf({ spec: { provider: 'aws' } }, { name: 'aws', spec: {} }, noon)).toEqual({ state: 'Open' });
  });

  test('what never opens is a problem of the object', () => {
    expect(windowProblems(member(window('0 3 * * *')), cloud, noon)).toMatchObject([{ severity: 'Error', field: FIELD }]);
    expect(windowProblems(member(window('30 2 * * *')), cloud, noon)).toEqual([]);
  });

  test('several wait for the last one, and are looked at once an hour', () => {
    const soon = member(window('10 12 * * *'));
    expect(untilWindow([member(window('0 12 * * *')), soon], undefined, noon)).toBe(600_000);
    expect(untilWindow([soon, member(window('0 6 * * *'))], undefined, noon)).toBe(HOUR);
    expect(untilWindow([member(window('0 0 1 1 *', '1h', 'X'))], undefined, noon)).toBe(HOUR);
    expect(untilWindow([member(window('0 12 * * *'))], undefined, noon)).toBe(0);
  });
});
