import { SERVICES, type KubeObject } from '../../../operator/kube/object';
import type { MotoState, Rule } from '../../harness/aws-model/rule';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { AwsOperatorScene, NETWORK } from './operator-scene';

/** What somebody deletes by hand, of all that there is; what AWS keeps while something else uses it goes after that. */
const LOSSES = {
  async listeners({ elb }: MotoState): Promise<void> {
    const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
    for (const { LoadBalancerArn } of LoadBalancers) {
      const { Listeners = [] } = await elb.describeListeners({ LoadBalancerArn });
      for (const { ListenerArn } of Listeners) await elb.deleteListener({ ListenerArn });
    }
  },
  async targetGroups(moto: MotoState): Promise<void> {
    await LOSSES.listeners(moto);
    const { TargetGroups = [] } = await moto.elb.describeTargetGroups({});
    for (const { TargetGroupArn } of TargetGroups) await moto.elb.deleteTargetGroup({ TargetGroupArn });
  },
  async loadBalancers({ elb }: MotoState): Promise<void> {
    const { LoadBalancers = [] } = await elb.describeLoadBalancers({});
    for (const { LoadBalancerArn } of LoadBalancers) await elb.deleteLoadBalancer({ LoadBalancerArn });
  },
  async securityGroups(moto: MotoState): Promise<void> {
    await LOSSES.loadBalancers(moto);
    const { SecurityGroups = [] } = await moto.ec2.describeSecurityGroups({});
    const ours = SecurityGroups.filter(({ GroupName = '' }) => GroupName.startsWith('k8s-'));
    for (const { GroupId } of ours) await moto.ec2.deleteSecurityGroup({ GroupId });
  },
};
type Lost = keyof typeof LOSSES;
const ALL = Object.keys(LOSSES) as Lost[];

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
/** Each write that a new load balancer takes, in their order, and what is there by then. */
const CREATE: Readonly<Record<string, readonly Lost[]>> = {
  AuthorizeSecurityGroupIngress: ['securityGroups'],
  ModifyTargetGroupAttributes: ['targetGroups'],
  RegisterTargets: ['targetGroups'],
  CreateLoadBalancer: ['securityGroups', 'targetGroups'],
  ModifyLoadBalancerAttributes: ['loadBalancers', 'securityGroups', 'targetGroups'],
  CreateListener: ['loadBalancers', 'securityGroups', 'targetGroups'],
  ModifyListenerAttributes: ALL,
};
const SETTINGS = {
  [`${PREFIX}attributes`]: 'load_balancing.cross_zone.enabled=true',
  [`${PREFIX}target-group-attributes`]: 'deregistration_delay.timeout_seconds=20',
  [`${PREFIX}listener-attributes.TCP-80`]: 'tcp.idle_timeout.seconds=400',
};
/** A change of about everything, and each write that it takes. */
const CHANGED = {
  [`${PREFIX}attributes`]: 'load_balancing.cross_zone.enabled=false',
  [`${PREFIX}target-group-attributes`]: 'deregistration_delay.timeout_seconds=40',
  [`${PREFIX}listener-attributes.TCP-80`]: 'tcp.idle_timeout.seconds=500',
  [`${PREFIX}healthcheck-interval`]: '15',
  [`${PREFIX}additional-resource-tags`]: 'team=blue',
};
const CHANGE = [
  'AddTags',
  'ModifyTargetGroup',
  'ModifyTargetGroupAttributes',
  'ModifyLoadBalancerAttributes',
  'ModifyListenerAttributes',
  'CreateTargetGroup',
  'CreateListener',
  'AuthorizeSecurityGroupIngress',
] as const;

describeWithMoto('What somebody deletes by hand while an update runs', () => {
  let aws: AwsOperatorScene | undefined;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;
  let loses: { what: Lost; before: string } | undefined;
  const lossy: Rule = {
    async before({ action }, moto) {
      if (action !== loses?.before) return undefined;
      const { what } = loses;
      loses = undefined;
      await LOSSES[what](moto);
      return undefined;
    },
  };

  beforeAll(async () => {
    aws = await AwsOperatorScene.start([lossy]);
    ({ account, model, scene } = aws);
    await scene.initialized((await aws.addNode()).name);
  }, OPERATOR_CLUSTER_START_MS);
  afterEach(async () => {
    const left = (await scene.list<KubeObject>(SERVICES)).map(({ metadata }) => metadata.name).filter((name) => name !== 'kubernetes');
    if (left.length > 0) await scene.deleteServices(...left);
  }, 60_000);
  afterAll(() => aws?.stop());

  const listeners = (count: number): { name: string; port: number }[] =>
    ['http', 'https'].slice(0, count).map((name, at) => ({ name, port: at === 0 ? 80 : 443 }));

  /** It is whole: one of each, with Nodes behind it, and nothing beside. */
  async function expectWhole(name: string, ports: number): Promise<void> {
    await scene.ready(name, { timeoutMs: 60_000 });
    const [balancer, ...others] = await account.loadBalancers();
    expect(others).toEqual([]);
    expect(balancer?.SecurityGroups).toHaveLength(2);
    await scene.until('Nodes behind each port', async () => {
      const targets = Object.values(await account.targetsOf(balancer?.LoadBalancerArn ?? ''));
      return targets.length === ports && targets.every((ids) => ids.length > 0);
    });
    expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: ports });
  }

  async function expectNothingLeft(name: string): Promise<void> {
    await scene.deleteServices(name);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }

  const nameOf = (...words: string[]): string => words.join('-').toLowerCase().slice(0, 55);

  test.each(Object.entries(CREATE).flatMap(([before, all]) => all.map((what) => [what, before] as const)))(
    'of a new load balancer: %s just before %s',
    async (what, before) => {
      const name = nameOf('new', what, before);
      loses = { what, before };
      await aws!.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...SETTINGS }, ports: listeners(1) }));
      await scene.until(`${before} to be asked for`, () => Promise.resolve(loses === undefined), 30_000);
      await expectWhole(name, 1);
      await expectNothingLeft(name);
    },
    150_000,
  );

  test.each(CHANGE.flatMap((before) => ALL.map((what) => [what, before] as const)))(
    'of one that is changed: %s just before %s',
    async (what, before) => {
      const name = nameOf('old', what, before);
      await aws!.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...SETTINGS }, ports: listeners(1) }));
      await expectWhole(name, 1);
      loses = { what, before };
      await aws!.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...CHANGED }, ports: listeners(2) }));
      await scene.until(`${before} to be asked for`, () => Promise.resolve(loses === undefined), 30_000);
      await expectWhole(name, 2);
      await expectNothingLeft(name);
    },
    150_000,
  );

  test('the writes above are all that there are', async () => {
    const writes = (): string[] =>
      [...new Set(model.calls.map(({ action }) => action))].filter((action) => !/^(Describe|Delete)/.test(action));
    model.calls.length = 0;
    await aws!.cluster.apply(serviceOf('all', { annotations: { ...NETWORK, ...SETTINGS }, ports: listeners(1) }));
    await expectWhole('all', 1);
    const first = ['CreateSecurityGroup', 'CreateTargetGroup'];
    expect(
      writes()
        .filter((action) => !first.includes(action))
        .sort(),
    ).toEqual(Object.keys(CREATE).sort());
    model.calls.length = 0;
    await aws!.cluster.apply(serviceOf('all', { annotations: { ...NETWORK, ...CHANGED }, ports: listeners(2) }));
    await expectWhole('all', 2);
    expect(writes().sort()).toEqual([...CHANGE].sort());
    await expectNothingLeft('all');
  }, 60_000);
});
