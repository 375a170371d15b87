import type { Clock } from '../../../operator/base/clock';
import type { Exit, GuardedProcess } from '../../../dev/cluster/process-guard';
import { Respawn } from '../../../dev/cluster/respawn';

class TestClock implements Clock {
  private time = 0;
  private timers: { at: number; run: () => void }[] = [];
  now = () => this.time;
  monotonic = () => this.time;
  after(ms: number, run: () => void) {
    const timer = { at: this.time + ms, run };
    this.timers.push(timer);
    return () => void (this.timers = this.timers.filter((other) => other !== timer));
  }
  get due() {
    return this.timers.map(({ at }) => at - this.time);
  }
  async advance(ms: number) {
    this.time += ms;
    const ready = this.timers.filter(({ at }) => at <= this.time);
    this.timers = this.timers.filter(({ at }) => at > this.time);
    for (const { run } of ready) run();
    await settled();
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

function process(pid: number): GuardedProcess & { end: (exit: Exit) => Promise<unknown>; stopped: number } {
  let resolve: (exit: Exit) => void;
  const ended = new Promise<Exit>((done) => (resolve = done));
  return {
    name: 'operator',
    pid,
    log: 'operator.log',
    exit: undefined,
    ended,
    stopped: 0,
    stop() {
      this.stopped += 1;
      resolve({ code: 0, signal: null });
      return ended;
    },
    end(exit) {
      resolve(exit);
      return settled();
    },
  };
}

describe('Respawn', () => {
  let clock: TestClock;
  let events: string[];
  let made: ReturnType<typeof process>[];
  let fail: Error | undefined;
  let respawn: Respawn;
  const CRASH: Exit = { code: 1, signal: null };
  const latest = () => made.at(-1) ?? process(0);

  beforeEach(() => {
    clock = new TestClock();
    events = [];
    made = [process(1)];
    fail = undefined;
    const start = () => {
      if (fail !== undefined) return Promise.reject(fail);
      made.push(process(made.length + 1));
      return Promise.resolve(latest());
    };
    respawn = new Respawn(latest(), { start, onChange: (event) => events.push(event), clock });
  });

  it('waits longer after each crash, up to 30 s, and begins anew after a minute of health', async () => {
    const delays: number[] = [];
    for (let crash = 0; crash < 7; crash++) {
      await latest().end(CRASH);
      delays.push(...clock.due);
      await clock.advance(clock.due[0] ?? 0);
    }
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(made).toHaveLength(8);
    await clock.advance(61_000);
    await latest().end(CRASH);
    expect(clock.due).toEqual([1_000]);
  });

  it('tells what happens', async () => {
    await latest().end({ code: null, signal: 'SIGSEGV' });
    await clock.advance(1_000);
    expect(events).toEqual(['operator ended with SIGSEGV; it is started again in 1 s', 'operator runs again']);
    expect(respawn.process.pid).toBe(2);
  });

  it('tries again after a start that failed', async () => {
    fail = new Error('no room');
    await latest().end(CRASH);
    await clock.advance(1_000);
    expect(events.at(-1)).toBe("operator can't be started: no room");
    fail = undefined;
    await clock.advance(30_000);
    expect(made).toHaveLength(2);
  });

  it('starts nothing after stop, neither at once nor by a pending timer', async () => {
    await latest().end(CRASH);
    await respawn.stop();
    await clock.advance(100_000);
    expect(made).toHaveLength(1);
    expect(clock.due).toEqual([]);
  });

  it('does not take its own stop for a crash', async () => {
    await respawn.stop();
    await settled();
    expect({ events, due: clock.due, stopped: made[0]?.stopped }).toEqual({ events: [], due: [], stopped: 1 });
  });
});
