import type { IpPermission, SecurityGroupRule } from '@aws-sdk/client-ec2';
import { systemClock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import { clientRules, type Demand } from '../../../providers/aws/nodes/client-rules';
import { namesOf, referencedBy } from '../../../providers/aws/nodes/group-references';
import { overLimit, readRule, writeRule, type NodeRule } from '../../../providers/aws/nodes/node-rule';
import { missingRules } from '../../../providers/aws/nodes/node-rules';
import { counts, portsOf, type Users } from '../../../providers/aws/nodes/port-users';
import { isSameOwner, misdescribed, ofOtherChecks, unneeded, unneededMTU, type Keeper } from '../../../providers/aws/nodes/stale-rules';
import type { Api } from '../../../providers/aws/resources/description';
import { resolveGroups } from '../../../providers/aws/resources/named-groups';
import { nodeRules } from '../../../providers/aws/resources/node-rules';
import { TAG } from '../../../providers/aws/tags';
import { foreseen } from '../../../providers/resource-provider/preview';
import type { UpdateContext } from '../../../providers/worker-module';

const SUBNETS = ['10.0.0.0/24', '10.0.1.0/24'];
const DEMAND: Demand = {
  clients: ['0.0.0.0/0'],
  ports: ['tcp/31080'],
  checks: ['tcp/31080'],
  subnets: SUBNETS,
  hidesClients: false,
  pathMTU: false,
};
const NAME = 'a0000000100004000800011111111111';

describe('upstream’s rules for a load balancer without a group', () => {
  test.each([
    ['everybody, who may check too', {}, ['tcp 31080 0.0.0.0/0 client']],
    ['path MTU discovery from where clients are', { pathMTU: true }, ['tcp 31080 0.0.0.0/0 client', 'icmp 3 0.0.0.0/0 mtu']],
    [
      'a range, and checks from the subnets',
      { clients: ['192.0.2.0/24'] },
      ['tcp 31080 192.0.2.0/24 client', 'tcp 31080 10.0.0.0/24 health', 'tcp 31080 10.0.1.0/24 health'],
    ],
    ['a range that is a subnet’s (R-26)', { clients: ['10.0.0.0/24'] }, ['tcp 31080 10.0.0.0/24 client', 'tcp 31080 10.0.1.0/24 health']],
    [
      'UDP, which is checked by TCP',
      { ports: ['udp/31053'], checks: ['tcp/31053'] },
      ['udp 31053 0.0.0.0/0 client', 'tcp 31053 10.0.0.0/24 health', 'tcp 31053 10.0.1.0/24 health'],
    ],
    [
      'a port of its own for checks',
      { checks: ['tcp/10256'] },
      ['tcp 31080 0.0.0.0/0 client', 'tcp 10256 10.0.0.0/24 health', 'tcp 10256 10.0.1.0/24 health'],
    ],
    [
      'clients whose addresses don’t arrive',
      { clients: ['pl-0a'], hidesClients: true },
      ['tcp 31080 pl-0a client', 'tcp 31080 10.0.0.0/24 client', 'tcp 31080 10.0.1.0/24 client'],
    ],
    [
      'everybody by IPv6, who may check too, and those of IPv4, who come with the load balancer’s addresses',
      { family: 'IPv6', clients: ['::/0'], subnets: ['2001:db8::/64'], hidesClients: true, pathMTU: true },
      ['tcp 31080 ::/0 client', 'tcp 31080 2001:db8::/64 client', 'icmpv6 2 ::/0 mtu', 'icmpv6 2 2001:db8::/64 mtu'],
    ],
    [
      'a range of IPv6, and a port of its own for checks',
      { family: 'IPv6', clients: ['2001:db8:1::/48'], subnets: ['2001:db8::/64'], checks: ['tcp/10256'] },
      ['tcp 31080 2001:db8:1::/48 client', 'tcp 10256 2001:db8::/64 health'],
    ],
  ] as [string, Partial<Demand>, string[]][])('%s', (_what, more, expected) => {
    const rules = clientRules({ ...DEMAND, ...more });
    expect(rules.map(({ protocol, from, source, kind }) => `${protocol} ${from} ${source} ${kind}`)).toEqual(expected);
    expect(rules.map(writeRule).map(readRule)).toEqual(rules);
  });
});

test('rules for a load balancer that comes by IPv6 are of its subnets’ IPv6 ranges, those that they have by now', async () => {
  const made: IpPermission[] = [];
  const subnet = (Ipv6CidrBlock: string, State: string): object => ({ Ipv6CidrBlock, Ipv6CidrBlockState: { State } });
  const set = [subnet('2001:db8::/64', 'associated'), subnet('2001:db8:9::/64', 'disassociated')];
  const ec2 = {
    retryPolicy: { clock: systemClock, random: () => 0, budgetMs: 1_000 },
    subnets: () => Promise.resolve([{ CidrBlock: '10.0.0.0/24', Ipv6CidrBlockAssociationSet: set }]),
    securityGroupRules: () => Promise.resolve([]),
    authorize: (_direction: string, input: { IpPermissions: IpPermission[] }) => Promise.resolve(made.push(...input.IpPermissions)),
  };
  const update = { stack: 's', clusterID: 'c', assertValid: () => undefined } as unknown as UpdateContext;
  const resource = nodeRules({ ec2 } as unknown as Api, { nodeGroups: ['sg-0d'], maxRules: 60 }, update);
  const ports = ['tcp/31080'];
  const clients = {
    family: 'IPv6',
    ranges: ['2001:db8:1::/48'],
    ports,
    checks: ports,
    subnetIds: ['subnet-0a'],
    hidesClients: true,
    pathMtu: true,
  };
  await resource.create({ loadBalancer: NAME, clients }, { urn: 'urn', name: 'n', signal: new AbortController().signal });
  const ranges = made.map(({ IpProtocol, FromPort, ToPort, Ipv6Ranges = [] }) => [IpProtocol, FromPort, ToPort, Ipv6Ranges[0]?.CidrIpv6]);
  expect(ranges).toEqual([
    ['tcp', 31_080, 31_080, '2001:db8:1::/48'],
    ['tcp', 31_080, 31_080, '2001:db8::/64'],
    ['icmpv6', 2, 0, '2001:db8:1::/48'],
    ['icmpv6', 2, 0, '2001:db8::/64'],
  ]);
});

/** A rule as AWS gives it, of a text such as `tcp 31080:31080 0.0.0.0/0 client`. */
function there(text: string, more: Partial<SecurityGroupRule> = {}): SecurityGroupRule {
  const { protocol, from, to, source, kind } = readRule(text);
  const from_ = source.startsWith('sg-')
    ? { ReferencedGroupInfo: { GroupId: source } }
    : source.includes(':')
      ? { CidrIpv6: source }
      : { CidrIpv4: source };
  const Description = kind === 'mtu' ? 'kubernetes.io/rule/nlb/mtu' : `kubernetes.io/rule/nlb/${kind}=${NAME}`;
  return { GroupId: 'sg-0d', IpProtocol: protocol, FromPort: from, ToPort: to, Description, ...from_, ...more };
}

const tagged = { Tags: [{ Key: TAG.clusterID, Value: 'c' }] };
const keeper = (wanted: string[], more: Partial<Keeper> = {}): Keeper => ({
  clusterID: 'c',
  loadBalancer: NAME,
  groups: ['sg-0d'],
  wanted: wanted.map(readRule),
  ...more,
});

describe('rules that are there', () => {
  const CLIENT = 'tcp 31080:31080 192.0.2.0/24 client';
  const CHECK = 'tcp 31080:31080 10.0.0.0/24 health';

  test('what is missing is told by protocol, ports and source, whatever the words', () => {
    const wanted = [CLIENT, CHECK].map(readRule);
    expect(missingRules([there(CLIENT, { Description: 'mine' }), there(CHECK, { IsEgress: true })], wanted)).toEqual([readRule(CHECK)]);
    const all: NodeRule = { protocol: '-1', from: -1, to: -1, source: 'sg-0e', kind: 'group' };
    expect(missingRules([there('-1 0:0 sg-0e group')], [all])).toEqual([]);
  });

  test.each([
    ['its own that it does not need', [there(CLIENT), there(CHECK)], keeper([CHECK]), [CLIENT]],
    [
      'those of an earlier generation',
      [there(CLIENT, { Description: `kubernetes.io/rule/nlb/client=${NAME.slice(0, 29)}-g1` })],
      keeper([]),
      [CLIENT],
    ],
    ['none of another one', [there(CLIENT, { Description: 'kubernetes.io/rule/nlb/client=b' })], keeper([]), []],
    ['none that people wrote', [there(CLIENT, { Description: 'mine' })], keeper([]), []],
    ['a group’s that we made', [there('tcp 80:80 sg-0e group', tagged)], keeper([], { group: 'sg-0e' }), ['tcp 80:80 sg-0e group']],
    [
      'upstream’s of a group that was made for it',
      [there('-1 -1:-1 sg-0e group')],
      keeper([], { group: 'sg-0e', isMade: true }),
      ['-1 -1:-1 sg-0e group'],
    ],
    [
      'not those by which people let in all traffic of a group that it names',
      [there('-1 -1:-1 sg-0e group')],
      keeper([], { group: 'sg-0e' }),
      [],
    ],
    [
      'not that by which the Nodes’ own group lets itself in',
      [there('-1 -1:-1 sg-0d group')],
      keeper([], { group: 'sg-0d', isMade: true }),
      [],
    ],
    [
      'a group’s that we made, where that is the Nodes’ own',
      [there('-1 -1:-1 sg-0d group', tagged)],
      keeper([], { group: 'sg-0d' }),
      ['-1 -1:-1 sg-0d group'],
    ],
    ['not those by which people let a group in', [there('tcp 80:80 sg-0e group')], keeper([], { group: 'sg-0e' }), []],
  ] as [string, SecurityGroupRule[], Keeper, string[]][])('unneeded: %s', (_what, rules, of, expected) => {
    const found = unneeded(rules, of).map(({ IpProtocol, FromPort, ToPort, CidrIpv4, ReferencedGroupInfo }) => {
      return `${IpProtocol} ${FromPort}:${ToPort} ${CidrIpv4 ?? ReferencedGroupInfo?.GroupId}`;
    });
    expect(found).toEqual(expected.map((text) => text.split(' ').slice(0, 3).join(' ')));
  });

  test('ICMP goes with the last client of its range in the same group', () => {
    const mtu = there('icmp 3:4 192.0.2.0/24 mtu');
    expect(unneededMTU([mtu, there(CLIENT)])).toEqual([]);
    expect(unneededMTU([mtu, there(CLIENT, { GroupId: 'sg-0f' })])).toEqual([mtu]);
    expect(unneededMTU([mtu, there('tcp 31080:31080 192.0.2.0/24 health')])).toEqual([mtu]);
  });

  test('a rule that is needed for something else is described anew; checks that others began are known by our mark', () => {
    const rule = there(CLIENT);
    const check = readRule('tcp 31080:31080 192.0.2.0/24 health');
    expect(misdescribed([rule], { ...keeper([]), wanted: [check] })).toEqual([{ rule, wanted: check }]);
    expect(misdescribed([rule], keeper([CLIENT]))).toEqual([]);
    const others = there(CHECK, { Description: 'kubernetes.io/rule/nlb/health=b', ...tagged });
    expect(ofOtherChecks([others, there(CHECK, tagged), { ...others, Tags: [] }], keeper([]))).toEqual([others]);
  });

  test('the limit holds for each family; a group counts for both', () => {
    const [v4, v6, group] = ['tcp 1:1 192.0.2.0/24 client', 'tcp 1:1 2001:db8::/32 client', 'tcp 1:1 sg-0e group'].map((text) => text);
    const has = [there(v4!), there(v6!), there(group!), there(v4!, { IsEgress: true })];
    expect(overLimit(has, [readRule('tcp 2:2 192.0.2.0/24 client')], 3)).toBeUndefined();
    expect(overLimit(has, [readRule('tcp 2:2 192.0.2.0/24 client')], 2)).toEqual({ has: 2, more: 1, limit: 2 });
    expect(overLimit(has, [readRule('tcp 2:2 2001:db8::/32 client')], 2)).toEqual({ has: 2, more: 1, limit: 2 });
    expect(overLimit(has, [], 1)).toBeUndefined();
  });
});

test.each([
  ['the same name', NAME, NAME, true],
  ['another generation', NAME, `${NAME.slice(0, 29)}-g2`, true],
  ['another Service', NAME, NAME.replace('1', '2'), false],
  ['a name that somebody chose', 'web', 'web-2', false],
])('one owner: %s', (_what, one, other, expected) => {
  expect(isSameOwner(one, other)).toBe(expected);
});

test.each([
  ['TCP, checked where traffic goes', { Port: 80, Protocol: 'TCP' as const }, ['tcp/80']],
  ['UDP', { Port: 53, Protocol: 'UDP' as const }, ['udp/53', 'tcp/53']],
  ['both, with a port for checks', { Port: 53, Protocol: 'TCP_UDP' as const, HealthCheckPort: '10256' }, ['tcp/53', 'udp/53', 'tcp/10256']],
])('ports of a target group: %s', (_what, group, expected) => {
  expect(portsOf(group)).toEqual(expected);
});

test.each<[string, Record<string, string>, Partial<Users> & { behind?: string[] }, boolean]>([
  ['the cluster’s', { [TAG.clusterID]: 'c' }, {}, true],
  ['another cluster’s', { [TAG.clusterID]: 'd' }, {}, false],
  ['what was released to nobody', { [TAG.clusterID]: 'c', [TAG.released]: 'true' }, {}, true],
  ['its owner’s own', { [TAG.clusterID]: 'c', [TAG.ownerUID]: 'u' }, { except: { ownerUID: 'u' } }, false],
  ['another owner’s', { [TAG.clusterID]: 'c', [TAG.ownerUID]: 'v' }, { except: { ownerUID: 'u' } }, true],
  [
    'behind the shared one alone',
    { [TAG.clusterID]: 'c', [TAG.ownerUID]: 'v' },
    { behind: ['arn'], except: { loadBalancerArn: 'arn' } },
    false,
  ],
  ['behind another one too', { [TAG.clusterID]: 'c' }, { behind: ['arn', 'arn-2'], except: { loadBalancerArn: 'arn' } }, true],
  ['behind none yet', { [TAG.clusterID]: 'c' }, { except: { loadBalancerArn: 'arn' } }, true],
  ['of cloud-provider-aws, not taken over yet', { 'kubernetes.io/cluster/prod': 'owned' }, {}, true],
  ['of the AWS Load Balancer Controller', { 'elbv2.k8s.aws/cluster': 'prod' }, {}, true],
  ['of another cluster’s controller', { 'kubernetes.io/cluster/other': 'owned' }, {}, false],
  ['where the cluster has no name', { 'kubernetes.io/cluster/prod': 'owned' }, { clusterName: undefined }, false],
])('who needs a port: %s', (_what, tags, { behind = [], ...more }, expected) => {
  expect(counts(tags, behind, { clusterID: 'c', clusterName: 'prod', ...more })).toBe(expected);
});

test('groups whose rules name another one are told once each, without itself', () => {
  const [app, own, db] = [
    { GroupId: 'sg-0b', GroupName: 'app' },
    { GroupId: 'sg-0a', GroupName: 'own' },
    { GroupId: 'sg-0c', GroupName: 'db' },
  ];
  expect(namesOf([app, own, app, db], 'sg-0a')).toEqual(['sg-0b (app)', 'sg-0c (db)']);
  expect(referencedBy([])).toBeUndefined();
  expect(referencedBy(['sg-0b (app)'])?.why).toBe('a rule of security group sg-0b (app) names it');
  expect(referencedBy(['sg-0b (app)', 'sg-0c (db)'])?.why).toBe('rules of security groups sg-0b (app), sg-0c (db) name it');
});

describe('groups by name', () => {
  const FOUND = [
    { id: 'sg-0b', name: 'web' },
    { id: 'sg-0c', name: 'twice' },
    { id: 'sg-0a', name: 'twice' },
  ];

  test('ids and names become ids, in their order and each once', () => {
    expect(resolveGroups(['sg-0f', 'web', 'sg-0b'], FOUND, 'vpc-1')).toEqual({ ids: ['sg-0f', 'sg-0b'] });
  });

  test.each([
    ['nobody’s', ['web', 'shop'], /no security group with the tag Name "shop" in vpc-1\. .*id\.$/],
    ['two groups’', ['twice'], /^sg-0a and sg-0c both have the tag Name "twice"/],
  ] as [string, string[], RegExp][])('a name that is %s is told', (_what, named, message) => {
    expect(resolveGroups(named, FOUND, 'vpc-1')).toEqual({ problem: expect.stringMatching(message) as string });
  });
});

describe('rules of a load balancer in a plan', () => {
  const context = { urn: 'urn:x', name: 'x', signal: new AbortController().signal };
  const update: UpdateContext = { stack: 's', clusterID: 'c', countCall: () => undefined, assertValid: () => undefined };
  const retryPolicy = { clock: systemClock, random: () => 0, budgetMs: 0 };
  const ec2 = { retryPolicy, subnets: () => Promise.resolve(SUBNETS.map((CidrBlock) => ({ CidrBlock }))) };
  const type = nodeRules({ ec2 } as unknown as Parameters<typeof nodeRules>[0], { nodeGroups: [], maxRules: 60 }, update);
  const before = { loadBalancer: NAME, rules: ['tcp 31999:31999 0.0.0.0/0 client'] };
  const clientsOf = (...ports: string[]): JsonObject => ({
    ...{ ranges: ['192.0.2.0/24'], ports, checks: [], subnetIds: ['subnet-0a'], hidesClients: false, pathMtu: false },
  });

  test.each<[string, JsonObject, string[]]>([
    ['for its clients', { clients: clientsOf('tcp/31080') }, ['tcp 31080:31080 192.0.2.0/24 client']],
    ['for its group', { group: 'sg-0e', ports: ['tcp/31080'] }, ['icmp 3:4 sg-0e group', 'tcp 31080:31080 sg-0e group']],
  ])('are those of the update, and not of before: %s', async (_what, more, rules) => {
    const inputs = { loadBalancer: NAME, ...more };
    const planned = await foreseen({ inputs, olds: { ...before, ...more } }, type, context);
    expect(planned).toEqual({ ...inputs, rules });
    expect((await type.update('x', before, inputs, context)).outputs).toEqual(planned);
  });

  test('are nobody’s to know before its group is there', async () => {
    const inputs = { loadBalancer: NAME, group: '04da6b54-80e4-46f7-96ec-b56ff0331ba9' };
    expect(await foreseen({ inputs, olds: before }, type, context)).toMatchObject({ rules: '04da6b54-80e4-46f7-96ec-b56ff0331ba9' });
  });
});
