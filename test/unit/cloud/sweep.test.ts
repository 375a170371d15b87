import { cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import type { Leftover } from '../../../operator/cloud/drift/leftovers';
import { Sweep } from '../../../operator/cloud/drift/sweep';
import type { DiscoveredResource, KnownOwners } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const specs = (): Promise<[]> => Promise.resolve([]);
const resource = (id: string): DiscoveredResource => ({ type: 'x:index:Rule', name: id, id, inputs: {}, outputs: {} });

/** What one sweep tells, of a cloud with a stack that is known and something beside all stacks. */
async function swept(beside: (known: () => KnownOwners) => Map<string, DiscoveredResource[]>): Promise<string[]> {
  const registry = fakeRegistry({
    discover: () => Promise.resolve(new Map([['lb-web', [resource('1')]]])),
    leftBehind: (known) => Promise.resolve(beside(known)),
  });
  await registry.set('alpha', cloudProviderSpec.parse({ custom: { kind: 'alpha' } }));
  const [clock, stop, told] = [new FakeClock(), new AbortController(), [] as Leftover[]];
  const sweep = new Sweep({
    ...{ registry, clock, random: () => 0.5, logger: silentLogger, isValid: () => true },
    ...{ records: { write: () => Promise.resolve() }, stacks: () => ['lb-web'], owners: () => ['uid-1'] },
    ...{ specs, serves: () => Promise.resolve(false), takeUp: () => undefined },
    swept: (_provider, leftovers) => void told.push(...leftovers),
  });
  sweep.ask('alpha', 'now');
  const ended = sweep.run(stop.signal);
  for (let second = 0; second < 3 && sweep.result('alpha') === undefined; second++) await clock.advance(1_000);
  stop.abort();
  await clock.advance(2_000);
  await ended;
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
