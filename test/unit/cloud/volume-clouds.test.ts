import { cloudProviderSpec, type CloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { VolumeClouds } from '../../../operator/cloud/providers/volume-clouds';
import type { VolumePlace } from '../../../providers/provider';

type Answer = VolumePlace | OperatorError | 'none of ours' | 'knows no zones';
const PLACE = { zones: ['zone-a'], region: 'r' };
const AWAY = new OperatorError('Transient', 'the cloud is away');

let connections: string[];

function cloudsOf(answers: Record<string, Answer>): { clouds: VolumeClouds; specs: Map<string, CloudProviderSpec> } {
  connections = [];
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
          const ability = answer === 'knows no zones' ? {} : { volumes: { place } };
          return Promise.resolve({ workerSettings: () => ({}), close: () => Promise.resolve(), ...ability });
        },
      }),
  });
  const specs = new Map(Object.keys(answers).map((name) => [name, cloudProviderSpec.parse({ custom: { kind: 'x' } })]));
  return { clouds: new VolumeClouds({ registry, providers: () => specs }), specs };
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
