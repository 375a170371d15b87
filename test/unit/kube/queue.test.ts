import fc from 'fast-check';
import { setImmediate } from 'node:timers/promises';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { KeyedQueue, type KeyedQueueOptions } from '../../../operator/kube/queue';
import { FakeClock, settle } from './fake-clock';

function setUp(options: Partial<KeyedQueueOptions> = {}) {
  const clock = new FakeClock();
  const queue = new KeyedQueue({ name: 'test', logger: silentLogger, clock, backOff: { baseMs: 1000, maxMs: 8000 }, ...options });
  const stop = new AbortController();
  return { clock, queue, stop };
}

const told = (retryAfterMs: number, times: number): OperatorError[] =>
  Array.from({ length: times }, () => new OperatorError('Throttled', 'slow down', { retryAfterMs }));

/** Handlers that end when told to. */
class Gate {
  readonly started: string[] = [];
  private readonly open = new Map<string, () => void>();

  readonly handle = (key: string): Promise<void> => {
    this.started.push(key);
    return new Promise((resolve) => this.open.set(key, resolve));
  };

  async finish(key: string): Promise<void> {
    this.open.get(key)?.();
    this.open.delete(key);
    await settle();
  }
}

describe('KeyedQueue', () => {
  it('runs a key once however often it was added, and again when it was added while it ran', async () => {
    const { queue, stop } = setUp();
    const gate = new Gate();
    ['a', 'a', 'b', 'a'].forEach((key) => queue.add(key));
    expect(queue.depth).toBe(2);
    const running = queue.run(1, gate.handle, stop.signal);
    await settle();
    expect(gate.started).toEqual(['a']);
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(1);
    await gate.finish('a');
    await gate.finish('b');
    await gate.finish('a');
    expect(gate.started).toEqual(['a', 'b', 'a']);
    stop.abort();
    await running;
  });

  it('takes what traffic waits for first, with workers reserved for that while all others are busy', async () => {
    const { queue, stop } = setUp();
    const gate = new Gate();
    ['slow', 'next'].forEach((key) => queue.add(key));
    const running = queue.run(1, gate.handle, stop.signal, 1);
    await settle();
    expect(gate.started).toEqual(['slow']);
    queue.add('first', 'High');
    queue.add('second', 'High');
    await settle();
    expect(gate.started).toEqual(['slow', 'first']);
    expect(['slow', 'first', 'second', 'next', 'none'].map((key) => queue.has(key))).toEqual([true, true, true, true, false]);
    await gate.finish('slow');
    expect(gate.started).toEqual(['slow', 'first', 'second']);
    await gate.finish('first');
    expect(gate.started).toEqual(['slow', 'first', 'second']);
    await gate.finish('second');
    expect(gate.started).toEqual(['slow', 'first', 'second', 'next']);
    await gate.finish('next');
    queue.add('late');
    await settle();
    await gate.finish('late');
    expect(gate.started.at(-1)).toBe('late');
    stop.abort();
    await running;
  });

  it('takes changes before resyncs, and a resync that became a change too', async () => {
    const { queue, stop } = setUp();
    const order: string[] = [];
    queue.add('resync', 'Low');
    queue.add('raised', 'Low');
    queue.add('change');
    queue.add('raised');
    queue.add('change', 'Low');
    const running = queue.run(1, (key) => Promise.resolve(void order.push(key)), stop.signal);
    await settle();
    expect(order).toEqual(['change', 'raised', 'resync']);
    stop.abort();
    await running;
  });

  it('backs off per key up to the limit, and starts anew after a success', async () => {
    const { clock, queue, stop } = setUp();
    const runs: number[] = [];
    let failing = true;
    const running = queue.run(
      2,
      // eslint-disable-next-line @typescript-eslint/require-await
      async () => {
        runs.push(clock.monotonic());
        if (failing) throw new Error('no');
      },
      stop.signal,
    );
    queue.add('a');
    await clock.advance(40_000);
    const gaps = runs.slice(1).map((at, i) => at - (runs[i] ?? 0));
    expect(gaps.slice(0, 6)).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
    failing = false;
    await clock.advance(8000);
    expect(queue.failuresOf('a')).toBe(0);
    failing = true;
    const before = runs.length;
    queue.add('a');
    await clock.advance(1000);
    expect(runs.length).toBe(before + 2);
    stop.abort();
    await running;
  });

  it('does not back off further for failures before the retry was due, which stays when it was', async () => {
    const { clock, queue, stop } = setUp();
    const runs: number[] = [];
    const startedAt = clock.monotonic();
    const running = queue.run(1, () => (runs.push(clock.monotonic() - startedAt), Promise.reject(new Error('no'))), stop.signal);
    queue.add('a');
    await clock.advance(1000);
    for (let change = 0; change < 5; change++) {
      queue.add('a');
      await clock.advance(100);
    }
    expect(queue.failuresOf('a')).toBe(2);
    await clock.advance(5500);
    expect(runs).toEqual([0, 1000, 1000, 1100, 1200, 1300, 1400, 3000, 7000]);
    stop.abort();
    await running;
  });

  it('C-SVC-26 comes back exactly when it is told, and its failures stay as they were', async () => {
    const { clock, queue, stop } = setUp();
    const startedAt = clock.monotonic();
    const runs: number[] = [];
    const failures: Error[] = [new Error('no'), new Error('no'), ...told(42_000, 3), new Error('no'), new Error('no')];
    const handle = (): Promise<void> => {
      runs.push((clock.monotonic() - startedAt) / 1000);
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    };
    const running = queue.run(1, handle, stop.signal);
    queue.add('a');
    await clock.advance(3 * 1000);
    expect(queue.failuresOf('a')).toBe(2);
    await clock.advance(2 * 42_000);
    expect(queue.failuresOf('a')).toBe(2);
    await clock.advance(60_000);
    expect(runs).toEqual([0, 1, 3, 45, 87, 129, 133, 141]);
    stop.abort();
    await running;
  });

  it('waits for Retry-After where that is longer', async () => {
    const { clock, queue, stop } = setUp();
    let runs = 0;
    const running = queue.run(
      1,
      () => {
        runs += 1;
        return Promise.reject(new OperatorError('Transient', 'not now', { retryAfterMs: 5000 }));
      },
      stop.signal,
    );
    queue.add('a');
    await clock.advance(4999);
    expect(runs).toBe(1);
    await clock.advance(1);
    expect(runs).toBe(2);
    stop.abort();
    await running;
  });

  it('cancels the retry that an earlier failure left behind', async () => {
    const { clock, queue, stop } = setUp();
    let runs = 0;
    let failing = true;
    const running = queue.run(1, () => ((runs += 1), failing ? Promise.reject(new Error('no')) : Promise.resolve()), stop.signal);
    queue.add('a');
    await settle();
    failing = false;
    queue.add('a');
    await clock.advance(60_000);
    expect(runs).toBe(2);
    stop.abort();
    await running;
  });

  it('keeps a handler’s own addRateLimited', async () => {
    const { clock, queue, stop } = setUp();
    let runs = 0;
    const handle = (key: string): Promise<void> => {
      runs += 1;
      if (runs < 4) queue.addRateLimited(key);
      return Promise.resolve();
    };
    const running = queue.run(1, handle, stop.signal);
    queue.add('a');
    await clock.advance(1000 + 2000 + 4000);
    expect(runs).toBe(4);
    expect(queue.failuresOf('a')).toBe(0);
    stop.abort();
    await running;
  });

  it('takes the earliest of several delays, once', async () => {
    const { clock, queue } = setUp();
    queue.addAfter('a', 500);
    queue.addAfter('a', 200);
    queue.addAfter('a', 900);
    expect(clock.pending()).toEqual([200]);
    await clock.advance(200);
    expect(queue.depth).toBe(1);
    await clock.advance(1000);
    expect(queue.depth).toBe(1);
    queue.addAfter('b', 100);
    queue.addRateLimited('b');
    queue.close();
    expect(clock.pending()).toEqual([]);
  });

  it('ends only when the running keys have ended, and leaves the others', async () => {
    const { queue, stop } = setUp();
    const gate = new Gate();
    ['a', 'b', 'c'].forEach((key) => queue.add(key));
    let ended = false;
    const running = queue.run(2, gate.handle, stop.signal).then(() => (ended = true));
    await settle();
    stop.abort();
    await gate.finish('a');
    expect(ended).toBe(false);
    await gate.finish('b');
    await running;
    expect(gate.started).toEqual(['a', 'b']);
    expect(queue.depth).toBe(1);
  });

  it('tells its metrics', async () => {
    const told: string[] = [];
    const { clock, queue, stop } = setUp({
      metrics: {
        added: () => told.push('added'),
        retried: () => told.push('retried'),
        depth: (keys) => told.push(`depth ${keys}`),
        started: (ms) => told.push(`started ${ms}`),
        finished: (ms, failed) => told.push(`finished ${ms} ${failed}`),
      },
    });
    queue.add('a');
    queue.add('a');
    await clock.advance(30);
    const running = queue.run(1, () => Promise.reject(new Error('no')), stop.signal);
    await settle();
    expect(told).toEqual(['added', 'depth 1', 'depth 0', 'started 30', 'retried', 'finished 0 true']);
    stop.abort();
    await running;
    queue.close();
  });

  it('never gives a key to two workers and loses none (any order of adds, failures and workers)', async () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      how: fc.constantFrom('add' as const, 'low' as const, 'after' as const, 'rateLimited' as const),
      /** Turns of the event loop that pass before the next step. */
      turns: fc.integer({ min: 0, max: 3 }),
    });
    const plan = fc.record({
      steps: fc.array(step, { maxLength: 60 }),
      workers: fc.integer({ min: 1, max: 4 }),
      /** For each run in turn: how long it takes, and whether it fails. */
      runs: fc.array(fc.record({ turns: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }), { minLength: 1, maxLength: 20 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ steps, workers, runs }) => {
        const { clock, queue, stop } = setUp();
        const busy = new Set<string>();
        /** Changes that no run has seen from its beginning. */
        const unseen = new Set<string>();
        let most = 0;
        let count = 0;
        const handle = async (key: string): Promise<void> => {
          if (busy.has(key)) throw new Error(`two workers on ${key}`);
          busy.add(key);
          most = Math.max(most, busy.size);
          unseen.delete(key);
          const run = runs[count++ % runs.length] ?? { turns: 0, fails: false };
          for (let turn = 0; turn < run.turns; turn++) await setImmediate();
          busy.delete(key);
          // Only the first runs may fail, so that it ends.
          if (run.fails && count < 40) {
            unseen.add(key);
            throw new Error('no');
          }
        };
        let clash: unknown;
        const guarded = (key: string) =>
          handle(key).catch((thrown: Error) => ((clash ??= thrown.message === 'no' ? undefined : thrown), Promise.reject(thrown)));
        const running = queue.run(workers, guarded, stop.signal);
        for (const { key, how, turns } of steps) {
          unseen.add(key);
          if (how === 'add') queue.add(key);
          else if (how === 'low') queue.add(key, 'Low');
          else if (how === 'after') queue.addAfter(key, 700);
          else queue.addRateLimited(key);
          for (let turn = 0; turn < turns; turn++) await setImmediate();
        }
        for (let round = 0; round < 60 && (unseen.size > 0 || queue.depth > 0 || busy.size > 0); round++) await clock.advance(9000);
        expect(clash).toBeUndefined();
        expect([...unseen]).toEqual([]);
        expect(queue.depth).toBe(0);
        expect(most).toBeLessThanOrEqual(workers);
        stop.abort();
        await running;
        queue.close();
      }),
      { numRuns: 150, timeout: 20_000 },
    );
  });
});
