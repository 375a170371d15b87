import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene, serviceOf } from '../operator/scene';

let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start({ provider: { driftInterval: '1s', driftPolicy: 'Report' } });
  scene = new Scene(cluster);
  await cluster.apply(serviceOf('web'));
  await scene.published('web');
}, OPERATOR_CLUSTER_START_MS);

afterAll(() => cluster?.stop());

test('with driftPolicy: Report, what was changed is shown property by property and left; with Heal it is brought back', async () => {
  const before = await scene.inCloud('web');
  await scene.settled();
  await cluster.cloud.resetCalls();
  await cluster.cloud.drift({ kind: 'patch', collection: 'loadbalancers', id: before.id, fields: { sourceRanges: ['10.9.0.0/16'] } });
  const drifted = await scene.condition('web', 'Drifted', 'CloudChanged');
  expect(drifted.message).toMatch(/^1 difference between the cloud and what is wanted: kubectl get cloudstack lb-default-web-/);
  const { status } = await scene.stackOf('web');
  expect(status?.drift).toEqual([
    expect.objectContaining({ kind: 'Changed', property: 'sourceRanges[0]', old: 'null', new: '"10.9.0.0/16"' }),
  ]);
  expect(status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual(['Ready=True', 'Drifted=True']);
  expect((await scene.loadBalancer('web'))?.status?.conditions?.map(({ type, status: is }) => `${type}=${is}`)).toEqual([
    'Ready=True',
    'Drifted=True',
  ]);

  await cluster.killOperator();
  await cluster.startOperator();
  await scene.settled(3_000);
  expect((await scene.inCloud('web')).sourceRanges).toEqual(['10.9.0.0/16']);
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await scene.condition('web', 'Drifted', 'CloudChanged');

  await cluster.kubectl(['patch', 'cloudprovider', 'local', '--type', 'merge', '-p', '{"spec":{"driftPolicy":"Heal"}}']);
  await scene.until('the cloud to be brought back', async () => (await scene.inCloud('web')).sourceRanges.length === 0);
  await scene.until('nothing to be said of it any more', async () => {
    const conditions = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
    return conditions.length === 1 && conditions[0]?.status === 'True' && (await scene.stackOf('web')).status?.drift === undefined;
  });
});
