import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { SECRETS, type Service } from '../../../operator/kube/object';
import { describeWithMoto } from '../../harness/moto';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, serviceOf } from '../operator/scene';
import { type AwsOperatorScene, NETWORK, withAwsScene } from './operator-scene';

const SLOW_MS = 60_000;
jest.setTimeout(180_000);

describeWithMoto('AWS: state that was lost', () => {
  let aws: AwsOperatorScene;
  let cluster: OperatorCluster;
  let scene: Scene;
  let secret: string;

  withAwsScene(async (made) => {
    aws = made;
    ({ cluster, scene } = made);
    await cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type', 'merge', '-p', '{"spec":{"retireAfter":"4s"}}']);
    await cluster.apply(serviceOf('web', { annotations: NETWORK }));
    await scene.ready('web', { timeoutMs: SLOW_MS });
    secret = await scene.stateSecretOf('web');
    await scene.settled();
  });

  const balancers = (): Promise<LoadBalancer[]> => aws.account.loadBalancers();
  const ids = async (): Promise<(string | undefined)[]> => (await balancers()).map(({ LoadBalancerArn }) => LoadBalancerArn);
  const patch = (spec: object): Promise<string> =>
    cluster.kubectl(['patch', 'clb', 'web', '--type', 'merge', '-p', JSON.stringify({ spec })]);

  /** The newest generation alone, under this number. */
  async function standsAlone(generation: number, timeoutMs: number): Promise<void> {
    await scene.until(
      `generation ${generation} alone`,
      async () => (await balancers()).map(({ LoadBalancerName = '' }) => LoadBalancerName.endsWith(`-g${generation}`)).join() === 'true',
      timeoutMs,
    );
    await scene.ready('web', { timeoutMs });
    await scene.settled();
  }

  /** Loses the state, and waits until it is there again: nothing was written to AWS meanwhile, and the same load balancer serves. */
  async function expectTakenUp(): Promise<void> {
    const [before, address] = [await ids(), await aws.hostname('web')];
    await cluster.kube.remove(SECRETS, secret);
    aws.model.calls.length = 0;
    await scene.askFor('web');
    await scene.until(
      'the state to be there again',
      async () => {
        const found = await cluster.kube.get(SECRETS, secret);
        if (found === undefined) throw new Error(JSON.stringify((await scene.loadBalancer('web'))?.status?.conditions));
        return found;
      },
      SLOW_MS,
    );
    await scene.ready('web', { timeoutMs: SLOW_MS });
    await scene.settled();
    expect(aws.model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
    expect(await ids()).toEqual(before);
    expect(await aws.hostname('web')).toBe(address);
  }

  test('is rebuilt from AWS, without a write to it', expectTakenUp);

  test('of a load balancer that was replaced: the generation that serves is taken up again', async () => {
    await patch({ updatePolicy: { replace: 'Allow' }, scheme: 'Internal' });
    await standsAlone(1, SLOW_MS);
    await expectTakenUp();
  });

  test('and whose spec has changed meanwhile: the new load balancer is made beside the one that serves', async () => {
    const [before] = await ids();
    await cluster.stopOperator();
    await cluster.kube.remove(SECRETS, secret);
    await patch({ scheme: 'Public' });
    await cluster.startOperator();
    const both = await scene.until(
      'two load balancers',
      async () => {
        const found = await balancers();
        return found.length === 2 && found;
      },
      SLOW_MS,
    );
    expect(both.map(({ LoadBalancerArn }) => LoadBalancerArn)).toContain(before);
    expect(both.map(({ Scheme }) => Scheme).sort()).toEqual(['internal', 'internet-facing']);
    await standsAlone(2, SLOW_MS);
    expect(await ids()).not.toContain(before);
  });

  test('of a Classic one, whose plan waits: its host name stays, and its Nodes are kept', async () => {
    await cluster.apply(serviceOf('old'));
    await scene.ready('old', { timeoutMs: SLOW_MS });
    const address = await aws.hostname('old');
    const lost = await scene.stateSecretOf('old');
    await scene.settled();
    await cluster.stopOperator();
    await cluster.kube.remove(SECRETS, lost);
    await cluster.kubectl(['patch', 'clb', 'old', '--type', 'merge', '-p', '{"spec":{"scheme":"Internal"}}']);
    const services = await scene.history<Service>('Service', 'default/old');
    await cluster.startOperator();
    await scene.condition('old', 'Reconciling', 'AwaitingApproval');
    const { id } = await aws.addNode();
    const members = async (): Promise<(string | undefined)[]> =>
      (await aws.account.classicLoadBalancers()).flatMap(({ Instances = [] }) => Instances.map(({ InstanceId }) => InstanceId));
    await scene.until('the new Node to be a member', async () => (await members()).includes(id), SLOW_MS);
    const names = (await services.stop()).map(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname);
    expect([...new Set([...names, await aws.hostname('old')])]).toEqual([address]);
    expect(await cluster.kube.get(SECRETS, lost)).toBeUndefined();
    await scene.deleteServices('old');
  });

  test('a deletion after that removes what is there; the backend group, which is no stack’s own, is told by a sweep', async () => {
    // What comes of the Node before would make the state anew.
    await scene.settled();
    await cluster.kube.remove(SECRETS, secret);
    await scene.deleteServices('web');
    expect(await aws.account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 1 });
    await cluster.kubectl(['annotate', 'cloudprovider', 'aws', 'cloud-operator.dev/sweep=now']);
    await scene.until('the leftover', async () => (await scene.provider('aws'))?.status?.sweep?.leftovers === 1, SLOW_MS);
  });
});
