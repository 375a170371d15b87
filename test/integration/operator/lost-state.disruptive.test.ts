import { NODES, SECRETS } from '../../../operator/kube/object';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, NONE, type Scene, serviceOf, withScene } from './scene';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

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
  const secret = await scene.stateSecretOf('lost');
  await scene.settled();
  const { id } = await scene.inCloud('lost');
  await cluster.kube.remove(SECRETS, secret);
  await cluster.cloud.resetCalls();
  await scene.askFor('lost');
  await scene.until('the state to be there again', () => cluster.kube.get(SECRETS, secret));
  await scene.ready('lost');
  await scene.settled();
  expect(await scene.cloudWrites()).toBe(0);
  expect((await scene.inCloud('lost')).id).toBe(id);
  expect(await scene.published('lost')).toBe(address);
  expect(await scene.counts('lost')).toEqual({ addresses: 1, pools: 2, loadbalancers: 1 });
});

test('a deletion after the state was lost removes what is there', async () => {
  await cluster.kube.remove(SECRETS, await scene.stateSecretOf('lost'));
  await scene.deleteServices('lost');
  expect(await scene.counts('lost')).toEqual(NONE);
});

describe('lost state of a load balancer that was replaced', () => {
  let before: Awaited<ReturnType<Scene['inCloud']>>;
  let address: string;
  let secret: string;
  const patch = (kind: string, name: string, spec: object): Promise<string> =>
    cluster.kubectl(['patch', kind, name, '--type', 'merge', '-p', JSON.stringify({ spec })]);

  beforeAll(async () => {
    await patch('cloudprovider', 'local', { retireAfter: '1s' });
    await cluster.apply(serviceOf('again'));
    await scene.published('again');
    await patch('clb', 'again', { updatePolicy: { replace: 'Allow' }, scheme: 'Internal' });
    await scene.until('the second generation alone', async () => {
      return (await scene.counts('again')).loadbalancers === 1 && (await scene.inCloud('again')).name.endsWith('-g1');
    });
    await scene.ready('again');
    await scene.settled();
    before = await scene.inCloud('again');
    address = await scene.published('again');
    secret = await scene.stateSecretOf('again');
  }, 60_000);

  async function isAsBefore(): Promise<void> {
    await scene.settled();
    expect(await scene.cloudWrites()).toBe(0);
    expect(await scene.inCloud('again')).toEqual(before);
    expect(addressOf(await scene.service('again'))).toBe(address);
  }

  test('the generation that serves is taken up again, without a write to the cloud', async () => {
    await cluster.kube.remove(SECRETS, secret);
    await cluster.cloud.resetCalls();
    await scene.askFor('again');
    await scene.until('the state to be there again', () => cluster.kube.get(SECRETS, secret));
    await scene.ready('again');
    await isAsBefore();
    expect(await scene.counts('again')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
  });

  test('a replacement that nobody has approved is not made because of it; targets follow meanwhile', async () => {
    await cluster.stopOperator();
    await cluster.kube.remove(SECRETS, secret);
    await patch('clb', 'again', { updatePolicy: { replace: 'Never' }, scheme: 'Public' });
    await cluster.cloud.resetCalls();
    await cluster.startOperator();
    const { message } = await scene.condition('again', 'Reconciling', 'AwaitingApproval');
    expect(message).toMatch(
      /the change of spec\.scheme from Internal to Public replaces the load balancer, and spec\.updatePolicy\.replace is Never/,
    );
    await isAsBefore();
    expect(await cluster.kube.get(SECRETS, secret)).toBeUndefined();
    await scene.addNode('n2');
    await scene.until('the second Node to be a target', async () => (await scene.targets('again', 'http')).length === 2);
    await patch('clb', 'again', { scheme: 'Internal' });
    await scene.ready('again');
    expect(await scene.inCloud('again')).toMatchObject({ id: before.id, scheme: 'Internal' });
    await cluster.kube.remove(NODES, 'n2');
    await scene.until('one target', async () => (await scene.targets('again', 'http')).length === 1);
  });

  test('one that is allowed takes two updates: the new one serves before the old one goes', async () => {
    await patch('cloudprovider', 'local', { retireAfter: '4s' });
    await cluster.stopOperator();
    await cluster.kube.remove(SECRETS, secret);
    await patch('clb', 'again', { updatePolicy: { replace: 'Allow' }, scheme: 'Public' });
    await cluster.cloud.resetCalls();
    await cluster.startOperator();
    await scene.until('another address', async () => (await scene.published('again')) !== address);
    const both = (await scene.content()).loadbalancers;
    expect(both.map(({ name, scheme }) => `${name.slice(-3)} ${scheme}`).sort()).toEqual(['-g1 Internal', '-g2 Public']);
    expect(both.map(({ id }) => id)).toContain(before.id);
    await scene.until('the second one alone', async () => {
      expect(await scene.counts('again')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
      return true;
    });
    await scene.deleteServices('again');
    expect(await scene.counts('again')).toEqual(NONE);
  });
});
