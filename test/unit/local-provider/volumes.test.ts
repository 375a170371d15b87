import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { LocalCloudClient } from '../../../providers/local/client';
import { LocalVolumes } from '../../../providers/local/volumes';

const machine = (name: string, zone: string, more: object = {}): object => ({
  name,
  zone,
  region: 'r',
  power: 'running',
  tags: {},
  ...more,
});
const MACHINES = [
  machine('a', 'zone-a'),
  machine('b', 'zone-b'),
  machine('far', 'zone-x', { region: 'other' }),
  machine('gone', 'zone-a', { power: 'terminated' }),
  machine('theirs', 'zone-a', { tags: { clusterID: 'theirs' } }),
  machine('theirs', 'zone-c', { tags: { clusterID: 'ours' } }),
];
const client = {
  list: (_collection: string, { name }: { name: string }) =>
    Promise.resolve(MACHINES.filter((one) => (one as { name: string }).name === name)),
} as unknown as LocalCloudClient;

const on = (...hosts: string[]): JsonObject => ({ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: hosts }] });
const local = (...nodeSelectorTerms: JsonObject[]): JsonObject => ({
  local: { path: '/data' },
  nodeAffinity: { required: { nodeSelectorTerms } },
});

test.each<[string, JsonObject, unknown]>([
  ['one machine', local(on('a')), { zones: ['zone-a'], region: 'r' }],
  ['several machines', local(on('b', 'a'), on('a')), { zones: ['zone-a', 'zone-b'], region: 'r' }],
  ['of two with one name, this cluster’s', local(on('theirs')), { zones: ['zone-c'], region: 'r' }],
  ['machines of two regions', local(on('a', 'far')), undefined],
  ['a machine that is none of ours too', local(on('a', 'unknown')), undefined],
  ['a machine that is gone', local(on('gone')), undefined],
  ['a term that names no machine', local(on('a'), {}), undefined],
  ['no affinity', { local: { path: '/data' } }, undefined],
  ['another type of volume', { ...local(on('a')), local: undefined } as unknown as JsonObject, undefined],
])('a volume of %s', async (_what, spec, expected) => {
  expect(await new LocalVolumes(client, 'ours').place(spec)).toEqual(expected);
});

test('a listing that the cloud says is not there is no word on the volume', async () => {
  const list = (): Promise<never> => Promise.reject(new OperatorError('NotFound', 'no such collection'));
  await expect(new LocalVolumes({ list }, 'ours').place(local(on('a')))).rejects.toMatchObject({ code: 'Transient' });
});
