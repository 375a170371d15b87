import type { LocalCloudClient } from '../../../providers/local/client';
import { LocalInstances } from '../../../providers/local/instances';

const machine = (id: string, name: string, clusterID?: string) => ({
  ...{ id, name, providerID: `local:///z/${id}`, power: 'running', type: 't', zone: 'z', region: 'r', addresses: [] },
  tags: clusterID === undefined ? {} : { clusterID },
});

function listed(clusterID: string, machines: object[]): Promise<string[]> {
  const client = { list: () => Promise.resolve(machines) } as unknown as LocalCloudClient;
  return new LocalInstances(client, clusterID).list().then((all) => all.map(({ id }) => id));
}

const ALL = [machine('1', 'a'), machine('2', 'b', 'ours'), machine('3', 'c', 'theirs')];

test('this cluster’s machines, and those that nobody claims', async () => {
  expect(await listed('ours', ALL)).toEqual(['1', '2']);
});

test('while the cluster’s id is not known, all of them', async () => {
  expect(await listed('', ALL)).toEqual(['1', '2', '3']);
});

test('while it is not known, a name that two have makes the listing fail: nobody may count as gone', async () => {
  await expect(listed('', [...ALL, machine('4', 'b', 'theirs')])).rejects.toThrow('two machines are named b');
  expect(await listed('ours', [...ALL, machine('4', 'b', 'theirs')])).toEqual(['1', '2']);
});
