import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { DriftLoop } from '../../../operator/cloud/drift/drift-loop';
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
      stacks: () => [],
      isHeld: () => false,
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
  expect(clock.pending().at(-1)).toBeGreaterThan(HOUR);
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
          stacks: () => ['a', 'b', 'c'],
          isHeld: () => false,
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
