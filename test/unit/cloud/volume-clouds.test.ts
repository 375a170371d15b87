import { cloudProviderSpec, type CloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { VolumeClouds } from '../../../operator/cloud/providers/volume-clouds';
import type { VolumePlace } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';

type Answer = VolumePlace | OperatorError | 'none of ours' | 'knows no zones' | 'can’t be reached';
const PLACE = { zones: ['zone-a'], region: 'r' };
const AWAY = new OperatorError('Transient', 'the cloud is away');

let connections: string[];

interface World {
  clouds: VolumeClouds;
  specs: Map<string, CloudProviderSpec>;
  clock: FakeClock;
  /** Those that can't be reached refuse at last. */
  refuse: () => void;
}

function cloudsOf(answers: Record<string, Answer>): World {
  connections = [];
  const clock = new FakeClock();
  let refuse = (): void => undefined;
  const refused = new Promise<never>((_resolve, reject) => (refuse = () => reject(AWAY)));
  refused.catch(() => undefined);
  const registry = new CloudRegistry({
    ...{ clusterID: 'c', readSecret: () => Promise.resolve(['']) },
    loadModule: (kind) =>
      Promise.resolve({
        ...{ kind, providerIDScheme: kind, programVersion: '1', compile: () => ({ block: {}, problems: [] }) },
        connect: (_spec, { providerName }) => {
          connections.push(providerName);
          const answer = answers[providerName];
          const place = (): Promise<VolumePlace | undefined> =>
            answer instanceof OperatorError ? Promise.reject(answer) : Promise.resolve(typeof answer === 'object' ? answer : undefined);
          if (answer === 'can’t be reached') return refused;
          const ability = answer === 'knows no zones' ? {} : { volumes: { place } };
          return Promise.resolve({ workerSettings: () => ({}), close: () => Promise.resolve(), ...ability });
        },
      }),
  });
  const specs = new Map(Object.keys(answers).map((name) => [name, cloudProviderSpec.parse({ custom: { kind: 'x' } })]));
  return { clouds: new VolumeClouds({ registry, providers: () => specs, clock }), specs, clock, refuse };
}

test.each<[string, Record<string, Answer>, unknown]>([
  ['the one that has it', { a: 'none of ours', b: PLACE, c: 'knows no zones' }, PLACE],
  ['another one is away', { a: AWAY, b: PLACE }, PLACE],
  ['nobody has it', { a: 'none of ours', c: 'knows no zones' }, undefined],
  ['there is no cloud', {}, undefined],
])('%s', async (_what, answers, expected) => {
  expect(await cloudsOf(answers).clouds.place({})).toEqual(expected);
});

test('nobody has it, but one could not be asked', async () => {
  await expect(cloudsOf({ a: 'none of ours', b: AWAY }).clouds.place({})).rejects.toThrow('the cloud is away');
});

test('two have it', async () => {
  await expect(cloudsOf({ a: PLACE, b: PLACE }).clouds.place({})).rejects.toThrow('CloudProviders a, b all have this volume');
});

test('each is connected once, however many ask, and one that is gone is not asked', async () => {
  const { clouds, specs } = cloudsOf({ a: PLACE, b: AWAY });
  expect(await Promise.all([clouds.place({}), clouds.place({})])).toEqual([PLACE, PLACE]);
  expect(connections).toEqual(['a', 'b']);
  specs.delete('a');
  await expect(clouds.place({})).rejects.toThrow('the cloud is away');
});

test('one that can’t be reached holds up only what nobody else has, and is tried once for all that ask', async () => {
  const { clouds, clock, refuse } = cloudsOf({ a: 'can’t be reached', b: PLACE });
  const places = Promise.all([clouds.place({}), clouds.place({})]);
  await clock.advance(2_000);
  expect(await places).toEqual([PLACE, PLACE]);
  expect(connections).toEqual(['a', 'b']);
  refuse();
  expect(await clouds.place({})).toEqual(PLACE);
  const nowhere = cloudsOf({ a: 'can’t be reached', b: 'none of ours' });
  const failing = expect(nowhere.clouds.place({})).rejects.toThrow('the cloud is away');
  await nowhere.clock.advance(2_000);
  nowhere.refuse();
  await failing;
});
