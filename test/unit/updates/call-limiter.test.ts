import { CallLimiter } from '../../../operator/updates/limits/call-limiter';
import type { CallPriority } from '../../../operator/updates/limits/call-priority';
import { FakeClock, settle } from '../kube/fake-clock';

function setUp(limits = { callsPerSecond: 10, burst: 5 }) {
  const clock = new FakeClock();
  const limiter = new CallLimiter(limits, clock);
  const served: { name: string; at: number }[] = [];
  const start = clock.monotonic();
  const take = (name: string, priority: CallPriority = 'Change', signal?: AbortSignal): void => {
    limiter.take(priority, signal).then(
      () => served.push({ name, at: clock.monotonic() - start }),
      () => undefined,
    );
  };
  const names = (): string[] => served.map(({ name }) => name);
  return { clock, limiter, served, take, names };
}

describe('CallLimiter', () => {
  test('the burst at once, then the rate; never more than both together', async () => {
    const { clock, served, take } = setUp();
    for (let i = 0; i < 30; i++) take(String(i));
    await settle();
    expect(served).toHaveLength(5);
    await clock.advance(1_000);
    expect(served).toHaveLength(15);
    await clock.advance(1_500);
    expect(served).toHaveLength(30);
    for (const { at } of served) {
      expect(served.filter((other) => other.at <= at).length).toBeLessThanOrEqual(5 + at / 100 + 1e-6);
    }
  });

  test('a token that is there is given in the same turn', async () => {
    const { limiter } = setUp();
    let given = false;
    void limiter.take('Background').then(() => (given = true));
    await Promise.resolve();
    expect(given).toBe(true);
  });

  test('members and deletes first, then changes, then drift; in order within each', async () => {
    const { clock, take, names } = setUp({ callsPerSecond: 10, burst: 1 });
    take('x');
    take('drift', 'Background');
    take('change 1');
    take('member 1', 'First');
    take('change 2');
    take('member 2', 'First');
    await clock.advance(1_000);
    expect(names()).toEqual(['x', 'member 1', 'member 2', 'change 1', 'change 2', 'drift']);
  });

  test('every tenth call goes to whoever has waited longest, so that nothing waits for ever', async () => {
    const { clock, take, names } = setUp({ callsPerSecond: 10, burst: 1 });
    take('x');
    take('drift', 'Background');
    await clock.advance(1);
    for (let i = 0; i < 100; i++) take(`member ${i}`, 'First');
    await clock.advance(1_000);
    expect(names().indexOf('drift')).toBe(9);
  });

  test('Retry-After holds everybody, and the first call is made when it ends', async () => {
    const { clock, limiter, served, take } = setUp();
    limiter.throttled(3_000);
    take('member', 'First');
    take('change');
    await clock.advance(2_999);
    expect(served).toEqual([]);
    await clock.advance(1);
    expect(served).toEqual([{ name: 'member', at: 3_000 }]);
  });

  test('the longest of several Retry-Afters counts; none is one second', async () => {
    const { clock, limiter, served, take } = setUp();
    limiter.throttled(5_000);
    limiter.throttled(1_000);
    take('a');
    await clock.advance(4_999);
    expect(served).toEqual([]);
    await clock.advance(1_001);
    expect(served).toHaveLength(1);
    limiter.throttled(undefined);
    take('b');
    await clock.advance(999);
    expect(served).toHaveLength(1);
    await clock.advance(1_001);
    expect(served).toHaveLength(2);
  });

  test('an hour is kept, and an absurd Retry-After cut to that; who would wait longer than ten minutes for its end is told when to come again', async () => {
    const { clock, limiter, served, take } = setUp();
    limiter.throttled(600_000);
    const waiting = limiter.take('Change');
    limiter.throttled(86_400_000);
    const message = 'the cloud takes no calls for another 60 minutes: there were too many';
    await expect(waiting).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 3_600_000, message });
    await clock.advance(2_999_999);
    await expect(limiter.take('First')).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 600_001 });
    await clock.advance(1);
    take('a');
    await clock.advance(599_999);
    expect(served).toEqual([]);
    await clock.advance(1);
    expect(served).toEqual([{ name: 'a', at: 3_600_000 }]);
  });

  test('each "too many" halves the rate, but what was on its way together counts once; it recovers within a minute', async () => {
    const { clock, limiter } = setUp({ callsPerSecond: 100, burst: 200 });
    limiter.throttled(10);
    limiter.throttled(10);
    expect(limiter.rate).toBeCloseTo(50);
    await clock.advance(1_200);
    limiter.throttled(10);
    expect(limiter.rate).toBeCloseTo(26);
    await clock.advance(60_000);
    expect(limiter.rate).toBe(100);
  });

  test('who gives up leaves the line and costs no token', async () => {
    const { clock, limiter, take, names } = setUp({ callsPerSecond: 1, burst: 1 });
    const stop = new AbortController();
    take('a');
    take('b', 'Change', stop.signal);
    take('c');
    stop.abort(new Error('no more'));
    await settle();
    expect(limiter.depth).toBe(1);
    await clock.advance(1_000);
    expect(names()).toEqual(['a', 'c']);
    await expect(limiter.take('First', stop.signal)).rejects.toThrow('no more');
  });

  test('new limits hold at once; closing refuses who waits', async () => {
    const { clock, limiter, served, take } = setUp({ callsPerSecond: 1, burst: 1 });
    for (let i = 0; i < 11; i++) take(String(i));
    limiter.configure({ callsPerSecond: 100, burst: 1 });
    await clock.advance(100);
    expect(served).toHaveLength(11);
    const waiting = limiter.take('Change');
    limiter.close(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    expect(clock.pending()).toEqual([]);
  });
});
