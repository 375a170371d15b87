import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS } from '../../../crds';
import type { Service } from '../../../operator/kube/object';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto } from '../../harness/moto';
import { type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, withAwsScene } from './operator-scene';

const TYPE = 'service.beta.kubernetes.io/aws-load-balancer-type';
const AWAITS = 'AwaitingApproval';

describeWithMoto('A Service whose type of load balancer changes', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;

  withAwsScene(async (made) => {
    aws = made;
    ({ account, model, scene } = made);
    await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { retireAfter: '4s' } });
  });

  const annotate = (annotation: string): Promise<string> => aws.cluster.kubectl(['annotate', 'service', 'web', '--overwrite', annotation]);

  test.each([
    ['classic', 'nlb'],
    ['nlb', 'classic'],
  ])(
    'R-22: from %s to %s: one load balancer, which serves and follows the Nodes, until the other is approved; that serves before the first goes',
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
      const kinds = [before, after].map((kind) => (kind === 'nlb' ? 'Network' : 'Classic'));
      const why = `the change of spec.aws.type (annotation ${TYPE}) from ${kinds.join(' to ')} replaces the load balancer`;
      expect(ready.message).toContain(why);
      expect(ready.message).toContain('To approve it: kubectl annotate cloudloadbalancer -n default web');
      await scene.until('an Event that says so', async () => {
        const told = (await scene.events('CloudLoadBalancer', 'web')).filter(({ reason }) => reason === AWAITS);
        return told.at(-1)?.message.includes(why);
      });
      await scene.until('the failure to be told on the Service', async () => {
        const told = (await scene.events('Service', 'web')).filter(({ reason }) => reason === 'SyncLoadBalancerFailed');
        return told.at(-1)?.message.includes(why);
      });
      expect(model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
      expect(await aws.hostname('web')).toBe(host);
      const node = await aws.addNode();
      await scene.initialized(node.name);
      await scene.until('the new Node behind what serves', async () => (await targets(before)).includes(node.id));

      model.calls.length = 0;
      await annotate(`${TYPE}=${before}`);
      await scene.ready('web', { timeoutMs: 60_000 });
      expect(model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
      expect([...(await account.loadBalancers()), ...(await account.classicLoadBalancers())].map(({ DNSName }) => DNSName)).toEqual([host]);

      await aws.cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/web', 'merge', { spec: { updatePolicy: { replace: 'Allow' } } });
      await scene.ready('web');
      const services = await scene.history<Service>('Service', 'default/web');
      await annotate(`${TYPE}=${after}`);
      const next = await scene.until(
        'the host name of the other',
        async () => {
          const [one] = await names(after);
          return (await hostname()) === one && one;
        },
        60_000,
      );
      expect(await names(before)).toEqual([host]);
      expect(await targets(after)).toContain(node.id);
      await scene.until('the first one to be gone', async () => (await names(before)).length === 0, 60_000);
      await scene.ready('web');
      await scene.settled();
      const told = (await services.stop()).map(({ status }) => status?.loadBalancer?.ingress?.[0]?.hostname);
      expect(told.filter((name, at) => name !== told[at - 1])).toEqual([...(told[0] === host ? [host] : []), next]);
      expect(await names(after)).toEqual([next]);
      expect(await account.content()).toMatchObject(
        after === 'nlb' ? { loadBalancers: 1, targetGroups: 1 } : { loadBalancers: 0, targetGroups: 0 },
      );

      await scene.deleteServices('web');
      expect(await account.classicLoadBalancers()).toEqual([]);
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
      expect(await account.rulesOf(aws.nodes)).toBe(0);
    },
    180_000,
  );

  /** Of those of one kind. */
  async function names(kind: string): Promise<(string | undefined)[]> {
    const all = kind === 'nlb' ? await account.loadBalancers() : await account.classicLoadBalancers();
    return all.map(({ DNSName }) => DNSName);
  }

  async function hostname(): Promise<string | undefined> {
    return (await scene.service('web'))?.status?.loadBalancer?.ingress?.[0]?.hostname;
  }

  /** Instances behind what there is of one kind. */
  async function targets(kind: string): Promise<string[]> {
    if (kind !== 'nlb')
      return (await account.classicLoadBalancers()).flatMap(({ Instances = [] }) => Instances.map(({ InstanceId = '' }) => InstanceId));
    const behind = await Promise.all((await account.loadBalancers()).map(({ LoadBalancerArn = '' }) => account.targetsOf(LoadBalancerArn)));
    return behind.flatMap((ports) => Object.values(ports).flat());
  }
});
