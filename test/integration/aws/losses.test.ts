import { isDeepStrictEqual } from 'node:util';
import { CLOUD_LOAD_BALANCERS } from '../../../crds';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import { SERVICES, type KubeObject } from '../../../operator/kube/object';
import type { AwsModel } from '../../harness/aws-model/aws-model';
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
/** Two that differ in about everything, and the writes that a change from one to the other takes, there and back. */
const CHANGES = [
  {
    annotations: {
      [`${PREFIX}attributes`]: 'load_balancing.cross_zone.enabled=true',
      [`${PREFIX}target-group-attributes`]: 'deregistration_delay.timeout_seconds=20',
      [`${PREFIX}listener-attributes.TCP-80`]: 'tcp.idle_timeout.seconds=400',
      [`${PREFIX}healthcheck-interval`]: '10',
      [`${PREFIX}additional-resource-tags`]: 'team=red',
    },
    port: 443,
  },
  {
    annotations: {
      [`${PREFIX}attributes`]: 'load_balancing.cross_zone.enabled=false',
      [`${PREFIX}target-group-attributes`]: 'deregistration_delay.timeout_seconds=40',
      [`${PREFIX}listener-attributes.TCP-80`]: 'tcp.idle_timeout.seconds=500',
      [`${PREFIX}healthcheck-interval`]: '15',
      [`${PREFIX}additional-resource-tags`]: 'team=blue',
    },
    port: 444,
  },
];
const DELETES = /^(Delete|Deregister|Revoke)/;
const CHANGE = [
  'AddTags',
  'CreateTags',
  'ModifyTargetGroup',
  'ModifyTargetGroupAttributes',
  'ModifyLoadBalancerAttributes',
  'ModifyListenerAttributes',
  'CreateTargetGroup',
  'CreateListener',
  'AuthorizeSecurityGroupIngress',
] as const;

/** What goes with one of the two. */
const CHANGE_DELETES = ['DeleteListener', 'DeleteTargetGroup', 'RevokeSecurityGroupIngress'] as const;
/** Writes that a deletion takes, in their order, and what is there by then. */
const DELETE: Readonly<Record<string, readonly Lost[]>> = {
  DeleteLoadBalancer: ALL,
  DeleteTargetGroup: ['targetGroups', 'securityGroups'],
  RevokeSecurityGroupIngress: ['securityGroups'],
  DeleteSecurityGroup: ['securityGroups'],
};

describeWithMoto('What somebody deletes by hand while an update runs', () => {
  let aws: AwsOperatorScene;
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

  withAwsScene(
    (made) => {
      aws = made;
      ({ account, model, scene } = made);
    },
    [lossy],
  );
  /** It is whole: one of each, with Nodes behind it, and nothing beside. */
  async function expectWhole(name: string, ...ports: number[]): Promise<void> {
    const served = async (): Promise<boolean> => {
      const [balancer] = await account.loadBalancers();
      const targets = await account.targetsOf(balancer?.LoadBalancerArn ?? '');
      return isDeepStrictEqual(Object.keys(targets).map(Number), ports) && Object.values(targets).every((ids) => ids.length > 0);
    };
    await scene.until('Nodes behind each port', served, 60_000);
    await scene.ready(name, { timeoutMs: 60_000 });
    const [balancer, ...others] = await account.loadBalancers();
    expect(others).toEqual([]);
    expect(balancer?.SecurityGroups).toHaveLength(2);
    expect(await served()).toBe(true);
    expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: ports.length });
  }

  async function expectNothingLeft(name: string): Promise<void> {
    await scene.deleteServices(name);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }

  const nameOf = (...words: string[]): string => words.join('-').toLowerCase().slice(0, 55);
  /** Deletes something while it is done, and waits until that is asked for. */
  async function losing(what: Lost, before: string, work: Promise<void>): Promise<void> {
    loses = { what, before };
    await work;
    const isAsked = async (): Promise<boolean> => {
      if (loses === undefined) return true;
      const all = await scene.list<StoredLoadBalancer>(CLOUD_LOAD_BALANCERS);
      throw new Error(JSON.stringify(all.map(({ metadata, status }) => [metadata.generation, status])));
    };
    await scene.until(`${before} to be asked for`, isAsked, 60_000);
  }
  /** Writes since the calls were last forgotten. */
  const writes = (): string[] => actions().filter((action) => !DELETES.test(action));
  const deletes = (): string[] => actions().filter((action) => DELETES.test(action));
  const actions = (): string[] => [...new Set(model.calls.map(({ action }) => action))].filter((one) => !one.startsWith('Describe')).sort();

  describe('of a new load balancer', () => {
    const make = (name: string): Promise<void> => aws.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...SETTINGS } }));

    afterEach(async () => {
      const left = (await scene.list<KubeObject>(SERVICES)).map(({ metadata }) => metadata.name).filter((name) => name !== 'kubernetes');
      if (left.length > 0) await scene.deleteServices(...left);
    }, 60_000);

    test.each(Object.entries(CREATE).flatMap(([before, all]) => all.map((what) => [what, before] as const)))(
      '%s just before %s',
      async (what, before) => {
        const name = nameOf('new', what, before);
        await losing(what, before, make(name));
        await expectWhole(name, 80);
        await expectNothingLeft(name);
      },
      150_000,
    );

    test('those are all the writes', async () => {
      model.calls.length = 0;
      await make('all');
      await expectWhole('all', 80);
      expect(writes()).toEqual(['CreateSecurityGroup', 'CreateTargetGroup', ...Object.keys(CREATE)].sort());
    }, 60_000);
  });

  describe('of one that is deleted', () => {
    const remove = async (name: string): Promise<void> => {
      await aws.cluster.kubectl(['delete', 'service', '--wait=false', name]);
    };
    async function expectGone(name: string): Promise<void> {
      await scene.gone(`Service default/${name}`, () => scene.service(name), 90_000);
      await scene.gone(`CloudLoadBalancer default/${name}`, () => scene.loadBalancer(name), 90_000);
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
      expect(await account.rulesOf(aws.nodes)).toBe(0);
    }
    async function made(name: string): Promise<void> {
      await aws.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...SETTINGS } }));
      await expectWhole(name, 80);
    }

    test.each(Object.entries(DELETE).flatMap(([before, all]) => all.map((what) => [what, before] as const)))(
      '%s just before %s',
      async (what, before) => {
        const name = nameOf('gone', what, before);
        await made(name);
        await losing(what, before, remove(name));
        await expectGone(name);
      },
      150_000,
    );

    test('those are all the writes that take something away', async () => {
      await made('none');
      model.calls.length = 0;
      await remove('none');
      await expectGone('none');
      expect(deletes()).toEqual(Object.keys(DELETE).sort());
    }, 120_000);
  });

  describe('of one that is changed', () => {
    let turn = 0;
    const asked = (): (typeof CHANGES)[number] => CHANGES[turn % 2]!;
    const apply = (): Promise<void> => {
      const { annotations, port } = asked();
      const ports = [
        { name: 'http', port: 80 },
        { name: 'https', port },
      ];
      return aws.cluster.apply(serviceOf('old', { annotations: { ...NETWORK, ...annotations }, ports }));
    };
    /** To the other of the two. */
    const change = (): Promise<void> => {
      turn++;
      return apply();
    };
    const expectChanged = (): Promise<void> => expectWhole('old', 80, asked().port);

    beforeAll(async () => {
      await apply();
      await expectChanged();
    }, 60_000);
    afterAll(() => expectNothingLeft('old'), 60_000);

    test('these are all the writes', async () => {
      model.calls.length = 0;
      await change();
      await expectChanged();
      expect(writes()).toEqual(['RegisterTargets', ...CHANGE].sort());
      expect(deletes()).toEqual([...CHANGE_DELETES]);
    }, 60_000);

    /** Of listeners, that one may be gone whose own change was over already, which no call of the update meets: the next look for drift does. */
    async function lookAgain(): Promise<void> {
      await scene.ready('old', { timeoutMs: 60_000 });
      await scene.askFor('old');
    }

    test.each([...CHANGE, ...CHANGE_DELETES].flatMap((before) => ALL.map((what) => [what, before] as const)))(
      '%s just before %s',
      async (what, before) => {
        await losing(what, before, change());
        if (what === 'listeners' || DELETES.test(before)) await lookAgain();
        await expectChanged();
      },
      150_000,
    );
  });
});
