import { startTestCluster, CLUSTER_START_MS, type TestCluster } from '../../harness/cluster';

describe('a control plane', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
  }, CLUSTER_START_MS);
  afterAll(() => cluster.stop());

  it('answers kubectl', async () => {
    expect(await cluster.kubectl(['get', 'namespaces', '-o', 'name'])).toContain('namespace/kube-system');
  });
});
