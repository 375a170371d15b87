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
