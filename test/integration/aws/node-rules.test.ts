import { systemClock, type Clock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { BackendGroup, backendGroupName, leftBackendsOf, type BackendUser } from '../../../providers/aws/nodes/backend-group';
import { AwsError } from '../../../providers/aws/client/aws-error';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { NodeGroups } from '../../../providers/aws/nodes/node-groups';
import { openNodes, rulesForPorts, rulesFrom, SHARED_RULES } from '../../../providers/aws/nodes/node-rules';
import { OpenedMembers } from '../../../providers/aws/members/opened-members';
import { backendGroup } from '../../../providers/aws/resources/backend-group';
import type { Api } from '../../../providers/aws/resources/description';
import { nodeRules } from '../../../providers/aws/resources/node-rules';
import { TAG, toAwsTags } from '../../../providers/aws/tags';
import type { UpdateContext } from '../../../providers/worker-module';
import { retry } from '../../../providers/retry';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount, REGION } from './moto-account';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const SHARED = ['icmp 3-4', 'tcp 30000-32767', 'udp 30000-32767'];

describeWithMoto('the group that lets load balancers in to Nodes, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let ec2: Ec2;
  let verbs: string[] = [];

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    ec2 = new Ec2({ ...account.clientOptions(), onCall: (verb) => verbs.push(verb) });
  }, 120_000);
  beforeEach(() => {
    verbs = [];
  });
  afterAll(async () => {
    [ec2, account].forEach((client) => client.close());
    await moto.stop();
  });

  const backendOf = (clock: Clock = systemClock): BackendGroup => new BackendGroup(ec2, CLUSTER, clock);
  const backends = async (): Promise<string[]> =>
    (await ec2.securityGroups([{ Name: 'group-name', Values: [backendGroupName(CLUSTER)] }])).map(({ GroupId = '' }) => GroupId);

  /** A load balancer's own group, as its stack makes it before it asks for the backend group. */
  async function user(stack: string, VpcId = account.vpcID): Promise<BackendUser & { gone: () => Promise<void> }> {
    const frontend = `${stack}-frontend`;
    const Tags = toAwsTags({ [TAG.clusterID]: CLUSTER, [TAG.stack]: stack, [TAG.resource]: frontend });
    const { GroupId = '' } = await ec2.createSecurityGroup(
      { GroupName: frontend, Description: 'x', VpcId, TagSpecifications: [{ ResourceType: 'security-group', Tags }] },
      {},
    );
    return { stack, frontend, gone: () => ec2.deleteSecurityGroup(GroupId, {}) };
  }

  /** As the resource does it: what is just being removed is waited for. */
  const ensure = (of: BackendUser): Promise<string> =>
    retry(
      ec2.retryPolicy,
      () => backendOf().ensure(of, account.vpcID, {}),
      (error) => error.code === 'Transient',
    );

  test('the Nodes’ rules are read beside the look for the group: a load balancer that is made waits for both', async () => {
    const of = await user('beside');
    let asked: () => void = () => undefined;
    const rulesAsked = new Promise<void>((resolve) => (asked = resolve));
    const watched = Object.create(ec2, {
      securityGroupRules: {
        value: (...call: Parameters<Ec2['securityGroupRules']>) => {
          asked();
          return ec2.securityGroupRules(...call);
        },
      },
      securityGroups: { value: (...call: Parameters<Ec2['securityGroups']>) => rulesAsked.then(() => ec2.securityGroups(...call)) },
    }) as Ec2;
    const nodes = await account.nodeGroup();
    const update = { stack: of.stack, clusterID: CLUSTER, assertValid: () => undefined } as unknown as UpdateContext;
    const resource = backendGroup(watched, { nodeGroups: [nodes], maxRules: 60 }, update);
    const context = { urn: 'urn', name: 'beside-backend', signal: new AbortController().signal };
    const { id } = await resource.create({ vpcId: account.vpcID, frontend: of.frontend, ports: [] }, context);
    expect(await account.rulesFrom(id, nodes)).toEqual(SHARED);
    await resource.delete(id, context, {});
    await of.gone();
    expect(await backends()).toEqual([]);
  });

  const unknownGroup = (): AwsError => new AwsError('NotFound', 'the security group does not exist', 'InvalidGroup.NotFound', {});

  test('a group that not all of AWS has heard of yet is let in to the Nodes once it has', async () => {
    const of = await user('unheard');
    let unheard = 0;
    const lagging = Object.create(ec2, {
      authorize: {
        value: (...call: Parameters<Ec2['authorize']>) => (unheard-- > 0 ? Promise.reject(unknownGroup()) : ec2.authorize(...call)),
      },
    }) as Ec2;
    const [nodes, others] = [await account.nodeGroup(), await account.nodeGroup()];
    const update = { stack: of.stack, clusterID: CLUSTER, assertValid: () => undefined } as unknown as UpdateContext;
    const settings = { nodeGroups: [nodes, others], maxRules: 60 };
    const context = { urn: 'urn', name: 'unheard-backend', signal: new AbortController().signal };
    unheard = 2;
    const resource = backendGroup(lagging, settings, update);
    const { id } = await resource.create({ vpcId: account.vpcID, frontend: of.frontend, ports: [] }, context);
    for (const group of [nodes, others]) expect(await account.rulesFrom(id, group)).toEqual(SHARED);
    await resource.delete(id, context, {});

    unheard = 2;
    const named = await account.makeGroup('unheard-named');
    const own = nodeRules({ ec2: lagging } as unknown as Api, settings, update);
    await own.create({ loadBalancer: 'unheard', group: named, groupPorts: 'Shared' }, context);
    for (const group of [nodes, others]) expect(await account.rulesFrom(named, group)).toEqual(SHARED);
    await of.gone();
    expect(await backends()).toEqual([]);
  });

  test.each(['createTags', 'deleteTags'] as const)('who finds by %s that somebody was faster to remove it is done', async (write) => {
    const of = await user(`slow-${write.toLowerCase()}`);
    const backend = await ensure(of);
    // Taken away while its removal is marked, or while the mark is taken back because something is thought to have it.
    const slow = Object.create(ec2, {
      networkInterfaces: { value: () => Promise.resolve([{}]) },
      [write]: {
        value: async (ids: string[], tags: never, options: never) => {
          if (!ids.includes(backend)) return ec2[write](ids, tags, options);
          await ec2.deleteSecurityGroup(backend, {});
          throw unknownGroup();
        },
      },
    }) as Ec2;
    await new BackendGroup(slow, CLUSTER, systemClock).release(of, {});
    expect(await backends()).toEqual([]);
    await of.gone();
  });

  test('one group and one set of rules serve all; the last user removes them', async () => {
    const nodes = await account.nodeGroup();
    const [a, b] = [await user('a'), await user('b')];
    const backend = await ensure(a);
    expect(await ensure(b)).toBe(backend);
    const target = { groups: [nodes], clusterID: CLUSTER, maxRules: 60 };
    const shared = rulesFrom(backend, SHARED_RULES);
    await Promise.all([1, 2, 3].map(() => openNodes(ec2, target, shared, {})));
    expect(await account.rulesFrom(backend, nodes)).toEqual(SHARED);
    verbs = [];
    await openNodes(ec2, target, shared, {});
    expect(verbs).toEqual(['list']);
    await openNodes(ec2, target, rulesFrom(backend, rulesForPorts(['tcp/10256'])), {});
    expect(await account.rulesFrom(backend, nodes)).toEqual([...SHARED, 'tcp 10256-10256'].sort());

    await backendOf().release(a, {});
    await a.gone();
    expect(await backends()).toEqual([backend]);
    expect(await account.rulesFrom(backend, nodes)).toContain(SHARED[0]);
    await backendOf().release(b, {});
    await b.gone();
    expect(await backends()).toEqual([]);
    expect(await account.rulesFrom(backend, nodes)).toEqual([]);
  });

  test('users that come and go at once never leave one without the group, and none leaves it behind', async () => {
    for (let round = 0; round < 5; round++) {
      const leaving = [await user(`old-${round}-1`), await user(`old-${round}-2`)];
      for (const one of leaving) await ensure(one);
      const coming = await user(`new-${round}`);
      const [id] = await Promise.all([ensure(coming), ...leaving.map((one) => backendOf().release(one, {}))]);
      expect(await backends()).toEqual([id]);
      const last = await user(`last-${round}`);
      expect(await ensure(last)).toBe(id);
      await Promise.all([coming, last].map((one) => backendOf().release(one, {})));
      expect(await backends()).toEqual([]);
      await Promise.all([...leaving, coming, last].map(({ gone }) => gone()));
    }
  });

  test('a group without users is found as a leftover, and is removed unless somebody uses it by then', async () => {
    const listed = async (): Promise<string[]> =>
      leftBackendsOf(await ec2.securityGroups([{ Name: `tag:${TAG.clusterID}`, Values: [CLUSTER] }]), CLUSTER, systemClock.now());
    const one = await user('left');
    const id = await ensure(one);
    expect(await listed()).toEqual([]);
    await expect(backendOf().removeLeft(id, {})).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('used') as string,
    });
    expect(await backends()).toEqual([id]);
    // its stack lost its state, and somebody cleaned up by hand
    await one.gone();
    expect(await listed()).toEqual([id]);
    await backendOf().removeLeft(id, {});
    expect(await backends()).toEqual([]);
    await backendOf().removeLeft(id, {});
  });

  test('each VPC of an account has its own group: none is another one’s, or kept by users elsewhere', async () => {
    const vpcID = await account.makeVPC('10.9.0.0/16');
    const [here, there] = [await user('here'), await user('there', vpcID)];
    const [one, other] = [await ensure(here), await backendOf().ensure(there, vpcID, {})];
    expect(other).not.toBe(one);
    expect(await backendOf().ensure(there, vpcID, {})).toBe(other);
    await backendOf().release(here, {});
    expect(await backends()).toEqual([other]);
    await there.gone();
    const left = await ec2.securityGroups([{ Name: `tag:${TAG.clusterID}`, Values: [CLUSTER] }]);
    expect(leftBackendsOf(left, CLUSTER, systemClock.now())).toEqual([other]);
    await backendOf().removeLeft(other, {});
    await here.gone();
    expect(await backends()).toEqual([]);
  });

  test('a removal that was cut off is ended by the next user', async () => {
    const first = await user('cut-1');
    const old = await ensure(first);
    await ec2.createTags([old], [{ Key: 'cloud-operator.dev/removing', Value: new Date(systemClock.now() - 30_000).toISOString() }], {});
    const next = await user('cut-2');
    await expect(backendOf().ensure(next, account.vpcID, {})).rejects.toMatchObject({ code: 'Transient' });
    const later = { ...systemClock, now: () => systemClock.now() + 60_000 };
    const id = await backendOf(later).ensure(next, account.vpcID, {});
    expect(id).not.toBe(old);
    expect(await backends()).toEqual([id]);
    for (const one of [first, next]) {
      await backendOf().release(one, {});
      await one.gone();
    }
  });

  test('a removal that was cut off, of an operator whose clock was an hour ahead, is not waited for', async () => {
    const first = await user('ahead-1');
    const old = await ensure(first);
    const ahead = new Date(systemClock.now() + 3_600_000).toISOString();
    await ec2.createTags([old], [{ Key: 'cloud-operator.dev/removing', Value: ahead }], {});
    const next = await user('ahead-2');
    const id = await backendOf().ensure(next, account.vpcID, {});
    expect(await backends()).toEqual([id]);
    expect(id).not.toBe(old);
    for (const one of [first, next]) {
      await backendOf().release(one, {});
      await one.gone();
    }
  });

  test('a Node with a group that no Node had before is let in before it becomes a target', async () => {
    const one = await user('nodes');
    const backend = await ensure(one);
    const groups = new NodeGroups(ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    const order: string[] = [];
    let mayWrite = true;
    const members = {
      sync: () => Promise.resolve(order.push('sync')),
      hash: () => '',
      assume: () => undefined,
      skipped: () => [],
      observe: () => Promise.resolve(new Map<string, string>()),
    };
    const opened = new OpenedMembers(members, { ec2, groups, clusterID: CLUSTER, maxRules: 60, shared: true });
    const group = { id: 'tg', port: 30_080 };
    const [first, second] = [await account.nodeGroup(), await account.nodeGroup()];
    const targets = await account.makeInstances(1, 'prod', first);
    await opened.sync(group, targets, () => mayWrite);
    expect(await account.rulesFrom(backend, first)).toEqual(SHARED);
    verbs = [];
    await Promise.all([1, 2, 3].map(() => opened.sync(group, targets, () => mayWrite)));
    expect(verbs).toEqual([]);

    targets.push(...(await account.makeInstances(1, 'prod', second)));
    mayWrite = false;
    await expect(opened.sync(group, targets, () => mayWrite)).rejects.toBeInstanceOf(OperatorError);
    expect(await account.rulesFrom(backend, second)).toEqual([]);
    mayWrite = true;
    await opened.sync(group, targets, () => mayWrite);
    expect(await account.rulesFrom(backend, second)).toEqual(SHARED);
    expect(order).toHaveLength(5);
    await backendOf().release(one, {});
    await one.gone();
    expect([...(await account.rulesFrom(backend, first)), ...(await account.rulesFrom(backend, second))]).toEqual([]);
  });

  test('a group of Nodes that is gone, as after a node pool, is passed over, and a Node without a group of its own is looked at again', async () => {
    const one = await user('pools');
    const backend = await ensure(one);
    let later = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + later };
    const watched = new Ec2({ ...account.clientOptions(), clock });
    const groups = new NodeGroups(watched, { region: REGION, clusterName: 'pools', nodeIPFamilies: ['IPv4'] });
    const [old, left] = [await account.makeGroup('pool-old'), await account.makeGroup('pool-left')];
    const [first] = await account.makeInstances(1, 'pools', old);
    await account.makeInstances(1, 'pools', left);
    await groups.list();
    expect(groups.all).toEqual([old, left].sort());
    await account.terminate(first!);
    await ec2.deleteSecurityGroup(old, {});
    await openNodes(ec2, { groups: groups.all, clusterID: CLUSTER, maxRules: 60 }, rulesFrom(backend, SHARED_RULES), {});
    expect(await account.rulesFrom(backend, left)).toEqual(SHARED);
    await expect(
      openNodes(ec2, { groups: [left], clusterID: CLUSTER, maxRules: 60 }, rulesFrom('sg-0123456789abcdef0', SHARED_RULES), {}),
    ).rejects.toMatchObject({ code: 'NotFound' });

    const fresh = await account.makeGroup('pool-new');
    const several = await account.makeInstances(1, 'pools', fresh, left);
    await groups.learn(several.map(({ providerID }) => providerID.split('/').at(-1) ?? ''));
    expect(groups.all).not.toContain(fresh);
    await account.tag(fresh, 'kubernetes.io/cluster/pools', 'owned');
    await groups.list();
    expect(groups.all).not.toContain(fresh);
    later = 11 * 60_000;
    await groups.list();
    expect(groups.all).toEqual([fresh, left].sort());
    watched.close();
    await backendOf().release(one, {});
    await one.gone();
  });

  test('what somebody takes from the rules of Nodes is seen with the targets, and given back when those are brought in again', async () => {
    const one = await user('shut');
    const backend = await ensure(one);
    const groups = new NodeGroups(ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    const registered = new Map([
      ['tg-shared', 'a'],
      ['tg-own', 'b'],
      ['tg-unknown', 'c'],
    ]);
    const members = {
      sync: () => Promise.resolve(0),
      hash: () => '',
      assume: () => undefined,
      skipped: () => [],
      observe: () => Promise.resolve(new Map(registered)),
    };
    const opened = new OpenedMembers(members, { ec2, groups, clusterID: CLUSTER, maxRules: 60, shared: true });
    const nodes = await account.nodeGroup();
    const targets = await account.makeInstances(1, 'prod', nodes);
    const rule = 'tcp 31080:31080 192.0.2.0/24 client';
    const [shared, own] = [
      { id: 'tg-shared', port: 30_080 },
      { id: 'tg-own', port: 31_080, access: { loadBalancer: 'own', rules: [rule] } },
    ];
    await opened.sync(own, targets, () => true);
    opened.assume(shared, targets);
    expect(await opened.observe()).toEqual(registered);

    const take = async (isTaken: (rule: { CidrIpv4?: string }) => boolean): Promise<void> => {
      const rules = (await ec2.securityGroupRules([{ Name: 'group-id', Values: [nodes] }])).filter(({ IsEgress }) => IsEgress !== true);
      const ids = rules.filter((one) => isTaken(one as { CidrIpv4?: string })).map(({ SecurityGroupRuleId = '' }) => SecurityGroupRuleId);
      await ec2.revoke('Ingress', nodes, ids, {});
    };
    await take(({ CidrIpv4 }) => CidrIpv4 !== undefined);
    expect(await opened.observe()).toEqual(new Map([...registered, ['tg-own', 'b shut']]));
    await opened.sync(own, targets, () => true);
    expect(await opened.observe()).toEqual(registered);
    await take(({ CidrIpv4 }) => CidrIpv4 === undefined);
    expect(await opened.observe()).toEqual(new Map([...registered, ['tg-shared', 'a shut']]));
    await opened.sync(shared, targets, () => true);
    expect(await account.rulesFrom(backend, nodes)).toEqual(SHARED);
    verbs = [];
    expect(await opened.observe()).toEqual(registered);
    expect(verbs).toEqual(['list', 'list']);
    await backendOf().release(one, {});
    await one.gone();
  });

  test('a group of Nodes that takes no more rules is told with its figures', async () => {
    const one = await user('full');
    const backend = await ensure(one);
    const nodes = await account.nodeGroup();
    await account.fill(nodes, 59);
    const opening = (maxRules: number): Promise<void> =>
      openNodes(ec2, { groups: [nodes], clusterID: CLUSTER, maxRules }, rulesFrom(backend, SHARED_RULES), {});
    verbs = [];
    const figures = `${nodes} has 59 inbound rules, and 3 more don't fit: the limit is 60.*higher quota`;
    await expect(opening(60)).rejects.toMatchObject({ code: 'Quota', message: expect.stringMatching(new RegExp(figures)) as string });
    expect(verbs).toEqual(['list']);
    // the quota is not what it is said to be
    const refused = `${nodes} has 59 rules, and 3 more don't fit \\(AWS.*higher quota`;
    await expect(opening(100)).rejects.toMatchObject({ code: 'Quota', message: expect.stringMatching(new RegExp(refused)) as string });
    await backendOf().release(one, {});
    await one.gone();
  });
});
