import { isDeepStrictEqual } from 'node:util';
import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { type Clock, systemClock } from '../../../operator/base/clock';
import { NODES, type Node } from '../../../operator/kube/object';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { refusal } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';
import { elasticAddresses } from '../../harness/aws-model/rules/elastic-addresses';
import { provisioning } from '../../harness/aws-model/rules/provisioning';
import { describeWithMoto } from '../../harness/moto';
import { type Scene, serviceOf } from '../operator/scene';
import { MotoAccount } from './moto-account';
import { type AwsOperatorScene, NETWORK, withAwsScene } from './operator-scene';

const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
/** How long AWS takes to let go of addresses, and to bring a load balancer into service. */
const MINUTES = 120_000;

describeWithMoto('A load balancer that AWS holds up', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let model: AwsModel;
  let scene: Scene;

  /** AWS's time goes on when a test says so. */
  let now = 0;
  const clock: Clock = { ...systemClock, monotonic: () => now };
  /** The region has no room for another load balancer. */
  let full = false;
  const room: Rule = {
    before: ({ service, action }) =>
      full && service === 'elbv2' && action === 'CreateLoadBalancer' ? refusal('TooManyLoadBalancers', 'no room') : undefined,
  };
  const troubled = new Map<string, { code: 'failed' | 'active_impaired'; reason: string }>();

  withAwsScene(
    (made) => {
      aws = made;
      ({ account, model, scene } = made);
    },
    [room, elasticAddresses({ clock, holdMs: MINUTES }), provisioning({ clock, provisioningMs: MINUTES, others: troubled })],
  );

  test('R-28: with deletion protection is kept whole and follows the Nodes while its deletion is refused, and goes once that is turned off', async () => {
    const attributes = { [`${PREFIX}attributes`]: 'deletion_protection.enabled=true' };
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

    const [former] = await scene.list<Node>(NODES);
    const node = await aws.addNode();
    await scene.initialized(node.name);
    await aws.cluster.kubectl(['delete', 'node', former?.metadata.name ?? '']);
    await scene.until(
      'the new Node behind it in place of the one that left',
      async () => {
        return isDeepStrictEqual((await account.targetsOf(arn))[80], [node.id]);
      },
      10_000,
    );
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

  test('R-24: whose group a rule of somebody else’s names: all else goes, the Service stays and says so, and ends soon after that rule', async () => {
    const rules = async (nodeRules: 'PerService' | null): Promise<void> => {
      await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { aws: { nodeRules } } });
      await scene.until('that to be followed', async () => {
        const { metadata, status } = (await scene.provider('aws')) ?? {};
        return metadata !== undefined && status?.observedGeneration === metadata.generation;
      });
    };
    await rules('PerService');
    await aws.cluster.apply(serviceOf('web'));
    await scene.ready('web', { timeoutMs: 60_000 });
    const frontend = await account.groupNamed('k8s-elb-');
    const app = await account.makeGroup('app');
    const takeBack = await account.letIn(frontend, app);
    expect(await account.rulesFrom(frontend, aws.nodes)).not.toEqual([]);
    await aws.cluster.kubectl(['delete', 'service', '--wait=false', 'web']);
    const said = async (reason: string): Promise<string[]> =>
      (await scene.events('Service', 'web')).filter((event) => event.reason === reason).map(({ message = '' }) => message);
    const words = `${frontend} can't be deleted yet, because a rule of security group ${app} (app) names it`;
    await scene.until(
      'the groups to be told',
      async () => (await said('SyncLoadBalancerFailed')).some((message) => message.includes(words)),
      60_000,
    );
    expect(await account.classicLoadBalancers()).toEqual([]);
    expect(await account.rulesFrom(frontend, aws.nodes)).toEqual([]);
    expect(await account.rulesFrom(frontend, app)).toHaveLength(1);
    expect((await scene.service('web'))?.metadata.finalizers).toContain('service.kubernetes.io/load-balancer-cleanup');
    const tries = await nextTries('web', 3);
    const waits = tries.slice(1).map((at, index) => at - tries[index]!);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(5_000);
    await takeBack();
    await scene.gone('Service default/web', () => scene.service('web'), 35_000);
    await scene.until('the end to be told', async () => (await said('DeletedLoadBalancer')).length === 1);
    await account.deleteGroup(app);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    await rules(null);
  }, 180_000);

  /** So many moments of a next try, as they are told, in milliseconds; each is told before it comes, and comes within half a minute. */
  async function nextTries(name: string, count: number): Promise<number[]> {
    const told: number[] = [];
    await scene.until(
      `${count} tries to be told`,
      async () => {
        const conditions = (await scene.loadBalancer(name))?.status?.conditions ?? [];
        const { message = '' } = conditions.find(({ type }) => type === 'Ready') ?? {};
        const at = Date.parse(/Next try at ([0-9T:-]+Z)/.exec(message)?.[1] ?? '');
        if (Number.isNaN(at) || told.includes(at)) return undefined;
        expect(at - Date.now()).toBeLessThanOrEqual(30_000);
        told.push(at);
        return told.length === count || undefined;
      },
      120_000,
    );
    return told;
  }

  describe('R-46: with Elastic IP addresses', () => {
    /** Allocation ids. */
    const EIPS: string[] = [];
    const addressed = (subnets: readonly string[]): Record<string, string> => ({
      ...NETWORK,
      [`${PREFIX}subnets`]: subnets.join(','),
      [`${PREFIX}eip-allocations`]: EIPS.join(','),
    });
    const annotate = (annotation: string): Promise<string> =>
      aws.cluster.kubectl(['annotate', 'service', 'edge', '--overwrite', annotation]);
    const writes = (): string[] => model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'));

    /** The account as AWS tells of it. */
    let asTold: MotoAccount;
    /** One that somebody's instance has. */
    let taken: Awaited<ReturnType<MotoAccount['makeAddressOfInstance']>>;

    beforeAll(async () => {
      asTold = new MotoAccount(model.url);
      await account.addSubnet('c');
      for (let count = 0; count < 2; count++) EIPS.push(await account.makeAddress());
      taken = await account.makeAddressOfInstance();
      await aws.cluster.apply(serviceOf('edge', { annotations: addressed(account.subnetIDs.slice(0, 2)) }));
      await scene.ready('edge', { timeoutMs: 60_000 });
    }, 90_000);
    afterAll(() => asTold.close());

    /** Addresses by subnet, of the only load balancer that has any. */
    async function addresses(): Promise<Record<string, string>> {
      const all = await asTold.loadBalancers();
      const zones = all.flatMap(({ AvailabilityZones = [] }) => AvailabilityZones);
      return Object.fromEntries(
        zones.flatMap(({ SubnetId = '', LoadBalancerAddresses = [] }) =>
          LoadBalancerAddresses.map(({ AllocationId = '' }) => [SubnetId, AllocationId]),
        ),
      );
    }

    function conflict(name: string): Promise<string> {
      return scene.until(
        `a conflict to be told of ${name}`,
        async () => {
          const conditions = (await scene.loadBalancer(name))?.status?.conditions ?? [];
          return conditions.find(({ type, reason }) => type === 'Ready' && reason === 'Conflict')?.message;
        },
        60_000,
      );
    }

    /** While AWS has not let go of the old one's addresses, a person reads so, and no dead name; then the new one takes them. */
    async function heldUntilFree(name: string): Promise<void> {
      const message = await conflict(name);
      expect(message).toMatch(/it can't be made yet, because eipalloc-[0-9a-f]+, eipalloc-[0-9a-f]+ is still in use/);
      expect(message).toContain('AWS takes a minute or two to let go of the addresses of a load balancer that is deleted');
      await scene.until(
        'no dead name on the Service',
        async () => (await scene.service(name))?.status?.loadBalancer?.ingress === undefined,
      );
      expect((await scene.loadBalancer(name))?.status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('False');
      expect(model.calls.filter(({ action, status }) => action === 'CreateLoadBalancer' && status === 200)).toEqual([]);
      now += MINUTES;
      await scene.askFor(name);
      await scene.ready(name, { timeoutMs: 60_000 });
      expect(Object.values(await addresses()).sort()).toEqual(EIPS.toSorted());
      const made = model.calls.filter(({ action, status }) => status === 200 && /^(Create|Delete)LoadBalancer$/.test(action));
      expect(made.map(({ action }) => action)).toEqual(['DeleteLoadBalancer', 'CreateLoadBalancer']);
      expect(await aws.hostname(name)).toMatch(/\.elb\./);
    }

    async function approve(expected: string): Promise<void> {
      const { message } = await scene.condition('edge', 'Reconciling', 'AwaitingApproval');
      expect(message).toContain(expected);
      expect(writes()).toEqual([]);
      const { hash } = await scene.planOf('edge');
      await aws.cluster.kubectl(['annotate', 'cloudloadbalancer', 'edge', '--overwrite', `cloud-operator.dev/approve=${hash}`]);
    }

    test.each<[string, 'Never' | 'Allow', () => string, () => [string, string]]>([
      [
        'a subnet that is not there',
        'Never',
        () => `${PREFIX}subnets=${account.subnetIDs[0]},subnet-0123456789abcdef0`,
        () => ['Invalid', 'no subnet with the id or name'],
      ],
      [
        'an address that is not there',
        'Allow',
        () => `${PREFIX}eip-allocations=${EIPS[0]},eipalloc-0123456789abcdef0`,
        () => ['Invalid', 'no Elastic IP address'],
      ],
      [
        'an address that an instance has',
        'Never',
        () => `${PREFIX}eip-allocations=${EIPS[0]},${taken.id}`,
        () => ['Taken', `is on instance ${taken.instance}. Take it off there`],
      ],
      [
        'an address that an instance has',
        'Allow',
        () => `${PREFIX}eip-allocations=${EIPS[0]},${taken.id}`,
        () => ['Taken', `is on instance ${taken.instance}. Take it off there`],
      ],
    ])('a replacement that asks for %s deletes nothing, where spec.updatePolicy.replace is %s', async (_what, replace, wrong, why) => {
      const policy = (value: string | null): Promise<unknown> =>
        aws.cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/edge', 'merge', { spec: { updatePolicy: { replace: value } } });
      await policy(replace);
      model.calls.length = 0;
      await annotate(wrong());
      const [reason, says] = why();
      expect((await scene.condition('edge', 'Stalled', reason)).message).toContain(says);
      expect(writes()).toEqual([]);
      for (const [name, value] of Object.entries(addressed(account.subnetIDs.slice(0, 2)))) await annotate(`${name}=${value}`);
      await scene.ready('edge');
      expect(writes()).toEqual([]);
      await policy(null);
    });

    test('for a new load balancer that asks for an address which an instance has nothing is made, others go on, and it is made once the address is free', async () => {
      model.calls.length = 0;
      const annotations = { ...NETWORK, [`${PREFIX}subnets`]: account.subnetIDs[0] ?? '', [`${PREFIX}eip-allocations`]: taken.id };
      await aws.cluster.apply(serviceOf('hasty', { annotations }));
      expect((await scene.condition('hasty', 'Stalled', 'Taken')).message).toContain(`${taken.id} (`);
      expect(writes()).toEqual([]);
      await annotate(`${PREFIX}cross-zone-load-balancing-enabled=true`);
      const changed = (times: number): Promise<true> =>
        scene.until(`the other one to be changed ${times} times`, () =>
          Promise.resolve(writes().filter((action) => action === 'ModifyLoadBalancerAttributes').length === times),
        );
      await changed(1);
      await taken.free();
      await scene.askFor('hasty');
      await scene.ready('hasty', { timeoutMs: 60_000 });
      await scene.deleteServices('hasty');
      await annotate(`${PREFIX}cross-zone-load-balancing-enabled-`);
      await changed(2);
      await scene.ready('edge');
    }, 120_000);

    test('a replacement is held, planned as delete first, and takes them once AWS has let go of them', async () => {
      const [first = '', , third = ''] = account.subnetIDs;
      model.calls.length = 0;
      await annotate(`${PREFIX}subnets=${first},${third}`);
      await approve(`delete first, with a gap in traffic, because ${EIPS.join(', ')} can't be used twice`);
      await heldUntilFree('edge');
      expect(await addresses()).toEqual({ [first]: EIPS[0], [third]: EIPS[1] });
    }, 120_000);

    test('without room for the new one nobody is sent to a dead name, it is tried again, and the addresses stay allocated', async () => {
      const [first = '', second = ''] = account.subnetIDs;
      full = true;
      model.calls.length = 0;
      await annotate(`${PREFIX}subnets=${first},${second}`);
      await approve('delete first, with a gap in traffic');
      const { message } = await scene.condition('edge', 'Ready', 'QuotaExceeded', { status: 'False' });
      expect(message).toMatch(/Next try at/);
      await scene.until(
        'no dead name on the Service',
        async () => (await scene.service('edge'))?.status?.loadBalancer?.ingress === undefined,
      );
      expect(writes()).not.toContain('ReleaseAddress');
      full = false;
      now += MINUTES;
      await scene.askFor('edge');
      await scene.ready('edge', { timeoutMs: 60_000 });
      expect(await addresses()).toEqual({ [first]: EIPS[0], [second]: EIPS[1] });
      expect(await aws.hostname('edge')).toMatch(/\.elb\./);
    }, 120_000);

    test('so does a move to a shared load balancer', async () => {
      model.calls.length = 0;
      await annotate('cloud-operator.dev/placement=corner');
      await approve(`moves it to another load balancer, delete first, with a gap in traffic, because ${EIPS.join(', ')} can't be on both`);
      await heldUntilFree('edge');
    }, 120_000);

    test('in a placement a change that keeps them is refused with what to do: nothing is deleted, and there is nothing to approve', async () => {
      const [first = '', second = '', third = ''] = account.subnetIDs;
      model.calls.length = 0;
      await annotate(`${PREFIX}subnets=${first},${third}`);
      const { message } = await scene.condition('edge', 'Stalled', 'Invalid');
      expect(message).toContain(`${EIPS.join(', ')}, which it keeps. Ask for other addresses`);
      await annotate(`${PREFIX}subnets=${first},${second}`);
      await scene.ready('edge');
      expect(writes()).toEqual([]);
    });

    test('one that joins the placement and asks for them with other subnets is told who has them, and AWS is not asked', async () => {
      const [first = '', , third = ''] = account.subnetIDs;
      model.calls.length = 0;
      const annotations = { ...addressed([first, third]), 'cloud-operator.dev/placement': 'corner' };
      await aws.cluster.apply(serviceOf('joiner', { annotations, ports: [{ name: 'http', port: 81 }] }));
      const { message } = await scene.condition('joiner', 'Stalled', 'Conflict');
      expect(message).toContain(
        `address ${EIPS[0]} belongs to default/edge; it goes on by itself when that is free, or ask for another address`,
      );
      await scene.deleteServices('joiner');
      expect(writes()).toEqual([]);
    }, 60_000);

    test('another one that asks for them waits while they are on the first, keeps nobody from deleting that, and gets them then', async () => {
      model.calls.length = 0;
      await aws.cluster.apply(serviceOf('next', { annotations: addressed(account.subnetIDs.slice(0, 2)) }));
      await conflict('next');
      expect((await account.loadBalancers()).length).toBe(1);
      await scene.deleteServices('edge');
      await scene.askFor('next');
      await heldUntilFree('next');
      await scene.deleteServices('next');
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    }, 120_000);
  });

  test('rules that let a security group of one’s own in to the Nodes are no leftovers while AWS refuses the load balancer', async () => {
    const group = await account.makeGroup('own');
    full = true;
    await aws.cluster.apply(serviceOf('walled', { annotations: { ...NETWORK, [`${PREFIX}security-groups`]: group } }));
    await scene.condition('walled', 'Ready', 'QuotaExceeded', { status: 'False' });
    const rules = await account.rulesFrom(group, aws.nodes);
    expect(rules).toContain('tcp 30000-32767');
    const sweep = (token: string): Promise<true> =>
      scene.until(
        'the sweep',
        async () => {
          await aws.cluster.kubectl(['annotate', 'cloudprovider', 'aws', '--overwrite', `cloud-operator.dev/sweep=${token}`]);
          return (await scene.provider('aws'))?.status?.sweep?.handled === token;
        },
        60_000,
      );
    const leftovers = async (): Promise<string[]> =>
      (await aws.cluster.kube.list(CLOUD_STACKS)).map(({ metadata }) => metadata.name).filter((name) => name.startsWith('aws-rules-'));
    await sweep('refused');
    expect([await leftovers(), await account.rulesFrom(group, aws.nodes)]).toEqual([[], rules]);
    full = false;
    await scene.askFor('walled');
    await scene.ready('walled', { timeoutMs: 60_000 });
    await scene.deleteServices('walled');
    expect(await account.rulesFrom(group, aws.nodes)).toEqual([]);
    await account.deleteGroup(group);
  }, 180_000);

  test('one that AWS has not brought into service says so beside Ready, what a person is to do where it will not be, and nothing once it is', async () => {
    const states = { spec: { driftInterval: '1s' } };
    await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', states);
    await aws.cluster.apply(serviceOf('slow', { annotations: NETWORK }));
    const told = async (reason: string): Promise<string | undefined> => (await scene.condition('slow', 'NotInService', reason)).message;
    expect(await told('Provisioning')).toContain('some minutes');
    await scene.ready('slow');
    expect(await aws.hostname('slow')).toMatch(/\.elb\./);
    const [balancer] = await account.loadBalancers();
    const name = balancer?.LoadBalancerName ?? '';
    troubled.set(name, { code: 'failed', reason: 'no capacity' });
    expect(await told('Failed')).toContain(`(no capacity). Delete the load balancer ${name} in AWS`);
    troubled.set(name, { code: 'active_impaired', reason: 'too few addresses' });
    expect(await told('Impaired')).toContain('(too few addresses). See that each of its subnets has eight free addresses');
    troubled.clear();
    expect(await told('Provisioning')).toContain('some minutes');
    now += MINUTES;
    await scene.until('nothing to be said of it', async () => {
      const conditions = (await scene.loadBalancer('slow'))?.status?.conditions ?? [];
      return !conditions.some(({ type, status }) => type === 'NotInService' && status === 'True');
    });
    await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { driftInterval: null } });
    await scene.deleteServices('slow');
  }, 120_000);

  test('one whose zones somebody else has changed goes on as it is, unless it may be replaced; set back, nothing is left to do', async () => {
    const subnets = account.subnetIDs.slice(0, 2);
    await aws.cluster.apply(serviceOf('zoned', { annotations: { ...NETWORK, [`${PREFIX}subnets`]: subnets.join(',') } }));
    await scene.ready('zoned');
    const [balancer] = await account.loadBalancers();
    const arn = balancer?.LoadBalancerArn ?? '';
    model.calls.length = 0;
    await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { driftInterval: '1s' } });
    await account.setSubnets(arn, account.subnetIDs.slice(0, 3));
    const { message } = await scene.condition('zoned', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain('the cloud was changed by somebody else: the update replaces LoadBalancer');
    expect(message).toContain('cuts default/zoned');
    await account.setSubnets(arn, subnets);
    await scene.ready('zoned');
    expect(model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'))).toEqual([]);
    await aws.cluster.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { driftInterval: null } });
    await scene.deleteServices('zoned');
  }, 120_000);

  test('R-28: with deletion protection it can also be let go of: the Service goes, and it stays and serves, without our mark', async () => {
    const attributes = { [`${PREFIX}attributes`]: 'deletion_protection.enabled=true' };
    await aws.cluster.apply(serviceOf('kept', { annotations: { ...NETWORK, ...attributes } }));
    await scene.ready('kept', { timeoutMs: 60_000 });
    const [balancer] = await account.loadBalancers();
    const arn = balancer?.LoadBalancerArn ?? '';
    const targets = await account.targetsOf(arn);
    expect(targets[80]).not.toEqual([]);
    await aws.cluster.kubectl(['delete', 'service', '--wait=false', 'kept']);
    await scene.until('the way out to be told', async () => {
      const conditions = (await scene.service('kept'))?.status?.conditions ?? [];
      return conditions.some(({ message = '' }) => message.includes('spec.deletionPolicy: Orphan'));
    });
    await aws.cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/kept', 'merge', { spec: { deletionPolicy: 'Orphan' } });
    await scene.gone('Service default/kept', () => scene.service('kept'), 60_000);
    await scene.gone('CloudLoadBalancer default/kept', () => scene.loadBalancer('kept'), 60_000);
    expect((await account.loadBalancers()).map(({ LoadBalancerArn }) => LoadBalancerArn)).toEqual([arn]);
    expect(await account.targetsOf(arn)).toEqual(targets);
    await aws.cluster.kubectl(['annotate', 'cloudprovider', 'aws', '--overwrite', 'cloud-operator.dev/sweep=kept']);
    const swept = await scene.until('a sweep', async () => {
      const sweep = (await scene.provider('aws'))?.status?.sweep;
      return sweep?.handled === 'kept' && sweep;
    });
    expect(swept.leftovers).toBe(0);
    await account.deleteLoadBalancer(arn);
    await account.deleteTargetGroups();
  }, 180_000);
});
