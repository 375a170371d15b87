import { SECRETS } from '../../../operator/kube/object';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { NONE, type Scene, serviceOf, withScene } from './scene';

const NAMESPACE = 'cloud-operator-system';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

async function secretOf(name: string): Promise<string> {
  return `${NAMESPACE}/stack-${(await scene.stackOf(name)).metadata.name}`;
}

/** Asks for a pass over a load balancer. */
async function askFor(name: string): Promise<void> {
  await cluster.kubectl(['annotate', 'cloudloadbalancer', name, '--overwrite', `cloud-operator.dev/reconcile=${performance.now()}`]);
}

async function writes(): Promise<number> {
  return (await cluster.operatorCalls()).writes;
}

test('state that was lost is rebuilt from the cloud, without a write to it', async () => {
  const spec = { loadBalancerSourceRanges: ['10.1.0.0/16'] };
  await cluster.apply(
    serviceOf('lost', {
      spec,
      ports: [
        { name: 'http', port: 80 },
        { name: 'dns', port: 53, protocol: 'UDP' },
      ],
    }),
  );
  const address = await scene.published('lost');
  const secret = await secretOf('lost');
  await scene.settled();
  const { id } = await scene.inCloud('lost');
  await cluster.kube.remove(SECRETS, secret);
  await cluster.cloud.resetCalls();
  await askFor('lost');
  await scene.until('the state to be there again', () => cluster.kube.get(SECRETS, secret));
  await scene.ready('lost');
  await scene.settled();
  expect(await writes()).toBe(0);
  expect((await scene.inCloud('lost')).id).toBe(id);
  expect(await scene.published('lost')).toBe(address);
  expect(await scene.counts('lost')).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });
});

test('a deletion after the state was lost removes what is there', async () => {
  await cluster.kube.remove(SECRETS, await secretOf('lost'));
  await scene.deleteServices('lost');
  expect(await scene.counts('lost')).toEqual(NONE);
});

test('damaged state: one clear condition, nothing is touched, and the remedy helps', async () => {
  await cluster.apply(serviceOf('damaged'));
  const address = await scene.published('damaged');
  const secret = await secretOf('damaged');
  await scene.settled();
  await cluster.kube.patch(SECRETS, secret, 'merge', { data: { 'record.json.gz': Buffer.from('nonsense').toString('base64') } });
  const version = (await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion;
  await cluster.cloud.resetCalls();
  await askFor('damaged');
  const { message } = await scene.condition('damaged', 'Stalled', 'StateDamaged');
  expect(message).toMatch(/^State Secret|^state Secret/);
  expect(message).toContain('restore it from a backup, or delete it to have the stack rebuilt');
  expect([await writes(), (await cluster.kube.get(SECRETS, secret))?.metadata.resourceVersion]).toEqual([0, version]);
  expect((await scene.service('damaged'))?.status?.loadBalancer?.ingress?.[0]?.ip).toBe(address);
  await cluster.kube.remove(SECRETS, secret);
  await askFor('damaged');
  await scene.ready('damaged');
  expect(await scene.counts('damaged')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  expect(await scene.published('damaged')).toBe(address);
});
