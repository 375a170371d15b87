import type { Clock } from '../../../operator/base/clock';
import { WorkerPool, type PoolOptions } from '../../../operator/updates/worker-pool';
import type { WorkerProcess } from '../../../operator/updates/worker-process';

/** What the pool sees of a worker. */
class Stand {
  alive = true;
  tainted = false;
  runs = 0;
  rssBytes = 0;
  die!: () => void;
  readonly exited = new Promise<void>((resolve) => {
    this.die = () => {
      this.alive = false;
      resolve();
    };
  });
  constructor(readonly pid: number) {}
  kill(): void {
    this.die();
  }
}

function pool(options: Partial<PoolOptions> = {}) {
  const timers: { at: number; run: () => void }[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        const at = timers.indexOf(timer);
        if (at >= 0) timers.splice(at, 1);
      };
    },
  };
  const stands: Stand[] = [];
  const made = new WorkerPool({
    max: 1,
    maxRuns: 10,
    maxRssBytes: 100,
    idleMs: 60,
    overtimeMs: 15,
    limitOf: () => 100,
    clock,
    spawn: () => {
      const stand = new Stand(stands.length + 1);
      stands.push(stand);
      return stand as unknown as WorkerProcess;
    },
    ...options,
  });
  const advance = (ms: number): void => {
    now += ms;
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.run();
    }
  };
  return { pool: made, stands, advance };
}

describe('WorkerPool', () => {
  test('serves keys in turns, and in order within a key', async () => {
    const { pool: workers } = pool();
    const order: string[] = [];
    const take = (key: string, name: string): void => {
      void workers.acquire(key).then((worker) => {
        order.push(name);
        workers.release(worker);
      });
    };
    const first = await workers.acquire('a');
    ['a1', 'a2', 'a3'].forEach((name) => take('a', name));
    take('b', 'b1');
    workers.release(first);
    await new Promise(setImmediate);
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  test('never has more workers than allowed, and reuses a warm one', async () => {
    const { pool: workers, stands } = pool({ max: 2 });
    const [one, two] = await Promise.all([workers.acquire('a'), workers.acquire('a')]);
    const third = workers.acquire('a');
    expect(stands).toHaveLength(2);
    workers.release(two);
    expect(await third).toBe(two);
    workers.release(one);
    expect(stands).toHaveLength(2);
  });

  test.each([
    ['tainted', (stand: Stand) => (stand.tainted = true)],
    ['worn', (stand: Stand) => (stand.runs = 10)],
    ['fat', (stand: Stand) => (stand.rssBytes = 101)],
    ['dead', (stand: Stand) => stand.die()],
  ])('a %s worker is replaced', async (_, spoil) => {
    const { pool: workers, stands } = pool();
    const worker = await workers.acquire('a');
    const next = workers.acquire('a');
    spoil(stands[0] as Stand);
    workers.release(worker);
    expect((await next).pid).toBe(2);
    expect(stands[0]?.alive).toBe(false);
  });

  test('a worker that takes long gives up its place to others, who give it back', async () => {
    const { pool: workers, stands, advance } = pool({ max: 1 });
    const slow = await workers.acquire('a');
    const [second, third] = [workers.acquire('b'), workers.acquire('c')];
    advance(14);
    expect(stands).toHaveLength(1);
    advance(2);
    expect((await second).pid).toBe(2);
    // Overtime is counted up to `max` again: two slow ones are not an endless number.
    advance(20);
    await new Promise(setImmediate);
    expect(stands).toHaveLength(2);
    workers.release(await second);
    expect((await third).pid).toBe(2);
    workers.release(slow);
    expect(stands.map((stand) => stand.alive)).toEqual([false, true]);
  });

  test('one place is left for who has none, however many of another key take long', async () => {
    const { pool: workers, stands, advance } = pool({ max: 2 });
    const paused = Array.from({ length: 4 }, () => workers.acquire('a'));
    advance(16);
    await Promise.all(paused.slice(0, 3));
    advance(16);
    await new Promise(setImmediate);
    expect(stands).toHaveLength(3);
    expect((await workers.acquire('b')).pid).toBe(4);
  });

  test('an idle worker that has died is not given out, though how it ended is not known yet', async () => {
    const { pool: workers, stands } = pool();
    workers.release(await workers.acquire('a'));
    stands[0]!.alive = false;
    expect((await workers.acquire('a')).pid).toBe(2);
    stands[0]!.die();
    await new Promise(setImmediate);
    expect(workers.pids).toEqual([2]);
  });

  test('a key has no more workers than its limit; others get theirs meanwhile', async () => {
    const { pool: workers, stands } = pool({ max: 3, limitOf: (key) => (key === 'a' ? 1 : 2) });
    const first = await workers.acquire('a');
    const second = workers.acquire('a');
    await Promise.all([workers.acquire('b'), workers.acquire('b')]);
    expect(stands).toHaveLength(3);
    workers.release(first);
    expect((await second).pid).toBe(first.pid);
  });

  test('background work waits until nobody else does, of whatever key', async () => {
    const { pool: workers } = pool();
    const served: string[] = [];
    const wait = (name: string, key: string, background: boolean): Promise<void> =>
      workers.acquire(key, { background }).then((worker) => {
        served.push(name);
        workers.release(worker);
      });
    const worker = await workers.acquire('a');
    const waiting = [wait('upgrade', 'a', true), wait('change', 'a', false), wait('other upgrade', 'b', true), wait('other', 'c', false)];
    workers.release(worker);
    await Promise.all(waiting);
    expect([served.slice(0, 2).sort(), served.slice(2).sort()]).toEqual([
      ['change', 'other'],
      ['other upgrade', 'upgrade'],
    ]);
  });

  test('background work waits for no burst to end', async () => {
    const { pool: workers } = pool();
    const served: string[] = [];
    const worker = await workers.acquire('a');
    const wait = (name: string, background = false): Promise<void> =>
      workers.acquire('a', { background }).then((given) => {
        served.push(name);
        workers.release(given);
      });
    const waiting = [wait('upgrade', true), ...Array.from({ length: 30 }, (_, at) => wait(`service ${at}`))];
    workers.release(worker);
    await Promise.all(waiting);
    expect(served.indexOf('upgrade')).toBeLessThan(10);
    expect(served.filter((name) => name !== 'upgrade')).toEqual(Array.from({ length: 30 }, (_, at) => `service ${at}`));
  });

  test('ends idle workers, also one that was only started to be ready', async () => {
    const { pool: workers, stands, advance } = pool({ max: 2 });
    workers.warm();
    expect(stands).toHaveLength(1);
    const both = await Promise.all([workers.acquire('a'), workers.acquire('a')]);
    both.forEach((worker) => workers.release(worker));
    advance(61);
    await new Promise(setImmediate);
    expect(stands.map((stand) => stand.alive)).toEqual([false, false]);
    expect(workers.pids).toEqual([]);
    workers.warm();
    advance(61);
    await new Promise(setImmediate);
    expect(workers.pids).toEqual([]);
  });

  test('who waits is told when no worker can be started; the next one gets one', async () => {
    let fails = true;
    const { pool: workers } = pool({
      spawn: () => {
        if (fails) throw new Error('EROFS: read-only file system');
        return new Stand(7) as unknown as WorkerProcess;
      },
    });
    await expect(workers.acquire('a')).rejects.toMatchObject({ code: 'Transient', message: expect.stringContaining('EROFS') as string });
    fails = false;
    const worker = await workers.acquire('a');
    workers.release(worker);
    expect(await workers.acquire('b')).toBe(worker);
  });

  test('close refuses who waits and ends everybody', async () => {
    const { pool: workers, stands } = pool();
    await workers.acquire('a');
    const waiting = workers.acquire('a');
    const closed = workers.close();
    await expect(waiting).rejects.toMatchObject({ code: 'Canceled' });
    await closed;
    expect(stands.every((stand) => !stand.alive)).toBe(true);
    await expect(workers.acquire('a')).rejects.toMatchObject({ code: 'Canceled' });
  });
});
