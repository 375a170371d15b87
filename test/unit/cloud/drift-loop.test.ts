import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { DriftLoop } from '../../../operator/cloud/drift/drift-loop';
import { intervalOfStack } from '../../../operator/cloud/drift/drift-schedule';
import type { CloudRegistry } from '../../../operator/cloud/providers/registry';
import type { Updates } from '../../../operator/updates/update';
import { FakeClock } from '../kube/fake-clock';

const HOUR = 3_600_000;

test('a shorter driftInterval counts at once, however long the one before was', async () => {
  const clock = new FakeClock();
  const listeners = new Set<(name: string) => void>();
  const entry = { name: 'home', cloud: {} };
  const registry = {
    list: () => [entry],
    get: () => entry,
    connected: () => entry,
    accounts: { refusal: () => undefined },
    onChange: (listener: (name: string) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } as unknown as CloudRegistry;
  let interval = 8760 * HOUR;
  let passes = 0;
  const loop = new DriftLoop(
    { registry, updates: {} as Updates, clock, random: () => 0.5, isValid: () => true, logger: silentLogger },
    {
      intervalMs: () => interval,
      intervals: () => new Map(),
      isHeld: () => false,
      kind: 'LoadBalancer',
      found: () => undefined,
      reported: () => undefined,
      alsoCheck: () => Promise.resolve(void passes++),
    },
  );
  const stop = new AbortController();
  const ended = loop.run(stop.signal);
  await clock.advance(5_000);
  expect(listeners.size).toBe(1);

  interval = 60_000;
  listeners.forEach((listener) => listener('another'));
  await clock.advance(5_000);
  expect(passes).toBe(0);
  listeners.forEach((listener) => listener('home'));
  await clock.advance(130_000);
  expect(passes).toBe(2);

  stop.abort();
  await ended;
  expect([listeners.size, clock.pending()]).toEqual([0, []]);
});

describe('a stack whose state can not be read', () => {
  /** Compares the stacks a, b and c, of which `b` fails. */
  async function pass(failure: OperatorError): Promise<{ compared: string[]; checked: number }> {
    const seen = { compared: [] as string[], checked: 0 };
    const entry = { name: 'home', spec: { driftPolicy: 'Heal', freeze: false }, cloud: { discover: () => Promise.resolve(new Map()) } };
    const updates = {
      moment: () => 0,
      adoptFindings: (stack: string) => {
        seen.compared.push(stack);
        return stack === 'b' ? Promise.reject(failure) : Promise.resolve([]);
      },
    };
    const loop = new DriftLoop(
      {
        ...{ registry: { connected: () => entry } as unknown as CloudRegistry, updates: updates as unknown as Updates },
        ...{ clock: new FakeClock(), random: () => 0.5, isValid: () => true, logger: silentLogger },
      },
      {
        ...{
          intervalMs: () => HOUR,
          intervals: () => new Map(['a', 'b', 'c'].map((stack) => [stack, HOUR])),
          isHeld: () => false,
          kind: 'LoadBalancer',
          found: () => undefined,
          reported: () => undefined,
        },
        alsoCheck: () => Promise.resolve(void seen.checked++),
      },
    );
    await loop.pass('home').catch((thrown: unknown) => expect(thrown).toBe(failure));
    return seen;
  }

  test('keeps neither the others nor the members from being compared', async () => {
    const damaged = new OperatorError('Invalid', 'nonsense', { reason: 'StateDamaged' });
    expect(await pass(damaged)).toEqual({ compared: ['a', 'b', 'c'], checked: 1 });
  });

  test('as none can, because of the store, ends the pass', async () => {
    const away = new OperatorError('Transient', '500', { reason: 'StateStoreUnavailable' });
    expect(await pass(away)).toEqual({ compared: ['a', 'b'], checked: 0 });
  });
});

describe('what told nothing', () => {
  /** Stack a of a provider that is only compared when somebody asks. @param read what the cloud answers @param compare what becomes of it */
  function watched(read: () => Promise<unknown>, compare: () => Promise<[] | undefined>, isValid = () => true) {
    const clock = new FakeClock();
    const entry = { name: 'home', spec: { driftPolicy: 'Heal', freeze: false }, cloud: { discover: () => read() } };
    const registry = {
      ...{ list: () => [entry], get: () => entry, connected: () => entry },
      ...{ accounts: { refusal: () => undefined }, onChange: () => () => undefined },
    };
    const reported: string[] = [];
    const loop = new DriftLoop(
      {
        ...{ registry: registry as unknown as CloudRegistry, updates: { moment: () => 7, adoptFindings: compare } as unknown as Updates },
        ...{ clock, random: () => 0.5, isValid, logger: silentLogger },
      },
      {
        ...{
          intervalMs: () => 0,
          intervals: () => new Map([['a', 0]]),
          isHeld: () => false,
          kind: 'LoadBalancer' as const,
          found: () => undefined,
        },
        reported: (stack) => void reported.push(stack),
      },
    );
    const stop = new AbortController();
    const ended = loop.run(stop.signal);
    const end = (): Promise<void> => (stop.abort(), ended);
    return { clock, loop, reported, end };
  }

  test('since the cloud could not be read, is asked for again, later each time', async () => {
    let reads = 0;
    const away = new OperatorError('Transient', '500');
    const { clock, loop, reported, end } = watched(
      () => (++reads < 4 ? Promise.reject(away) : Promise.resolve(new Map())),
      () => Promise.resolve([]),
    );
    const asked = loop.ask('home', ['a']);
    await clock.advance(2_000);
    await asked; // who asked is told
    expect([reads, reported]).toEqual([1, []]);
    await clock.advance(12_000);
    expect(reads).toBe(2);
    await clock.advance(12_000);
    expect(reads).toBe(2);
    await clock.advance(60_000);
    expect([reads, reported]).toEqual([4, ['a']]);
    await clock.advance(HOUR);
    expect(reads).toBe(4);
    await end();
  });

  test('since an update came in between, is asked for again, and nothing is said of it', async () => {
    const updates = [undefined, [] as []];
    const { clock, loop, reported, end } = watched(
      () => Promise.resolve(new Map()),
      () => Promise.resolve(updates.shift()),
    );
    void loop.ask('home');
    await clock.advance(2_000);
    expect([updates.length, reported]).toEqual([1, []]);
    await clock.advance(12_000);
    expect([updates.length, reported]).toEqual([0, ['a']]);
    await end();
  });

  test('is compared soon when somebody asks anew, however often it was put off before', async () => {
    const updates = [...Array<undefined>(5), [] as []];
    const { clock, loop, reported, end } = watched(
      () => Promise.resolve(new Map()),
      () => Promise.resolve(updates.shift()),
    );
    void loop.ask('home');
    await clock.advance(75_000); // 10, 20 and 40 s later
    expect(updates).toHaveLength(2);
    void loop.ask('home');
    await clock.advance(2_000);
    expect(updates).toHaveLength(1);
    await clock.advance(12_000);
    expect(reported).toEqual(['a']);
    await end();
  });

  test('since the lease was renewed late, is asked for again', async () => {
    let valid = false;
    const { clock, loop, reported, end } = watched(
      () => Promise.resolve(new Map()),
      () => Promise.resolve([]),
      () => valid,
    );
    void loop.ask('home');
    await clock.advance(2_000);
    expect(reported).toEqual([]);
    valid = true;
    await clock.advance(12_000);
    expect(reported).toEqual(['a']);
    await end();
  });
});

describe('a cloud whose bulk reads tell of most stacks that nothing has changed', () => {
  const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];

  function watched(drift: () => { urn: string; kind: 'Changed' }[] = () => []) {
    const clock = new FakeClock();
    const read: string[] = [];
    const members: boolean[] = [];
    const marks = new Map(NAMES.map((name) => [name, 'same']));
    const reading = (by: string) => (stacks: string[]) => {
      read.push(`${by} ${stacks.join('')}`);
      return Promise.resolve(new Map());
    };
    const cloud = { discover: reading('asked'), glance: () => Promise.resolve({ marks: new Map(marks), discover: reading('glance') }) };
    const entry = { name: 'home', spec: { driftPolicy: 'Heal', freeze: false }, cloud };
    const registry = {
      ...{ list: () => [entry], get: () => entry, connected: () => entry },
      ...{ accounts: { refusal: () => undefined }, onChange: () => () => undefined },
    };
    const updates = { moment: () => 0, adoptFindings: (stack: string) => Promise.resolve(stack === 'a' ? drift() : []) };
    const loop = new DriftLoop(
      {
        ...{ registry: registry as unknown as CloudRegistry, updates: updates as unknown as Updates },
        ...{ clock, random: () => 0.5, isValid: () => true, logger: silentLogger },
      },
      {
        ...{ intervalMs: () => 60_000, intervals: () => new Map(NAMES.map((name) => [name, 60_000])) },
        ...{ isHeld: () => false, kind: 'LoadBalancer' as const, found: () => undefined, reported: () => undefined },
        alsoCheck: (_provider, inTurn) => Promise.resolve(void members.push(inTurn)),
      },
    );
    const stop = new AbortController();
    const ended = loop.run(stop.signal);
    const end = (): Promise<void> => (stop.abort(), ended);
    const looks = async (count: number): Promise<string[]> => {
      for (let number = 0; number < count; number++) await clock.advance(61_000);
      return read.splice(0);
    };
    return { clock, loop, marks, members, looks, end };
  }

  test('looks closer at all once, then at each in its turn, by the same bulk reads', async () => {
    const { looks, members, end } = watched();
    expect(await looks(1)).toEqual(['glance abcdef']);
    expect(await looks(6)).toEqual(['glance a', 'glance b', 'glance c', 'glance d', 'glance e', 'glance f']);
    expect(members).toEqual(Array(7).fill(true));
    await end();
  });

  test('looks at once at what a glance shows changed, and at what it shows nothing of', async () => {
    const { looks, marks, end } = watched();
    await looks(1);
    marks.set('d', 'another');
    marks.delete('e');
    expect(await looks(3)).toEqual(['glance ade', 'glance be', 'glance ce']);
    await end();
  });

  test('goes on looking at what differs until it is in order', async () => {
    let drift: { urn: string; kind: 'Changed' }[] = [{ urn: 'u', kind: 'Changed' }];
    const { looks, end } = watched(() => drift);
    await looks(1);
    expect(await looks(3)).toEqual(['glance ab', 'glance ac', 'glance ad']);
    drift = [];
    expect(await looks(2)).toEqual(['glance ae', 'glance f']);
    await end();
  });

  test('looks at what somebody asks for, whatever a glance would tell', async () => {
    const { clock, loop, looks, members, end } = watched();
    await looks(1);
    const one = loop.ask('home', ['c']);
    await clock.advance(1_000);
    await one;
    const all = loop.ask('home');
    await clock.advance(1_000);
    await all;
    expect(await looks(0)).toEqual(['asked c', 'asked abcdef']);
    expect(members.at(-1)).toBe(false);
    await end();
  });
});

describe('stacks with intervals of their own', () => {
  /** What is compared together, in order; `others` is what no stack holds. */
  function watched(intervals: Record<string, number>, ofProvider: number) {
    const clock = new FakeClock();
    const compared: string[] = [];
    const cloud = {
      discover: (stacks: string[]) => {
        compared.push(stacks.join('+'));
        return Promise.resolve(new Map());
      },
    };
    const entry = { name: 'home', spec: { driftPolicy: 'Heal', freeze: false }, cloud };
    const registry = {
      ...{ list: () => [entry], get: () => entry, connected: () => entry },
      ...{ accounts: { refusal: () => undefined }, onChange: () => () => undefined },
    };
    const loop = new DriftLoop(
      {
        ...{
          registry: registry as unknown as CloudRegistry,
          updates: { moment: () => 0, adoptFindings: () => Promise.resolve([]) } as unknown as Updates,
        },
        ...{ clock, random: () => 0.5, isValid: () => true, logger: silentLogger },
      },
      {
        ...{ intervalMs: () => ofProvider, intervals: () => new Map(Object.entries(intervals)) },
        ...{ isHeld: () => false, kind: 'LoadBalancer' as const, found: () => undefined, reported: () => undefined },
        alsoCheck: () => Promise.resolve(void compared.push('others')),
      },
    );
    const stop = new AbortController();
    const ended = loop.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await ended;
    };
    return { clock, compared, loop, end };
  }

  test('are compared when it is their turn, those with the same interval by one read, and 0 never', async () => {
    const { clock, compared, end } = watched({ a: 60_000, b: 60_000, c: HOUR, never: 0 }, HOUR);
    await clock.advance(70_000);
    expect(compared).toEqual(['a+b']);
    await clock.advance(70_000);
    expect(compared).toEqual(['a+b', 'a+b']);
    await clock.advance(HOUR);
    expect(compared.filter((one) => one !== 'a+b')).toEqual(['a+b+c', 'others']); // all are due
    await end();
  });

  test('are compared at once when somebody asks: one alone, or everything, also what has no interval', async () => {
    const { clock, compared, loop, end } = watched({ a: 60_000, never: 0 }, HOUR);
    await clock.advance(1_000);
    const one = loop.ask('home', ['never']);
    await clock.advance(1_000);
    await one;
    expect(compared.splice(0)).toEqual(['never']);
    const all = loop.ask('home');
    void loop.ask('home', ['a']);
    await clock.advance(2_000);
    await all;
    expect(compared).toEqual(['a+never', 'others']);
    await end();
  });

  test('another interval counts within seconds', async () => {
    const intervals = { a: HOUR };
    const { clock, compared, end } = watched(intervals, HOUR);
    await clock.advance(60_000);
    intervals.a = 30_000;
    await clock.advance(45_000);
    expect(compared).toEqual(['a']);
    await end();
  });

  test.each<[string, (string | undefined)[], number]>([
    ['none says anything', [undefined, undefined], 600_000],
    ['there is no object', [], 600_000],
    ['the shortest', ['1h', undefined, '30s'], 30_000],
    ['the CloudProvider’s, which is shorter', ['1h', undefined], 600_000],
    ['never', ['0s', '0s'], 0],
    ['never does not count beside another one', ['0s', '1h'], 3_600_000],
  ])('of a stack: %s', (_what, own, expected) => expect(intervalOfStack(own, 600_000)).toBe(expected));
});
