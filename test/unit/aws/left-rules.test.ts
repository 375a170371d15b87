import type { Filter, IpPermission, SecurityGroup, SecurityGroupRule, Tag } from '@aws-sdk/client-ec2';
import type { TargetGroup } from '@aws-sdk/client-elastic-load-balancing-v2';
import { cloudLoadBalancerSpec, type CloudLoadBalancerSpec } from '../../../crds';
import { cloudName } from '../../../providers/aws/load-balancers/names';
import { isLeftRulesStack, leftRulesOf, type LeftRulesFacts } from '../../../providers/aws/nodes/left-rules';
import type { Api } from '../../../providers/aws/resources/description';
import { discoverLeftRules, LEFT_RULE, leftRule, leftRulesIn } from '../../../providers/aws/resources/left-rule';
import { TAG, toAwsTags } from '../../../providers/aws/tags';
import type { KnownOwners } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';

const CLUSTER = 'c0ffee';
const UID = '0a1b2c3d-0000-4000-8000-777777777777';
/** Of a load balancer of that owner's, as upstream and we name it. */
const GONE = cloudName(UID);
const OTHER = cloudName('0f0f0f0f-0000-4000-8000-777777777777');
const ANYBODY = '0.0.0.0/0';
const NODES: SecurityGroup = groupOf('sg-0a', { 'kubernetes.io/cluster/prod': 'owned' });
const OURS = toAwsTags({ [TAG.clusterID]: CLUSTER });

function groupOf(GroupId: string, tags: Record<string, string> = {}, more: Partial<SecurityGroup> = {}): SecurityGroup {
  return { GroupId, GroupName: GroupId, VpcId: 'vpc-1', Tags: toAwsTags(tags), ...more };
}

const client = (name: string): string => `kubernetes.io/rule/nlb/client=${name}`;
const MTU = 'kubernetes.io/rule/nlb/mtu';

let serial = 0;

/** Of ours, unless it says otherwise. */
function rule(text: string, Description: string, more: Partial<SecurityGroupRule> = {}): SecurityGroupRule {
  const [IpProtocol = '', ports = '', source = ''] = text.split(' ');
  const [FromPort, ToPort = FromPort] = ports.split('-').map(Number);
  const from = source.startsWith('sg-') ? { ReferencedGroupInfo: { GroupId: source } } : { CidrIpv4: source };
  const SecurityGroupRuleId = `sgr-${++serial}`;
  return {
    SecurityGroupRuleId,
    GroupId: 'sg-0a',
    IsEgress: false,
    IpProtocol,
    FromPort,
    ToPort,
    ...from,
    Description,
    Tags: OURS,
    ...more,
  };
}

const of = (name: string, port = 31_080): SecurityGroupRule => rule(`tcp ${port} ${ANYBODY}`, client(name));
const target = (Port: number, VpcId = 'vpc-1'): TargetGroup => ({ Port, Protocol: 'TCP', HealthCheckPort: 'traffic-port', VpcId });
const untagged = { Tags: [] as Tag[] };
const FROM_GROUP = 'load balancers of cloud-operator';

/** What is told of these rules: by whom they were for, how many. */
function left(rules: SecurityGroupRule[], more: Partial<LeftRulesFacts> = {}): Record<string, number> {
  const none = { loadBalancers: [], groupsInUse: new Set<string>(), targetGroups: [] };
  const facts = { clusterID: CLUSTER, clusterName: 'prod', rules, groups: [NODES], ...none, ...more };
  return Object.fromEntries([...leftRulesOf(facts)].map(([name, found]) => [name, found.length]));
}

describe('rules of a load balancer that is gone', () => {
  const mtu = (): SecurityGroupRule => rule(`icmp 3-4 ${ANYBODY}`, MTU);

  test('are told together, with the ICMP of its clients', () => {
    const check = rule('tcp 31080 10.0.0.0/24', `kubernetes.io/rule/nlb/health=${GONE}`);
    expect(left([of(GONE), check, mtu()])).toEqual({ [GONE]: 3 });
    expect(left([of(GONE), of(OTHER, 31_081), mtu()], { loadBalancers: [OTHER] })).toEqual({ [GONE]: 1 });
    expect(left([mtu()])).toEqual({ 'mtu-sg-0a': 1 });
  });

  test('ICMP of two that are gone goes with the second', () => {
    expect(left([of(GONE), of(OTHER, 31_081), mtu()])).toEqual({ [GONE]: 1, [OTHER]: 1 });
  });

  test('ICMP stays where somebody else’s rule lets in what a target group sends', () => {
    const theirs = rule(`tcp 31080 ${ANYBODY}`, 'mine', untagged);
    expect(left([theirs, mtu()], { targetGroups: [target(31_080)] })).toEqual({});
    expect(left([theirs, mtu()])).toEqual({ 'mtu-sg-0a': 1 });
  });

  test.each<[string, Partial<LeftRulesFacts>]>([
    ['the load balancer is there', { loadBalancers: [GONE] }],
    ['another generation of it is', { loadBalancers: [cloudName(UID, 1)] }],
    ['its owner lives', { known: { stacks: new Set(), owners: new Set([UID]) } }],
    ['a target group sends to the port', { targetGroups: [target(31_080)] }],
    ['the health of some is checked there', { targetGroups: [{ ...target(30_000), HealthCheckPort: '31080' }] }],
  ])('are not told where %s', (_what, facts) => {
    expect(left([of(GONE)], facts)).toEqual({});
  });

  test('are told where only somebody in another VPC has the port, or uses it for UDP', () => {
    const targetGroups = [target(31_080, 'vpc-2'), { ...target(31_080), Protocol: 'UDP' as const, HealthCheckPort: '31000' }];
    expect(left([of(GONE)], { targetGroups })).toEqual({ [GONE]: 1 });
  });
});

describe('rules with upstream’s descriptions and without our mark', () => {
  const upstream = (name = GONE): SecurityGroupRule => rule(`tcp 31080 ${ANYBODY}`, client(name), untagged);

  test('count in a group that is tagged for this cluster', () => {
    expect(left([upstream()])).toEqual({ [GONE]: 1 });
    expect(left([upstream()], { groups: [groupOf('sg-0a', { KubernetesCluster: 'prod' })] })).toEqual({ [GONE]: 1 });
  });

  test.each<[string, SecurityGroup, string | undefined]>([
    [
      'is another cluster’s too',
      groupOf('sg-0a', { 'kubernetes.io/cluster/prod': 'shared', 'kubernetes.io/cluster/test': 'shared' }),
      'prod',
    ],
    [
      'is another cluster’s by the tag of old ones',
      groupOf('sg-0a', { 'kubernetes.io/cluster/prod': 'shared', KubernetesCluster: 'x' }),
      'prod',
    ],
    ['has no tag', groupOf('sg-0a'), 'prod'],
    ['may be any cluster’s, for ours has no name', NODES, undefined],
  ])('may be another cluster’s in a group that %s', (_what, group, clusterName) => {
    expect(left([upstream()], { groups: [group], clusterName })).toEqual({});
  });

  test('that name a load balancer as upstream names none are somebody’s own', () => {
    expect(left([upstream('edge'), upstream('')])).toEqual({});
  });
});

test.each<[string, SecurityGroupRule]>([
  ['of people', rule(`tcp 22 ${ANYBODY}`, 'ssh', untagged)],
  ['of another cluster of ours', rule(`tcp 31080 ${ANYBODY}`, client(GONE), { Tags: toAwsTags({ [TAG.clusterID]: 'other' }) })],
  [
    'of a load balancer’s own group',
    rule(`tcp 80 ${ANYBODY}`, '', { Tags: toAwsTags({ [TAG.clusterID]: CLUSTER, [TAG.resource]: 'web' }) }),
  ],
  ['whose description somebody has changed', rule(`tcp 31080 ${ANYBODY}`, 'keep this')],
  ['for what goes out', rule(`tcp 31080 ${ANYBODY}`, client(GONE), { IsEgress: true })],
])('rules %s are left alone', (_what, one) => {
  expect(left([one])).toEqual({});
});

describe('rules that let a security group in', () => {
  const from = (ports = 'tcp 30000-32767'): SecurityGroupRule => rule(`${ports} sg-0b`, FROM_GROUP);
  const marks = { [TAG.clusterID]: CLUSTER, [TAG.stack]: 'lb-web' };

  test('are told where nothing has it: it is gone, or its load balancer was deleted by hand', () => {
    expect(left([from(), from('icmp 3-4')])).toEqual({ 'sg-0b': 2 });
    expect(left([from(), from('-1 -1--1')], { groups: [NODES, groupOf('sg-0b')] })).toEqual({ 'sg-0b': 2 });
    const dead = { stacks: new Set(['lb-other']), owners: new Set<string>() };
    expect(left([from()], { groups: [NODES, groupOf('sg-0b', marks)], known: dead })).toEqual({ 'sg-0b': 1 });
  });

  test.each<[string, Partial<LeftRulesFacts>]>([
    ['a load balancer has it', { groupsInUse: new Set(['sg-0b']) }],
    [
      'it is the backend group, which is told itself when it is left',
      { groups: [NODES, groupOf('sg-0b', { [TAG.clusterID]: CLUSTER }, { GroupName: `cloud-operator-backend-${CLUSTER}` })] },
    ],
    [
      'it is of a stack that is known',
      { groups: [NODES, groupOf('sg-0b', marks)], known: { stacks: new Set(['lb-web']), owners: new Set() } },
    ],
    [
      'its owner lives',
      { groups: [NODES, groupOf('sg-0b', { ...marks, [TAG.ownerUID]: UID })], known: { stacks: new Set(), owners: new Set([UID]) } },
    ],
  ])('are not told where %s', (_what, facts) => {
    expect(left([from()], facts)).toEqual({});
  });

  test('nor where a target group sends to the only port', () => {
    expect(left([from('tcp 31080')], { targetGroups: [target(31_080)] })).toEqual({});
  });
});

/** EC2 and both load balancer APIs, as far as they are asked. */
class Account {
  groups = [NODES];
  rules: SecurityGroupRule[] = [];
  targetGroups: TargetGroup[] = [];
  calls: string[] = [];
  /** Done once, when something is revoked. */
  meanwhile: (() => void) | undefined;

  readonly ec2 = {
    securityGroupRules: ([{ Name = '', Values = [] } = {}]: Filter[]) => {
      this.calls.push(`rules by ${Name}`);
      const isMarked = ({ Tags = [] }: SecurityGroupRule): boolean =>
        Tags.some(({ Key, Value = '' }) => `tag:${Key}` === Name && Values.includes(Value));
      return Promise.resolve(this.rules.filter((one) => (Name === 'group-id' ? Values.includes(one.GroupId ?? '') : isMarked(one))));
    },
    securityGroups: ([{ Name, Values = [] } = {}]: Filter[]) => {
      this.calls.push(`groups by ${Name}`);
      const isTagged = ({ Tags = [] }: SecurityGroup): boolean => Tags.some(({ Key = '' }) => Values.includes(Key));
      return Promise.resolve(this.groups.filter((one) => (Name === 'group-id' ? Values.includes(one.GroupId ?? '') : isTagged(one))));
    },
    revoke: (_direction: string, group: string, ids: string[]) => {
      this.calls.push(`revoke ${ids.length} in ${group}`);
      this.rules = this.rules.filter(({ SecurityGroupRuleId = '' }) => !ids.includes(SecurityGroupRuleId));
      this.meanwhile?.();
      return Promise.resolve();
    },
    authorize: (_direction: string, { IpPermissions = [] }: { IpPermissions?: IpPermission[] }) => {
      const made = IpPermissions.map(({ IpProtocol, FromPort, IpRanges: [{ CidrIp, Description = '' } = {}] = [] }) =>
        rule(`${IpProtocol} ${FromPort} ${CidrIp}`, Description),
      );
      this.rules.push(...made);
      return Promise.resolve(made);
    },
  };

  readonly elb = {
    loadBalancers: () => (this.calls.push('load balancers'), Promise.resolve([])),
    targetGroups: () => (this.calls.push('target groups'), Promise.resolve(this.targetGroups)),
  };

  readonly classic = { loadBalancers: () => (this.calls.push('classic'), Promise.resolve([])) };

  get api(): Api {
    return { ec2: this.ec2, elb: this.elb, classic: this.classic, options: {} } as unknown as Api;
  }
}

const PLACE = { clusterID: CLUSTER, clusterName: 'prod' };
const context = { urn: 'urn', name: 'rule', signal: new AbortController().signal };

function resourceIn({ api }: Account): ReturnType<typeof leftRule> {
  const update = { stack: 's', clusterID: CLUSTER, assertValid: () => undefined } as unknown as UpdateContext;
  return leftRule(api, { clusterName: 'prod', maxRules: 60 }, update);
}

test('P-49: they are found as stacks of their own: another set of rules is another stack, and no other stack asks AWS for them', async () => {
  const account = new Account();
  account.rules = [of(GONE), rule(`tcp 22 ${ANYBODY}`, 'ssh', untagged)];
  const found = await discoverLeftRules(account.api, PLACE);
  const [[stack = '', resources = []] = []] = found;
  expect([found.size, isLeftRulesStack(stack), stack.startsWith(`aws-rules-${GONE}-`)]).toEqual([1, true, true]);
  const [{ SecurityGroupRuleId: id } = {}] = account.rules;
  expect(resources).toMatchObject([{ type: LEFT_RULE, id, name: 'sg-0a-tcp-31080-31080-from-0.0.0.0/0' }]);
  expect([...(await leftRulesIn([stack, 'lb-web'], account.api, PLACE)).keys()]).toEqual([stack]);
  account.rules.push(of(GONE, 31_081));
  expect(await leftRulesIn([stack], account.api, PLACE)).toEqual(new Map());
  account.calls = [];
  expect(await leftRulesIn(['lb-web'], account.api, PLACE)).toEqual(new Map());
  expect(account.calls).toEqual([]);
});

describe('rules that let in a group which is somebody’s own, while nothing in AWS has it', () => {
  const specOf = (groups: string[]): CloudLoadBalancerSpec =>
    cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [{ name: 'http', port: 80 }], aws: { securityGroups: { groups } } });

  /** What a sweep tells: by whom the rules were for. */
  async function told(specs: KnownOwners['specs'], more: SecurityGroupRule[] = []): Promise<string[]> {
    const account = new Account();
    account.groups.push(groupOf('sg-0b', { Name: 'edge' }));
    account.rules = [rule('tcp 30000-32767 sg-0b', FROM_GROUP), rule('icmp 3-4 sg-0b', FROM_GROUP), ...more];
    const found = await discoverLeftRules(account.api, PLACE, () => ({ stacks: new Set(), owners: new Set(), specs }));
    return [...found.keys()].map((stack) => stack.replace(/^aws-rules-(.*)-[0-9a-f]{8}$/, '$1'));
  }

  test.each(['sg-0b', 'edge'])(
    'are not told where a load balancer of the cluster names it (%s): it may just not be made yet',
    async (group) => {
      expect(await told(() => Promise.resolve([specOf(['sg-0c', group])]))).toEqual([]);
    },
  );

  test('are told where none does', async () => {
    expect(await told(() => Promise.resolve([specOf(['sg-0c'])]))).toEqual(['sg-0b']);
  });

  test('are not told where that can’t be found out, and others are', async () => {
    expect(await told(() => Promise.resolve(undefined), [of(GONE)])).toEqual([GONE]);
  });

  test('what load balancers name is asked for only where something depends on it', async () => {
    const account = new Account();
    account.rules = [of(GONE)];
    const specs = jest.fn(() => Promise.resolve([]));
    const found = await discoverLeftRules(account.api, PLACE, () => ({ stacks: new Set(), owners: new Set(), specs }));
    expect([found.size, specs.mock.calls.length]).toEqual([1, 0]);
  });
});

test('where all rules are the backend group’s, four calls say so', async () => {
  const account = new Account();
  const backend = groupOf('sg-0b', { [TAG.clusterID]: CLUSTER }, { GroupName: `cloud-operator-backend-${CLUSTER}` });
  account.groups.push(backend);
  account.rules = [rule('tcp 30000-32767 sg-0b', FROM_GROUP)];
  expect(await discoverLeftRules(account.api, PLACE)).toEqual(new Map());
  expect(account.calls).toHaveLength(4);
});

describe('the deletion of one', () => {
  function withTwo(): { account: Account; id: string; others: SecurityGroupRule[] } {
    const account = new Account();
    const others = [of(GONE, 31_081), rule(`tcp 22 ${ANYBODY}`, 'ssh', untagged)];
    const one = of(GONE);
    account.rules = [one, ...others];
    return { account, id: one.SecurityGroupRuleId ?? '', others };
  }

  test('takes that one alone, and is done where it is gone', async () => {
    const { account, id, others } = withTwo();
    const resource = resourceIn(account);
    await resource.delete(id, context, {});
    expect(account.rules).toEqual(others);
    await resource.delete(id, context, {});
    expect(account.calls.filter((call) => call.startsWith('revoke'))).toEqual(['revoke 1 in sg-0a']);
  });

  test('leaves it alone where something needs it by then', async () => {
    const { account, id, others } = withTwo();
    account.targetGroups = [target(31_080)];
    await resourceIn(account).delete(id, context, {});
    expect(account.rules).toHaveLength(others.length + 1);
  });

  test('gives it back to who came meanwhile', async () => {
    const { account, id } = withTwo();
    account.meanwhile = () => void (account.targetGroups = [target(31_080)]);
    await resourceIn(account).delete(id, context, {});
    expect(account.rules.map(({ FromPort, Description }) => [FromPort, Description])).toContainEqual([31_080, client(GONE)]);
  });
});
