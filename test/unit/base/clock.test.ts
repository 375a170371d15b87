import { systemClock } from '../../../operator/base/clock';

const HOUR = 3_600_000;

describe('the clock of the system', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it.each([24, 1000, 8760])('keeps a delay of %d hours, longer than a timer of Node can be', async (hours) => {
    let ran = 0;
    systemClock.after(hours * HOUR, () => ran++);
    await jest.advanceTimersByTimeAsync(hours * HOUR - 1);
    expect(ran).toBe(0);
    await jest.advanceTimersByTimeAsync(1);
    expect(ran).toBe(1);
  });

  it('cancels one on its way', async () => {
    let ran = 0;
    const cancel = systemClock.after(1000 * HOUR, () => ran++);
    await jest.advanceTimersByTimeAsync(900 * HOUR);
    cancel();
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(900 * HOUR);
    expect(ran).toBe(0);
  });

  it('has no end of a delay without end', async () => {
    let ran = 0;
    const cancel = systemClock.after(Infinity, () => ran++);
    await jest.advanceTimersByTimeAsync(2000 * HOUR);
    expect(ran).toBe(0);
    cancel();
  });
});

test('no delay is over before it is by the monotonic clock, from which others decide', async () => {
  const delays = Array.from({ length: 200 }, (_, index) => 5 + index * 0.37);
  const early = await Promise.all(
    delays.map((ms) => {
      const due = systemClock.monotonic() + ms;
      return new Promise<number>((resolve) => void systemClock.after(ms, () => resolve(due - systemClock.monotonic())));
    }),
  );
  expect(Math.max(...early)).toBeLessThanOrEqual(0);
});
