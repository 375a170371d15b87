import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { NAMED_GROUPS } from '../../../providers/aws/resources/named-groups';
import { NODE_RULES } from '../../../providers/aws/resources/node-rules';
import { NodeGroups } from '../../../providers/aws/nodes/node-groups';
import { OpenedMembers } from '../../../providers/aws/members/opened-members';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import { cloudName } from '../../../providers/aws/load-balancers/names';
import type { LoadBalancerScope } from '../../../providers/aws/scope';
import { discoverLeftRules, leftRule } from '../../../providers/aws/resources/left-rule';
import type { LoadBalancerInput, TargetGroup } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { alwaysRules } from '../../harness/aws-model/rules';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import type { ProgramRunner } from '../../harness/program-runner';
import { CLUSTER, Scene } from './model-scene';
import { MotoAccount, REGION } from './moto-account';

const HTTP = { name: 'http', port: 80, nodePort: 31_080 };
const ANYBODY = '0.0.0.0/0';
/** The CIDRs of the account's subnets. */
const [ONE, TWO] = ['10.0.0.0/24', '10.0.1.0/24'];

describeWithMoto('rules for each Service in the Nodes’ security group, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let scene: Scene;
  let nodes: string;
  let serial = 0;
  /** Done once, before AWS gets to revoke anything. */
  let beforeRevoke: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    const meanwhile = async ({ action }: { action: string }): Promise<undefined> => {
      const work = action === 'RevokeSecurityGroupIngress' ? beforeRevoke : undefined;
      if (work !== undefined) beforeRevoke = undefined;
      await work?.();
    };
    const model = new AwsModel(moto.url, REGION, [...alwaysRules(), { before: meanwhile }]);
    await model.start();
    scene = new Scene(model);
  }, 120_000);
  beforeEach(async () => {
    nodes = await account.nodeGroup();
  });
  afterAll(async () => {
    await scene.end();
    account.close();
    await moto.stop();
  });

  interface Standing {
    of: LoadBalancerInput;
    stack: string;
    run: ProgramRunner;
    groups: () => TargetGroup[];
    /** Brings it to another spec, with what is there of another generation. */
    change(more: Partial<CloudLoadBalancerSpecInput>, also?: Partial<LoadBalancerInput>): Promise<void>;
  }

  function scopeOf(nodeRules: LoadBalancerScope['nodeRules'], more: Partial<LoadBalancerScope> = {}): LoadBalancerScope {
    const { vpcID, subnetIDs } = account;
    return { clusterID: CLUSTER, clusterName: 'prod', legacyClusterTag: false, vpcID, subnetIDs, nodeRules, ...more };
  }

  const scopeNamed = (nodeRules: LoadBalancerScope['nodeRules']) => (): LoadBalancerScope => scopeOf(nodeRules);

  async function standing(
    more: Partial<CloudLoadBalancerSpecInput> = {},
    scope = scopeOf('PerService'),
    nodeGroups = [nodes],
  ): Promise<Standing> {
    const number = String(++serial).padStart(8, '0');
    const loadBalancers = new AwsLoadBalancers(scope);
    const specOf = (changed: Partial<CloudLoadBalancerSpecInput>) =>
      cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], aws: {}, ...changed });
    const of: LoadBalancerInput = {
      uid: `${number}-0000-4000-8000-555555555555`,
      ownerUID: `${number}-0000-4000-8000-777777777777`,
      namespace: 'shop',
      name: `web-${serial}`,
      spec: specOf(more),
    };
    const stack = `rules-${serial}`;
    const run = scene.runner(stack, nodeGroups);
    let outputs = await run.up(loadBalancers.render(stack, [of]));
    const change: Standing['change'] = async (changed, also = {}) => {
      // Whatever changes, an approved plan can be carried out.
      outputs = await run.upAsPlanned(loadBalancers.render(stack, [{ ...of, spec: specOf(changed), ...also }]));
    };
    const groups = (): TargetGroup[] => loadBalancers.results(outputs, of.uid)?.targetGroups ?? [];
    return { of, stack, run, groups, change };
  }

  /** What a group lets in, such as `tcp 80-80 10.0.0.0/24 client=a0`; descriptions of upstream's are shortened. */
  async function rulesOf(group = nodes): Promise<string[]> {
    const { SecurityGroupRules = [] } = await scene.ec2.describeSecurityGroupRules({ Filters: [{ Name: 'group-id', Values: [group] }] });
    return SecurityGroupRules.filter(({ IsEgress }) => IsEgress !== true)
      .map(({ IpProtocol, FromPort, ToPort, CidrIpv4, CidrIpv6, ReferencedGroupInfo, Description = '' }) => {
        const source = CidrIpv4 ?? CidrIpv6 ?? ReferencedGroupInfo?.GroupId;
        return `${IpProtocol} ${FromPort}-${ToPort} ${source} ${Description.replace('kubernetes.io/rule/nlb/', '')}`;
      })
      .sort();
  }

  const nameOf = ({ of }: Standing): string => `a${of.ownerUID.replaceAll('-', '')}`.slice(0, 32);

  test('upstream’s rules: clients, their ICMP, and no checks where everybody may come; a second update makes no call; nothing is left', async () => {
    const web = await standing();
    expect(await rulesOf()).toEqual([`icmp 3-4 ${ANYBODY} mtu`, `tcp 31080-31080 ${ANYBODY} client=${nameOf(web)}`]);
    const [balancer] = (await account.loadBalancers()).filter(({ LoadBalancerName }) => LoadBalancerName === nameOf(web));
    expect(balancer?.SecurityGroups ?? []).toEqual([]);
    scene.model.calls.length = 0;
    await web.change({});
    expect(scene.model.calls).toEqual([]);
    const other = await standing({ listeners: [{ ...HTTP, nodePort: 31_081 }] });
    await web.run.destroy();
    expect(await rulesOf()).toEqual([`icmp 3-4 ${ANYBODY} mtu`, `tcp 31081-31081 ${ANYBODY} client=${nameOf(other)}`]);
    await other.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('a load balancer whose own group is not to be let in any more can still be deleted: no rule is left that speaks of its group', async () => {
    const web = await standing({ aws: { securityGroups: { mode: 'Managed' } } });
    expect(await rulesOf()).not.toEqual([]);
    await web.change({ aws: { securityGroups: { mode: 'Managed', backendRules: 'None' } } });
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('R-24: somebody else’s group with a rule that names the load balancer’s group is named; when that rule is gone, the deletion goes on', async () => {
    const web = await standing({}, scopeOf('Shared'));
    const isGroup = ({ type }: { type: string }): boolean => type === 'aws:ec2/securityGroup:SecurityGroup';
    const frontend = web.run.checkpoint().find(isGroup)?.id ?? '';
    const { GroupId = '' } = await scene.ec2.createSecurityGroup({ GroupName: 'app', Description: 'app', VpcId: account.vpcID });
    const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 8080, ToPort: 8080, UserIdGroupPairs: [{ GroupId: frontend }] }];
    await scene.ec2.authorizeSecurityGroupIngress({ GroupId, IpPermissions });
    const words = `${frontend} can't be deleted yet, because a rule of security group ${GroupId} (app) names it`;
    await expect(web.run.destroy()).rejects.toMatchObject({ code: 'Conflict', message: expect.stringContaining(words) as string });
    await scene.ec2.revokeSecurityGroupIngress({ GroupId, IpPermissions });
    await web.run.destroy();
    expect((await account.content()).securityGroups).toBe(1);
    await scene.ec2.deleteSecurityGroup({ GroupId });
    expect(await rulesOf()).toEqual([]);
  });

  test('a source range that is a subnet’s is one rule, for clients and checks (R-26)', async () => {
    const web = await standing({ sourceRanges: [ONE] });
    const name = nameOf(web);
    expect(await rulesOf()).toEqual([
      `icmp 3-4 ${ONE} mtu`,
      `tcp 31080-31080 ${ONE} client=${name}`,
      `tcp 31080-31080 ${TWO} health=${name}`,
    ]);
    await web.change({ sourceRanges: ['198.51.100.0/24'] });
    expect(await rulesOf()).toEqual([
      'icmp 3-4 198.51.100.0/24 mtu',
      `tcp 31080-31080 ${ONE} health=${name}`,
      `tcp 31080-31080 ${TWO} health=${name}`,
      `tcp 31080-31080 198.51.100.0/24 client=${name}`,
    ]);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('rules that somebody else made stay, also one that stands in the place of ours; what upstream made for the load balancer goes', async () => {
    const mine = { IpProtocol: 'tcp', FromPort: 31_080, ToPort: 31_080, IpRanges: [{ CidrIp: ANYBODY, Description: 'mine' }] };
    const upstream = { ...mine, FromPort: 31_999, ToPort: 31_999 };
    await scene.ec2.authorizeSecurityGroupIngress({ GroupId: nodes, IpPermissions: [mine] });
    const web = await standing();
    const Description = `kubernetes.io/rule/nlb/client=${nameOf(web)}`;
    const IpPermissions = [{ ...upstream, IpRanges: [{ CidrIp: ANYBODY, Description }] }];
    await scene.ec2.authorizeSecurityGroupIngress({ GroupId: nodes, IpPermissions });
    await web.run.destroy();
    expect(await rulesOf()).toEqual([`tcp 31080-31080 ${ANYBODY} mine`]);
  });

  test('checks of one port for all are one rule, which the last load balancer takes along', async () => {
    const scope = scopeOf('PerService', { healthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } });
    const [a, b] = [await standing({}, scope), await standing({ listeners: [{ ...HTTP, nodePort: 31_082 }] }, scope)];
    const checks = [ONE, TWO].map((range) => `tcp 10256-10256 ${range} health=${nameOf(a)}`);
    expect((await rulesOf()).filter((rule) => rule.startsWith('tcp 10256'))).toEqual(checks);
    await a.run.destroy();
    expect(await rulesOf()).toEqual([`icmp 3-4 ${ANYBODY} mtu`, ...checks, `tcp 31082-31082 ${ANYBODY} client=${nameOf(b)}`]);
    await b.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('a Service of IPv6 alone: clients by IPv6, and those of IPv4 from the subnets; nothing is left', async () => {
    await account.addIPv6();
    const web = await standing({ ipFamilies: ['IPv6'] });
    const client = `client=${nameOf(web)}`;
    const sources = ['::/0', ...account.subnetIDs.map((_id, index) => `2001:db8:${index}::/64`)];
    const expected = sources.flatMap((source) => [`icmpv6 2-0 ${source} mtu`, `tcp 31080-31080 ${source} ${client}`]);
    expect(await rulesOf()).toEqual(expected.sort());
    scene.model.calls.length = 0;
    await web.change({ ipFamilies: ['IPv6'] });
    expect(scene.model.calls).toEqual([]);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('rules of a load balancer that was deleted by hand are found, and the deletion takes them alone', async () => {
    const [web, other] = [await standing(), await standing({ listeners: [{ ...HTTP, nodePort: 31_081 }] })];
    await account.letEverybodyIn(nodes, 31_998, 'mine');
    const lost = cloudName('0f0f0f0f-0000-4000-8000-777777777777');
    await account.letEverybodyIn(nodes, 31_997, `kubernetes.io/rule/nlb/client=${lost}`);
    const api = { ...scene.clients, options: {} };
    const place = { clusterID: CLUSTER, clusterName: 'prod' };
    const found = async (of: string): Promise<string[]> => {
      const left = [...(await discoverLeftRules(api, place))].filter(([stack]) => stack.startsWith(`aws-rules-${of}`));
      return left.flatMap(([, resources]) => resources.map(({ id }) => id));
    };
    expect(await found(nameOf(web))).toEqual([]);
    const byName = ({ LoadBalancerName }: LoadBalancer): boolean => LoadBalancerName === nameOf(web);
    const LoadBalancerArn = (await account.loadBalancers()).find(byName)?.LoadBalancerArn;
    await scene.elb.deleteLoadBalancer({ LoadBalancerArn });
    const before = await rulesOf();
    expect(await found(nameOf(web))).toEqual([]);
    for (const { id } of web.groups()) await scene.elb.deleteTargetGroup({ TargetGroupArn: id });
    const [left, upstreams] = [await found(nameOf(web)), await found(lost)];
    expect([left.length, upstreams.length, await rulesOf()]).toEqual([1, 1, before]);
    const update = { stack: 'left', clusterID: CLUSTER, assertValid: () => undefined } as unknown as UpdateContext;
    const resource = leftRule(scene.clients, { clusterName: 'prod', maxRules: 60 }, update);
    const context = { urn: 'urn', name: 'left', signal: new AbortController().signal };
    for (const id of [...left, ...upstreams]) await resource.delete(id, context, {});
    const kept = [`icmp 3-4 ${ANYBODY} mtu`, `tcp 31081-31081 ${ANYBODY} client=${nameOf(other)}`, `tcp 31998-31998 ${ANYBODY} mine`];
    expect(await rulesOf()).toEqual(kept);
    await other.run.destroy();
    expect(await rulesOf()).toEqual([`tcp 31998-31998 ${ANYBODY} mine`]);
  });

  test('what another load balancer came to need while it was revoked is given back: a check of a common port, and a group’s ports', async () => {
    const scope = scopeOf('PerService', { healthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } });
    const checks = async (): Promise<number> => (await rulesOf()).filter((rule) => rule.startsWith('tcp 10256')).length;
    const first = await standing({}, scope);
    const others: Standing[] = [];
    beforeRevoke = async () => void others.push(await standing({ listeners: [{ ...HTTP, nodePort: 31_083 }] }, scope));
    await first.run.destroy();
    expect([await checks(), others]).toEqual([2, [expect.anything()]]);
    await others.pop()?.run.destroy();
    expect(await rulesOf()).toEqual([]);

    const { GroupId = '' } = await scene.ec2.createSecurityGroup({ GroupName: 'together', Description: 'web', VpcId: account.vpcID });
    const named = { aws: { securityGroups: { groups: [GroupId] } } };
    const one = await standing(named, scopeOf('Shared'));
    const ports = await account.rulesFrom(GroupId, nodes);
    beforeRevoke = async () => void others.push(await standing(named, scopeOf('Shared')));
    await one.run.destroy();
    expect(await account.rulesFrom(GroupId, nodes)).toEqual(ports);
    await others.pop()?.run.destroy();
    expect(await account.rulesFrom(GroupId, nodes)).toEqual([]);
    await scene.ec2.deleteSecurityGroup({ GroupId });
  });

  test('a check that a load balancer of upstream’s needs, which is not taken over yet, stays', async () => {
    const scope = scopeOf('PerService', { healthProbe: { mode: 'Shared', port: 10_256, path: '/healthz' } });
    const group = { Name: 'k8s-shop-old', Port: 31_099, Protocol: 'TCP' as const, TargetType: 'instance' as const, VpcId: account.vpcID };
    const check = { HealthCheckPort: '10256', HealthCheckProtocol: 'HTTP' as const };
    const Tags = [{ Key: 'kubernetes.io/cluster/prod', Value: 'owned' }];
    const { TargetGroups: [old] = [] } = await scene.elb.createTargetGroup({ ...group, ...check, Tags });
    const web = await standing({}, scope);
    await web.run.destroy();
    expect((await rulesOf()).map((rule) => rule.split(' ').slice(0, 2).join(' '))).toEqual(['tcp 10256-10256', 'tcp 10256-10256']);
    await scene.elb.deleteTargetGroup({ TargetGroupArn: old?.TargetGroupArn });
    await (await standing({}, scope)).run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('of those that share a load balancer with a named group, one that leaves takes its port along', async () => {
    const { GroupId = '' } = await scene.ec2.createSecurityGroup({ GroupName: 'edge', Description: 'edge', VpcId: account.vpcID });
    const loadBalancers = new AwsLoadBalancers(scopeOf('PerService'));
    const member = (port: number, nodePort: number): LoadBalancerInput => {
      const aws = { securityGroups: { groups: [GroupId] } };
      const listeners = [{ name: 'http', port, nodePort }];
      const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', placement: { name: 'edge' }, listeners, aws });
      return { uid: `clb-${port}`, ownerUID: `0000${nodePort}-0000-4000-8000-888888888888`, namespace: 'shop', name: `web-${port}`, spec };
    };
    const [a, b] = [member(80, 31_091), member(81, 31_092)];
    const run = scene.runner('edge', [nodes]);
    await run.up(loadBalancers.render('edge', [a, b]));
    expect(await account.rulesFrom(GroupId, nodes)).toEqual(['icmp 3-4', 'tcp 31091-31091', 'tcp 31092-31092']);
    await run.up(loadBalancers.render('edge', [a]));
    expect(await account.rulesFrom(GroupId, nodes)).toEqual(['icmp 3-4', 'tcp 31091-31091']);
    await run.destroy();
    expect(await account.rulesFrom(GroupId, nodes)).toEqual([]);
    await scene.ec2.deleteSecurityGroup({ GroupId });
  });

  test('a replacement keeps the rules that both need, and drops the old one’s with it', async () => {
    const web = await standing({ sourceRanges: ['192.0.2.0/24'] });
    const next = { sourceRanges: ['198.51.100.0/24'], scheme: 'Internal' as const };
    await web.change(next, { generation: 1, retiring: { input: web.of } });
    const both = (await rulesOf()).filter((rule) => rule.startsWith('tcp')).map((rule) => rule.split(' ')[2]);
    expect(both.sort()).toEqual([ONE, TWO, '192.0.2.0/24', '198.51.100.0/24'].sort());
    await web.change(next, { generation: 1 });
    const left = (await rulesOf()).map((rule) => rule.split(' ').slice(0, 3).join(' '));
    expect(left).toEqual([
      'icmp 3-4 198.51.100.0/24',
      `tcp 31080-31080 ${ONE}`,
      `tcp 31080-31080 ${TWO}`,
      'tcp 31080-31080 198.51.100.0/24',
    ]);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test.each([
    ['the backend group', scopeNamed('Shared'), {}],
    ['a group of its own', scopeNamed('PerService'), { securityGroups: { mode: 'Managed' as const } }],
    ['nobody but by hand', scopeNamed('PerService'), { securityGroups: { mode: 'Managed' as const, backendRules: 'None' as const } }],
  ])('a load balancer without a group that is replaced by one that %s lets in leaves no rule for its clients', async (_what, next, aws) => {
    const ungrouped = { aws: { securityGroups: { mode: 'None' as const } } };
    const web = await standing(ungrouped, next());
    const open = `tcp 31080-31080 ${ANYBODY} client=${nameOf(web)}`;
    expect(await rulesOf()).toContain(open);
    await web.change({ aws }, { generation: 1, retiring: { input: web.of } });
    expect(await rulesOf()).toContain(open);
    await web.change({ aws }, { generation: 1 });
    expect((await rulesOf()).filter((rule) => rule.includes(ANYBODY))).toEqual([]);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('one with an address that exists once is deleted before it is made again with a group, and leaves no rule for its clients', async () => {
    const found = await scene.clients.ec2.subnets([{ Name: 'subnet-id', Values: account.subnetIDs }]);
    const privateIPv4Addresses = found.map(({ CidrBlock = '' }) => CidrBlock.replace('.0/24', '.9'));
    const aws = { subnets: found.map(({ SubnetId = '' }) => SubnetId), privateIPv4Addresses };
    for (const scope of [scopeOf('Shared'), scopeOf('PerService', { networkSecurityGroups: 'Managed' })]) {
      const web = await standing({ scheme: 'Internal', aws: { ...aws, securityGroups: { mode: 'None' } } }, scope);
      expect(await rulesOf()).toContain(`tcp 31080-31080 ${ANYBODY} client=${nameOf(web)}`);
      await web.change({ scheme: 'Internal', aws });
      const [balancer] = (await account.loadBalancers()).filter(({ LoadBalancerName }) => LoadBalancerName === nameOf(web));
      expect(balancer?.SecurityGroups).not.toEqual([]);
      expect((await rulesOf()).filter((rule) => rule.includes(ANYBODY))).toEqual([]);
      await web.run.destroy();
      expect(await rulesOf()).toEqual([]);
    }
  });

  test('of those that share a load balancer without a group, one that is replaced leaves no rule for its clients', async () => {
    const shared = { placement: { name: 'edge' }, aws: { securityGroups: { mode: 'None' as const } } };
    const web = await standing(shared, scopeOf('Shared'));
    expect(await rulesOf()).toContain(`tcp 31080-31080 ${ANYBODY} client=${nameOf(web)}`);
    await web.change({ ...shared, aws: {} }, { generation: 1, retiring: { input: web.of } });
    await web.change({ ...shared, aws: {} }, { generation: 1 });
    expect((await rulesOf()).filter((rule) => rule.includes(ANYBODY))).toEqual([]);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('a load balancer without a group that is to be let in by hand from now on takes its rules along, and gets them again', async () => {
    const web = await standing();
    const open = `tcp 31080-31080 ${ANYBODY} client=${nameOf(web)}`;
    expect(await rulesOf()).toContain(open);
    await web.change({ aws: { securityGroups: { backendRules: 'None' } } });
    expect(await rulesOf()).toEqual([]);
    await web.change({});
    expect(await rulesOf()).toContain(open);
    await web.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('a group of Nodes that is new gets the rules before its Node is a target, and the group’s limit is told before a call', async () => {
    const web = await standing({ listeners: [HTTP, { name: 'dns', protocol: 'UDP', port: 53, nodePort: 31_053 }] }, undefined, []);
    expect(await rulesOf()).toEqual([]);
    const machines = { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4' as const] };
    const groups = new NodeGroups(scene.clients.ec2, machines);
    const open = { ec2: scene.clients.ec2, groups, clusterID: CLUSTER, maxRules: 60, shared: false };
    const members = new OpenedMembers(scene.members(), open);
    const targets = await account.makeInstances(1, 'prod', nodes);
    const [http, dns] = web.groups().map((group) => ({ ...group, stack: web.stack }));
    await members.sync(http!, targets, () => true);
    const client = `client=${nameOf(web)}`;
    const ofFirst = http!.port === 31_080 ? [`tcp 31080-31080 ${ANYBODY} ${client}`] : [`udp 31053-31053 ${ANYBODY} ${client}`];
    expect(await rulesOf()).toEqual(expect.arrayContaining([...ofFirst, `icmp 3-4 ${ANYBODY} mtu`]));
    await members.sync(dns!, targets, () => true);
    expect(await rulesOf()).toEqual([
      `icmp 3-4 ${ANYBODY} mtu`,
      `tcp 31053-31053 ${ONE} health=${nameOf(web)}`,
      `tcp 31053-31053 ${TWO} health=${nameOf(web)}`,
      `tcp 31080-31080 ${ANYBODY} ${client}`,
      `udp 31053-31053 ${ANYBODY} ${client}`,
    ]);

    await account.fill(nodes, 54);
    scene.model.calls.length = 0;
    const ports = ['tcp/31090', 'tcp/31091'];
    const clients = { ranges: [ANYBODY], ports, checks: ports, subnetIds: account.subnetIDs, hidesClients: false, pathMtu: true };
    const { type, context } = scene.runner('full', [nodes], 60).resource(NODE_RULES, 'full-nodes');
    const full = type.create({ loadBalancer: 'full', clients }, context);
    const figures = `${nodes} has 59 inbound rules, and 2 more don't fit: the limit is 60`;
    await expect(full).rejects.toMatchObject({ code: 'Quota', message: expect.stringContaining(figures) as string });
    expect(scene.model.calls.map(({ action }) => action)).not.toContain('AuthorizeSecurityGroupIngress');
    await web.run.destroy();
    expect((await rulesOf()).filter((rule) => !rule.includes('192.0.2.0/24'))).toEqual([]);
  });

  test('a load balancer without a group under nodeRules: Shared has rules of its own; named groups are let in, by id or by name', async () => {
    const none = await standing({ aws: { securityGroups: { mode: 'None' } } }, scopeOf('Shared'));
    expect(await rulesOf()).toContain(`tcp 31080-31080 ${ANYBODY} client=${nameOf(none)}`);
    await none.run.destroy();
    expect(await rulesOf()).toEqual([]);

    const { GroupId = '' } = await scene.ec2.createSecurityGroup({ GroupName: 'web', Description: 'web', VpcId: account.vpcID });
    const named = { aws: { securityGroups: { groups: ['web'] } } };
    const lookUp = (): Promise<{ outputs: JsonObject }> => {
      const { type, context } = scene.runner('named').resource(NAMED_GROUPS, 'named-groups');
      return type.create({ vpcId: account.vpcID, named: ['web'] }, context);
    };
    await expect(lookUp()).rejects.toMatchObject({ code: 'Invalid', message: expect.stringContaining('tag Name "web"') as string });
    await account.tag(GroupId, 'Name', 'web');
    const [a, b] = [
      await standing(named, scopeOf('Shared')),
      await standing({ aws: { securityGroups: { groups: [GroupId] } } }, scopeOf('Shared')),
    ];
    const shared = ['icmp 3-4', 'tcp 30000-32767', 'udp 30000-32767'];
    expect(await account.rulesFrom(GroupId, nodes)).toEqual(shared);
    await a.run.destroy();
    expect(await account.rulesFrom(GroupId, nodes)).toEqual(shared);
    await b.run.destroy();
    expect(await account.rulesFrom(GroupId, nodes)).toEqual([]);
    await scene.ec2.deleteSecurityGroup({ GroupId });
  });

  /** A group of Nodes lets in all traffic from a group, as a person has written it. */
  async function letIn(GroupId: string): Promise<string> {
    const IpPermissions = [{ IpProtocol: '-1', UserIdGroupPairs: [{ GroupId }] }];
    await scene.ec2.authorizeSecurityGroupIngress({ GroupId: nodes, IpPermissions });
    return `-1 ${GroupId}`;
  }

  /** Protocols and sources alone. */
  const sourcesOf = async (): Promise<string[]> => (await rulesOf()).map((rule) => rule.replace(/^(\S+) \S+ (\S+).*/, '$1 $2'));

  test.each([
    ['a Network one under nodeRules: Shared', scopeNamed('Shared'), {}],
    ['a Network one', scopeNamed('PerService'), {}],
    ['a Classic one', scopeNamed('PerService'), { type: 'Classic' as const }],
  ])('%s that names groups takes what it was let in by, and nothing of what people let them in by', async (what, scope, aws) => {
    const edge = await account.makeGroup(`edge of ${what}`);
    const next = await account.makeGroup(`next of ${what}`);
    const mine = [await letIn(nodes), await letIn(edge)].sort();
    const naming = (group: string) => ({ aws: { ...aws, securityGroups: { groups: [group] } } });
    const web = await standing(naming(nodes), scope());
    await web.change(naming(edge));
    expect(await sourcesOf()).toEqual(expect.arrayContaining(mine));
    await web.change(naming(next));
    expect(await account.rulesFrom(next, nodes)).not.toEqual([]);
    expect((await sourcesOf()).filter((rule) => !rule.includes(next))).toEqual(mine);
    await web.change(naming(nodes));
    await web.run.destroy();
    expect(await sourcesOf()).toEqual(mine);
  });

  test('what upstream lets in the group of a Classic load balancer by goes with that', async () => {
    const old = await standing({ aws: { type: 'Classic' } });
    const Filters = [{ Name: 'group-id', Values: [nodes] }];
    const { SecurityGroupRules = [] } = await scene.ec2.describeSecurityGroupRules({ Filters });
    const [ours] = SecurityGroupRules.filter(({ ReferencedGroupInfo }) => ReferencedGroupInfo !== undefined);
    await scene.ec2.revokeSecurityGroupIngress({ GroupId: nodes, SecurityGroupRuleIds: [ours?.SecurityGroupRuleId ?? ''] });
    await letIn(ours?.ReferencedGroupInfo?.GroupId ?? '');
    await old.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });

  test('a Classic load balancer’s group is let in by all ports, as upstream has it; with nodeRules: Shared it has the backend group', async () => {
    const old = await standing({ aws: { type: 'Classic' } });
    const { SecurityGroups = [] } = await scene.ec2.describeSecurityGroups({
      Filters: [{ Name: 'group-name', Values: [`k8s-elb-${nameOf(old)}`] }],
    });
    const group = SecurityGroups[0]?.GroupId ?? '';
    expect((await account.rulesFrom(group, nodes)).map((rule) => rule.split(' ')[0])).toEqual(['-1']);
    await old.run.destroy();
    expect(await rulesOf()).toEqual([]);

    const shared = await standing({ aws: { type: 'Classic' } }, scopeOf('Shared'));
    expect((await rulesOf()).map((rule) => rule.split(' ').slice(0, 2).join(' '))).toEqual([
      'icmp 3-4',
      'tcp 30000-32767',
      'udp 30000-32767',
    ]);
    await shared.run.destroy();
    expect(await rulesOf()).toEqual([]);
  });
});
