import { SERVICES, type KubeObject } from '../../../operator/kube/object';
import type { MotoState, Rule } from '../../harness/aws-model/rule';
import { describeWithMoto } from '../../harness/moto';
import { type Scene, serviceOf } from '../operator/scene';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, deleteOurGroups, NETWORK, withAwsScene } from './operator-scene';

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
    await deleteOurGroups(moto);
  },
};
type Lost = keyof typeof LOSSES;
const ALL = Object.keys(LOSSES) as Lost[];

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
/** Writes that a new load balancer takes, in their order, and what is there by then. */
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

describeWithMoto('What somebody deletes by hand while an update runs', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
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

  withAwsScene(
    (made) => {
      aws = made;
      ({ account, scene } = made);
    },
    [lossy],
  );
  afterEach(async () => {
    const left = (await scene.list<KubeObject>(SERVICES)).map(({ metadata }) => metadata.name).filter((name) => name !== 'kubernetes');
    if (left.length > 0) await scene.deleteServices(...left);
  }, 60_000);

  /** It is whole: one of each, with Nodes behind it, and nothing beside. */
  async function expectWhole(name: string): Promise<void> {
    await scene.ready(name, { timeoutMs: 60_000 });
    const [balancer, ...others] = await account.loadBalancers();
    expect(others).toEqual([]);
    expect(balancer?.SecurityGroups).toHaveLength(2);
    await scene.until('Nodes behind it', async () => {
      const targets = Object.values(await account.targetsOf(balancer?.LoadBalancerArn ?? ''));
      return targets.length === 1 && targets.every((ids) => ids.length > 0);
    });
    expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: 1 });
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
      await aws.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...SETTINGS } }));
      await scene.until(`${before} to be asked for`, () => Promise.resolve(loses === undefined), 30_000);
      await expectWhole(name);
      await expectNothingLeft(name);
    },
    150_000,
  );
});
