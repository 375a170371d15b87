import { TimeZone } from '../../../operator/base/time-zone';

const berlin = new TimeZone('Europe/Berlin');

const local = (text: string): number => Date.parse(`${text}:00Z`);
const instant = (at: number): string => new Date(at).toISOString().slice(0, 16);

test.each([
  ['2026-01-15T12:00', '2026-01-15T11:00'],
  ['2026-07-15T12:00', '2026-07-15T10:00'],
  // Clocks go from 02:00 to 03:00.
  ['2026-03-29T01:59', '2026-03-29T00:59'],
  ['2026-03-29T02:00', '2026-03-29T01:00'],
  ['2026-03-29T02:30', '2026-03-29T01:30'],
  ['2026-03-29T03:30', '2026-03-29T01:30'],
  // Clocks go from 03:00 back to 02:00.
  ['2026-10-25T02:30', '2026-10-25T00:30'],
  ['2026-10-25T03:00', '2026-10-25T02:00'],
])('Berlin shows %s at %s UTC', (shown, at) => {
  expect(instant(berlin.instantOf(local(shown)))).toBe(at);
});

test.each([
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:30'],
  ['America/New_York', '2026-11-01T01:30', '2026-11-01T05:30'],
  ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45'], // half an hour back
  ['Asia/Kathmandu', '2026-01-01T00:00', '2025-12-31T18:15'],
  ['UTC', '2026-03-29T02:30', '2026-03-29T02:30'],
])('%s shows %s at %s UTC', (zone, shown, at) => {
  expect(instant(new TimeZone(zone).instantOf(local(shown)))).toBe(at);
});

test('several at once are the same as one by one, over changes of clocks too', () => {
  for (const day of ['2026-03-29', '2026-10-25', '2026-06-01']) {
    const locals = Array.from({ length: 96 }, (_, quarter) => local(`${day}T00:00`) + quarter * 900_000);
    expect(berlin.instantsOf(locals)).toEqual(locals.map((one) => berlin.instantOf(one)));
  }
});

test('what it shows, and when it shows that, are inverse', () => {
  for (let at = Date.UTC(2026, 2, 28); at < Date.UTC(2026, 2, 31); at += 600_000) expect(berlin.instantOf(berlin.localOf(at))).toBe(at);
});

test.each(['Europe/Atlantis', '', 'Mars'])('there is no zone "%s"', (name) => expect(() => new TimeZone(name)).toThrow(RangeError));
