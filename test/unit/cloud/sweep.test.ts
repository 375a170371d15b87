import { cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import type { Leftover } from '../../../operator/cloud/drift/leftovers';
import { Sweep, type SweepOptions } from '../../../operator/cloud/drift/sweep';
import type { Cloud, DiscoveredResource, KnownOwners } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const specs = (): Promise<[]> => Promise.resolve([]);
const resource = (id: string): DiscoveredResource => ({ type: 'x:index:Rule', name: id, id, inputs: {}, outputs: {} });

/** A sweep of one cloud, by default one that is swept only when asked. */
async function sweepOf(abilities: Partial<Cloud>, facts: Partial<SweepOptions> = {}, sweepInterval = '0s') {
  const registry = fakeRegistry(abilities);
  await registry.set('alpha', cloudProviderSpec.parse({ custom: { kind: 'alpha' }, sweepInterval }));
  const [clock, stop, told] = [new FakeClock(), new AbortController(), [] as Leftover[]];
  const sweep = new Sweep({
    ...{ registry, clock, random: () => 0.5, logger: silentLogger, isValid: () => true },
    ...{ records: { write: () => Promise.resolve() }, stacks: () => ['lb-web'], owners: () => ['uid-1'] },
    ...{ specs, serves: () => Promise.resolve(false), takeUp: () => undefined },
    swept: (_provider, leftovers) => void told.push(...leftovers),
    ...facts,
  });
  const ended = sweep.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await clock.advance(2_000);
    await ended;
  };
  return { sweep, clock, told, end };
}

/** What one sweep tells, of a cloud with a stack that is known and something beside all stacks. */
async function swept(beside: (known: () => KnownOwners) => Map<string, DiscoveredResource[]>): Promise<string[]> {
  const { sweep, clock, told, end } = await sweepOf({
    discover: () => Promise.resolve(new Map([['lb-web', [resource('1')]]])),
    leftBehind: (known) => Promise.resolve(beside(known)),
  });
  sweep.ask('alpha', 'now');
  for (let second = 0; second < 3 && sweep.result('alpha') === undefined; second++) await clock.advance(1_000);
  await end();
  return told.map(({ stack }) => stack);
}

test('what was made in things that are others’ is told too, and the cloud is told what accounts for some', async () => {
  const asked: KnownOwners[] = [];
  const beside = (known: () => KnownOwners): Map<string, DiscoveredResource[]> => {
    asked.push(known());
    return new Map([['rules-of-nobody', [resource('2')]]]);
  };
  expect(await swept(beside)).toEqual(['rules-of-nobody']);
  expect(asked).toEqual([{ stacks: new Set(['lb-web']), owners: new Set(['uid-1']), specs }]);
});

describe('a sweep that is asked for', () => {
  /** A cloud whose search fails so many times first. */
  function failing(times: number) {
    const seen = { searches: 0 };
    const discover = (): Promise<Map<string, DiscoveredResource[]>> =>
      ++seen.searches <= times
        ? Promise.reject(new OperatorError('Transient', 'away'))
        : Promise.resolve(new Map<string, DiscoveredResource[]>());
    return { seen, discover };
  }

  test('and fails is tried again after a back-off until it has succeeded, and then no more', async () => {
    const { seen, discover } = failing(2);
    const { sweep, clock, end } = await sweepOf({ discover });
    sweep.ask('alpha', 'now');
    await clock.advance(8_000);
    expect([seen.searches, sweep.result('alpha')]).toEqual([1, undefined]);
    await clock.advance(5_000);
    expect([seen.searches, sweep.result('alpha')]).toEqual([2, undefined]);
    await clock.advance(25_000);
    expect(sweep.result('alpha')).toMatchObject({ handled: 'now', leftovers: 0 });
    await clock.advance(3_600_000);
    expect(seen.searches).toBe(3);
    await end();
  });

  test('so is one during which the lease was lost for a moment', async () => {
    const { seen, discover } = failing(0);
    const { sweep, clock, end } = await sweepOf({ discover }, { isValid: () => seen.searches > 1 });
    sweep.ask('alpha', 'now');
    await clock.advance(8_000);
    expect(sweep.result('alpha')).toBeUndefined();
    await clock.advance(5_000);
    expect(sweep.result('alpha')).toMatchObject({ handled: 'now' });
    await end();
  });

  test('and was answered is not asked for again where a later one fails', async () => {
    const seen = { searches: 0 };
    const discover = (): Promise<Map<string, DiscoveredResource[]>> =>
      ++seen.searches === 2
        ? Promise.reject(new OperatorError('Transient', 'away'))
        : Promise.resolve(new Map<string, DiscoveredResource[]>());
    const { sweep, clock, end } = await sweepOf({ discover }, {}, '1h');
    sweep.ask('alpha', 'now');
    await clock.advance(3_605_000);
    expect(seen.searches).toBe(2);
    await clock.advance(3_000_000);
    expect(seen.searches).toBe(2);
    await end();
  });

  test('is asked for anew of a provider that was made again under the same name', async () => {
    const { seen, discover } = failing(0);
    const { sweep, clock, end } = await sweepOf({ discover });
    sweep.ask('alpha', 'now');
    await clock.advance(3_000);
    sweep.ask('alpha', 'now');
    await clock.advance(3_000);
    expect(seen.searches).toBe(1);
    sweep.forget('alpha');
    expect(sweep.result('alpha')).toBeUndefined();
    sweep.ask('alpha', 'now');
    await clock.advance(3_000);
    expect([seen.searches, sweep.result('alpha')]).toEqual([2, expect.objectContaining({ handled: 'now' })]);
    await end();
  });
});
