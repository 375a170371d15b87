import { Schedule } from '../../../operator/base/schedule';

/** The days of 2026 and 2028 (a leap year) on which it is, as month-day. */
function days(schedule: string, year = 2026): string[] {
  const parsed = Schedule.parse(schedule);
  const all = Array.from({ length: 366 }, (_, index) => new Date(Date.UTC(year, 0, 1 + index))).filter(
    (date) => date.getUTCFullYear() === year,
  );
  return all.filter((date) => parsed.isOn(date)).map((date) => date.toISOString().slice(5, 10));
}

test.each<[string, number[]]>([
  ['0 2 * * *', [120]],
  ['30 0,23 * * *', [30, 1410]],
  ['*/20 5 * * *', [300, 320, 340]],
  ['10-12 1 * * *', [70, 71, 72]],
  ['50/5 1 * * *', [110, 115]],
  ['0 20-22/2 * * *', [1200, 1320]],
  ['5,5,1 0 * * *', [1, 5]],
])('the times of "%s"', (schedule, times) => expect(Schedule.parse(schedule).times).toEqual(times));

test.each<[string, string[]]>([
  ['0 0 1 1,MAR,dec *', ['01-01', '03-01', '12-01']],
  ['0 0 30-31 2-4 *', ['03-30', '03-31', '04-30']],
  ['0 0 31 2 *', []],
  ['0 0 * 2 SUN', ['02-01', '02-08', '02-15', '02-22']],
  ['0 0 * 2 0', ['02-01', '02-08', '02-15', '02-22']],
  ['0 0 * 2 7', ['02-01', '02-08', '02-15', '02-22']],
  ['0 0 * 2 SAT-7', ['02-01', '02-07', '02-08', '02-14', '02-15', '02-21', '02-22', '02-28']],
  // Where day and weekday are both restricted, one of them is enough.
  ['0 0 3 2 SUN', ['02-01', '02-03', '02-08', '02-15', '02-22']],
])('the days of "%s"', (schedule, expected) => expect(days(schedule)).toEqual(expected));

test('29 February is in leap years only', () => {
  expect([days('0 0 29 2 *', 2026), days('0 0 29 2 *', 2028)]).toEqual([[], ['02-29']]);
});

test.each([
  '',
  '0 0 * *',
  '0 0 * * * *',
  'x 0 * * *',
  '0 0 0 * *',
  '5-1 0 * * *',
  '0 0 * MON *',
  '0 0 * * FRI-TUE',
  '*/0 0 * * *',
  '-1 0 * * *',
  '0 0 * * 8',
])('"%s" is none', (schedule) => expect(() => Schedule.parse(schedule)).toThrow(RangeError));
