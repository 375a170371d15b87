import { CLEANUP_FINALIZER, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { ObjectWriter } from '../../../operator/cloud/object-writer';
import { deleteObject } from '../../../operator/loops/deletion';
import type { StoredCloudLoadBalancer } from '../../../operator/loops/kinds';
import { CLUSTER_START_MS } from '../../harness/cluster';
import { LoopCluster } from './cluster';

const RACES = 150;

describe('an object that is deleted while the cloud controllers begin with it', () => {
  let loops: LoopCluster;
  let writer: ObjectWriter;

  beforeAll(async () => {
    loops = await LoopCluster.start();
    await loops.namespace('races');
    writer = new ObjectWriter(loops.client, CLOUD_LOAD_BALANCERS, Date.now);
  }, CLUSTER_START_MS);

  afterAll(() => loops?.stop());

  const find = (name: string): Promise<StoredCloudLoadBalancer | undefined> =>
    loops.client.get<StoredCloudLoadBalancer>(CLOUD_LOAD_BALANCERS, `races/${name}`);

  function create(name: string): Promise<StoredCloudLoadBalancer> {
    const listeners = [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 }];
    return loops.client.create(CLOUD_LOAD_BALANCERS, 'races', { metadata: { name }, spec: { provider: 'local', listeners, local: {} } });
  }

  test('waits with our finalizer, or is gone before anything is made for it', async () => {
    for (let i = 0; i < RACES; i++) {
      const object = await create(`web-${i}`);
      const { name, uid } = object.metadata;
      const [finalizer] = await Promise.allSettled([
        writer.addFinalizer(object),
        deleteObject(loops.client, CLOUD_LOAD_BALANCERS, `races/${name}`, uid),
      ]);
      const left = await find(name);
      if (finalizer.status === 'rejected' && left === undefined) continue;
      expect(left?.metadata.finalizers).toEqual([CLEANUP_FINALIZER]);
      expect(left?.metadata.deletionTimestamp).toBeDefined();
    }
  });

  test('that is gone takes no finalizer: nothing may be made for it', async () => {
    const object = await create('gone');
    await deleteObject(loops.client, CLOUD_LOAD_BALANCERS, 'races/gone', object.metadata.uid);
    await expect(writer.addFinalizer(object)).rejects.toMatchObject({ code: 'Conflict' });
  });

  test('is left alone when it is another one of that name', async () => {
    const { metadata } = await create('again');
    await deleteObject(loops.client, CLOUD_LOAD_BALANCERS, 'races/again', 'another-uid');
    expect((await find('again'))?.metadata.uid).toBe(metadata.uid);
  });
});
