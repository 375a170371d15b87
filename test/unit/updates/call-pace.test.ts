import { CallPace, gapMs } from '../../../operator/updates/limits/call-pace';
import type { CallPriority } from '../../../operator/updates/limits/call-priority';
import type { CallSort } from '../../../providers/call-gate';
import { FakeClock, settle } from '../kube/fake-clock';

function setUp() {
  const clock = new FakeClock();
  const pace = new CallPace(clock);
  const start = clock.monotonic();
  const went: number[] = [];
  const names: string[] = [];
  const take = (sort: CallSort = 'writes', priority: CallPriority = 'Change'): void =>
    void pace.turn(sort, priority).then(() => {
      went.push(clock.monotonic() - start);
      names.push(priority);
    });
  return { clock, pace, went, names, take };
}

describe('CallPace', () => {
  test.each([
    [1_000, 0],
    [100, 0],
    [60, 1_000],
    [30, 2_000],
    [6, 3_000],
    [0, 3_000],
  ])('%i calls left: %i ms from one to the next', (left, gap) => {
    expect(gapMs(left)).toBe(gap);
  });

  test('while the cloud says nothing of what is left, nobody waits', async () => {
    const { went, take } = setUp();
    for (let i = 0; i < 500; i++) take();
    await settle();
    expect(went).toHaveLength(500);
  });

  test('what is left is spread over a minute; other sorts of calls do not wait', async () => {
    const { clock, pace, went, take } = setUp();
    pace.told('writes', 30);
    for (let i = 0; i < 4; i++) take();
    take('reads');
    take('deletes');
    await settle();
    expect(went).toEqual([0, 0, 0]);
    await clock.advance(30_000);
    expect(went.slice(3)).toEqual([2_000, 4_000, 6_000]);
  });

  test('a cloud that has had enough is asked as often as it gives new calls, so that it can say when there are more', async () => {
    const { clock, pace, went, take } = setUp();
    pace.told('writes', 0);
    for (let i = 0; i < 4; i++) take();
    await clock.advance(9_000);
    expect(went).toEqual([0, 3_000, 6_000, 9_000]);
  });

  test('every answer corrects it, and one that is long past says nothing any more', async () => {
    const { clock, pace, went, take } = setUp();
    pace.told('writes', 1);
    take();
    await settle();
    pace.told('writes', 1_000);
    await clock.advance(60_000);
    take();
    await settle();
    expect(went).toEqual([0, 60_000]);
    pace.told('writes', 0);
    await clock.advance(60_001);
    take();
    take();
    await settle();
    expect(went).toHaveLength(4);
  });

  test('a better answer counts for those who wait already, and they leave nobody waiting behind them', async () => {
    const { clock, pace, went, take } = setUp();
    pace.told('reads', 6);
    for (let i = 0; i < 100; i++) take('reads');
    await settle();
    expect(went).toEqual([0]);
    pace.told('reads', 1_000);
    await clock.advance(10);
    take('reads');
    await settle();
    expect(went).toHaveLength(101);
  });

  test.each([200, 30])('%i left, said by a call that was on its way, ends no Retry-After: who comes waits for it too', async (left) => {
    const { clock, pace, went, take } = setUp();
    pace.throttled('reads', 120_000);
    take('reads');
    pace.told('reads', left);
    take('reads');
    // Longer ago than what is left says anything.
    await clock.advance(61_000);
    take('reads');
    await clock.advance(58_999);
    expect(went).toEqual([]);
    await clock.advance(10_000);
    expect(went[0]).toBe(120_000);
    expect(went).toHaveLength(3);
    take('reads');
    await settle();
    expect(went).toHaveLength(4);
  });

  test('deletions and targets go first, what nobody waits for last', async () => {
    const { clock, pace, names, take } = setUp();
    pace.told('reads', 6);
    for (let i = 0; i < 3; i++) take('reads', 'Background');
    take('reads', 'First');
    await clock.advance(30_000);
    expect(names).toEqual(['Background', 'First', 'Background', 'Background']);
  });

  test('who gives up waiting is told his own reason', async () => {
    const { pace } = setUp();
    pace.told('writes', 1);
    await pace.turn('writes', 'Change');
    const abort = new AbortController();
    const waiting = pace.turn('writes', 'Change', abort.signal);
    abort.abort(new Error('the update was stopped'));
    await expect(waiting).rejects.toThrow('the update was stopped');
  });
});
