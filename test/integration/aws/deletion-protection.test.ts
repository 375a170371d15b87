import type { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto } from '../../harness/moto';
import { type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, NETWORK, withAwsScene } from './operator-scene';

describeWithMoto('A load balancer with deletion protection', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;

  withAwsScene((made) => {
    aws = made;
    ({ account, model, scene } = made);
  });

  test('R-28: is kept whole and follows the Nodes while its deletion is refused, and goes once that is turned off', async () => {
    const attributes = { 'service.beta.kubernetes.io/aws-load-balancer-attributes': 'deletion_protection.enabled=true' };
    await aws.cluster.apply(serviceOf('edge', { annotations: { ...NETWORK, ...attributes } }));
    await scene.ready('edge', { timeoutMs: 60_000 });
    const [balancer] = await account.loadBalancers();
    const arn = balancer?.LoadBalancerArn ?? '';
    model.calls.length = 0;
    await aws.cluster.kubectl(['delete', 'service', '--wait=false', 'edge']);
    const ready = await scene.until('the protection to be told on the Service', async () => {
      const conditions = (await scene.service('edge'))?.status?.conditions ?? [];
      return conditions.find(({ message = '' }) => message.includes('deletion protection is on'));
    });
    expect(ready.message).toContain('aws elbv2 modify-load-balancer-attributes');
    const ofObject = (await scene.loadBalancer('edge'))?.status?.conditions ?? [];
    expect(ofObject.find(({ type }) => type === 'Ready')?.message).toMatch(/deletion protection is on.*Next try at/);
    expect((await scene.service('edge'))?.metadata.finalizers).toContain('service.kubernetes.io/load-balancer-cleanup');

    const node = await aws.addNode();
    await scene.initialized(node.name);
    await scene.until('the new Node behind it', async () => (await account.targetsOf(arn))[80]?.includes(node.id), 60_000);
    await scene.until(
      'another try',
      () => Promise.resolve(model.calls.filter(({ action }) => action === 'DeleteLoadBalancer').length > 1),
      60_000,
    );
    expect(model.calls.filter(({ verb, status }) => verb === 'delete' && status === 200)).toEqual([]);

    await account.unprotect(arn);
    // Within the next try, which comes after 30 s at the latest.
    await scene.gone('Service default/edge', () => scene.service('edge'), 60_000);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 240_000);
});
