import type { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto } from '../../harness/moto';
import { type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, withAwsScene } from './operator-scene';

const TYPE = 'service.beta.kubernetes.io/aws-load-balancer-type';
const AWAITS = 'AwaitingApproval';

describeWithMoto('R-22: a Service whose type of load balancer changes', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;

  withAwsScene((made) => {
    aws = made;
    ({ account, model, scene } = made);
  });

  const annotate = (annotation: string): Promise<string> => aws.cluster.kubectl(['annotate', 'service', 'web', '--overwrite', annotation]);

  test.each([
    ['classic', 'nlb'],
    ['nlb', 'classic'],
  ])(
    'from %s to %s: one load balancer, which serves and follows the Nodes, until the other is approved',
    async (before, after) => {
      await aws.cluster.apply(serviceOf('web', { annotations: { [TYPE]: before } }));
      await scene.ready('web', { timeoutMs: 60_000 });
      const host = await aws.hostname('web');
      model.calls.length = 0;
      await annotate(`${TYPE}=${after}`);
      const ready = await scene.until(`condition Ready of the Service with the reason ${AWAITS}`, async () => {
        const conditions = (await scene.service('web'))?.status?.conditions ?? [];
        return conditions.find(({ type, reason }) => type === 'cloud-operator.dev/Ready' && reason === AWAITS);
      });
      expect(ready.message).toContain('spec.aws.type');
      expect(model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
      expect(await aws.hostname('web')).toBe(host);
      const node = await aws.addNode();
      await scene.initialized(node.name);
      await scene.until('the new Node behind what serves', async () => (await targets()).includes(node.id));

      model.calls.length = 0;
      await annotate(`${TYPE}=${before}`);
      await scene.ready('web', { timeoutMs: 60_000 });
      expect(model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
      expect([...(await account.loadBalancers()), ...(await account.classicLoadBalancers())].map(({ DNSName }) => DNSName)).toEqual([host]);

      await scene.deleteServices('web');
      expect(await account.classicLoadBalancers()).toEqual([]);
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
      expect(await account.rulesOf(aws.nodes)).toBe(0);
    },
    180_000,
  );

  async function targets(): Promise<string[]> {
    const [classic] = await account.classicLoadBalancers();
    const [network] = await account.loadBalancers();
    const behind = network === undefined ? {} : await account.targetsOf(network.LoadBalancerArn ?? '');
    return [...Object.values(behind).flat(), ...(classic?.Instances ?? []).map(({ InstanceId = '' }) => InstanceId)];
  }
});
