import { systemClock } from '../../../operator/base/clock';
import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import type { LoadBalancerInput } from '../../../providers/provider';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { fieldsOf, type ModelCall } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';
import { alwaysRules } from '../../harness/aws-model/rules';
import { elasticAddresses } from '../../harness/aws-model/rules/elastic-addresses';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import type { ProgramRunner, RunnerResource } from '../../harness/program-runner';
import { CLUSTER, Scene } from './model-scene';
import { MotoAccount, REGION } from './moto-account';

const HTTP = { name: 'http', port: 80, nodePort: 30_080 };

/** What moto forgets, and a model in front of it keeps: sent, read back by discovery, brought back after somebody has changed it. */
describeWithMoto('Settings of load balancers of AWS, against a model of it', () => {
  let moto: Moto;
  let account: MotoAccount;
  let scene: Scene;
  let loadBalancers: AwsLoadBalancers;
  let certificate = '';
  let serial = 0;
  const sent: ModelCall[] = [];
  const recorded: Rule = {
    before: (call) => {
      sent.push(call);
      return undefined;
    },
  };

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    await account.addIPv6();
    certificate = await account.uploadCertificate('web');
    const model = new AwsModel(moto.url, REGION, [recorded, elasticAddresses({ clock: systemClock, holdMs: 0 }), ...alwaysRules()]);
    await model.start();
    scene = new Scene(model);
    const { vpcID, subnetIDs } = account;
    const names = { clusterID: CLUSTER, clusterName: 'prod', legacyClusterTag: false };
    loadBalancers = new AwsLoadBalancers({ ...names, vpcID, subnetIDs, nodeRules: 'Shared' });
  }, 120_000);
  beforeEach(() => {
    sent.length = 0;
  });
  afterAll(async () => {
    await scene.end();
    account.close();
    await moto.stop();
  });

  interface Standing {
    run: ProgramRunner;
    stack: string;
    up(more: Partial<CloudLoadBalancerSpecInput>): Promise<void>;
  }

  async function standing(more: Partial<CloudLoadBalancerSpecInput>): Promise<Standing> {
    const uid = `${String(++serial).padStart(8, '0')}-0000-4000-8000-999999999999`;
    const stack = `settings-${serial}`;
    const run = scene.runner(stack);
    const up = async (asked: Partial<CloudLoadBalancerSpecInput>): Promise<void> => {
      const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], aws: {}, ...asked });
      expect(loadBalancers.validate(spec)).toEqual([]);
      const of: LoadBalancerInput = { uid, ownerUID: uid, namespace: 'shop', name: `web-${serial}`, spec };
      await run.up(loadBalancers.render(stack, [of]));
    };
    await up(more);
    return { run, stack, up };
  }

  /** The only one of that type. */
  function only({ run }: Standing, end: string): RunnerResource {
    const [found, ...others] = run.checkpoint().filter(({ type }) => type.endsWith(end));
    expect(others).toEqual([]);
    return found!;
  }

  /** What discovery finds is what the state says. */
  async function expectAsInState({ run, stack }: Standing): Promise<void> {
    const told = (all: { id: string; inputs: JsonObject }[]) =>
      Object.fromEntries(all.map(({ id, inputs }): [string, JsonObject] => [id, inputs]));
    expect(told(await scene.found(stack))).toEqual(told(run.checkpoint().filter(({ type }) => type.startsWith('aws:'))));
  }

  /** Somebody's change is seen, and taken back. */
  async function expectBroughtBack(of: Standing, known: RunnerResource, seen: object): Promise<void> {
    const { type, context } = of.run.resource(known.type, known.name);
    expect((await type.read(known.id, context))?.inputs).toMatchObject(seen);
    await type.update(known.id, known.outputs, known.inputs, context);
    await expectAsInState(of);
  }

  const words = (action: string, name: string): (string | null)[] =>
    sent.filter((call) => call.action === action).map(({ parameters }) => parameters.get(name));

  test('rules that don’t hold for PrivateLink are so from the start, are told, and become so again', async () => {
    const name = 'EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic';
    const off = { aws: { securityGroups: { privateLinkRules: 'Ignored' as const } } };
    const of = await standing(off);
    const groups = sent.find(({ action }) => action === 'SetSecurityGroups');
    expect(groups?.parameters.get(name)).toBe('off');
    const balancer = only(of, ':LoadBalancer');
    expect(balancer.inputs[name.replace(/^E/, 'e')]).toBe('off');
    await expectAsInState(of);
    const SecurityGroups = balancer.inputs.securityGroups as string[];
    await scene.elb.setSecurityGroups({ LoadBalancerArn: balancer.id, SecurityGroups, [name]: 'on' });
    await expectBroughtBack(of, balancer, { enforceSecurityGroupInboundRulesOnPrivateLinkTraffic: 'on' });
    await of.up({});
    await expectAsInState(of);
    expect(words('SetSecurityGroups', name)).toEqual(['off', 'on', 'off', 'on']);
    await of.run.destroy();
  });

  test('prefix lists are who may come in: sent as such, told, and let in again', async () => {
    const of = await standing({ aws: { securityGroups: { prefixListIDs: ['pl-0a1b2c3d'], pathMTUDiscovery: false } } });
    const authorized = sent.filter(({ action }) => action === 'AuthorizeSecurityGroupIngress');
    const lists = authorized.flatMap(({ parameters }) => [...parameters].filter(([key]) => key.endsWith('.PrefixListId')));
    expect(lists).toEqual([['IpPermissions.1.PrefixListIds.1.PrefixListId', 'pl-0a1b2c3d']]);
    await expectAsInState(of);
    const group = only(of, ':SecurityGroup');
    const rule = of.run.checkpoint().find(({ inputs }) => inputs.prefixListId === 'pl-0a1b2c3d')!;
    const IpPermissions = [{ IpProtocol: 'tcp', FromPort: 80, ToPort: 80, PrefixListIds: [{ PrefixListId: 'pl-0a1b2c3d' }] }];
    await scene.ec2.revokeSecurityGroupIngress({ GroupId: group.id, IpPermissions });
    expect((await scene.found(of.stack)).map(({ id }) => id)).not.toContain(rule.id);
    of.run.restore(of.run.checkpoint().filter(({ id }) => id !== rule.id));
    await of.up({ aws: { securityGroups: { prefixListIDs: ['pl-0a1b2c3d'], pathMTUDiscovery: false } } });
    await expectAsInState(of);
    await of.up({ aws: { securityGroups: { prefixListIDs: ['pl-0b1b2c3d'], pathMTUDiscovery: false } } });
    await expectAsInState(of);
    await of.run.destroy();
  });

  test('what a listener of TLS speaks is sent, told, spoken again, and taken back', async () => {
    const asked = (alpnPolicy?: 'HTTP2Preferred'): Partial<CloudLoadBalancerSpecInput> => ({
      aws: { tls: { certificateARNs: [certificate], policy: 'ELBSecurityPolicy-2016-08', ...(alpnPolicy && { alpnPolicy }) } },
    });
    const of = await standing(asked('HTTP2Preferred'));
    expect(words('CreateListener', 'AlpnPolicy.member.1')).toEqual(['HTTP2Preferred']);
    await expectAsInState(of);
    const listener = only(of, ':Listener');
    await scene.elb.modifyListener({ ListenerArn: listener.id, Protocol: 'TLS', AlpnPolicy: ['HTTP1Only'] });
    await expectBroughtBack(of, listener, { alpnPolicy: 'HTTP1Only' });
    await of.up(asked());
    await expectAsInState(of);
    expect(words('ModifyListener', 'AlpnPolicy.member.1')).toEqual(['HTTP1Only', 'HTTP2Preferred', 'None']);
    await of.run.destroy();
  });

  test.each<[string, Partial<CloudLoadBalancerSpecInput>, string, string[]]>([
    [
      'private IPv4 addresses',
      { scheme: 'Internal', aws: { privateIPv4Addresses: ['10.0.0.9', '10.0.1.9'] } },
      'PrivateIPv4Address',
      ['10.0.0.9', '10.0.1.9'],
    ],
    [
      'IPv6 addresses, however they are written',
      { ipFamilies: ['IPv4', 'IPv6'], aws: { ipv6Addresses: ['2001:DB8:0:0::9', '2001:db8:1::0009'] } },
      'IPv6Address',
      ['2001:db8::9', '2001:db8:1::9'],
    ],
  ])('%s are those of its subnets, are in the account, and are told', async (_what, more, field, addresses) => {
    const [first = '', second = ''] = await subnetsInOrderOf(field);
    const { aws, ...spec } = more;
    const of = await standing({ ...spec, aws: { ...aws, subnets: [first, second] } });
    const [create] = sent.filter(({ action }) => action === 'CreateLoadBalancer');
    const [ids, asked] = [fieldsOf(create!, 'SubnetMappings', 'SubnetId'), fieldsOf(create!, 'SubnetMappings', field)];
    expect(Object.fromEntries(ids.map((id, at) => [id, asked[at]]))).toEqual({ [first]: addresses[0], [second]: addresses[1] });
    await expectAsInState(of);
    const [balancer] = (await scene.elb.describeLoadBalancers({ LoadBalancerArns: [only(of, ':LoadBalancer').id] })).LoadBalancers ?? [];
    const told = balancer?.AvailabilityZones?.map(({ LoadBalancerAddresses: [address] = [] }) => address?.[field as 'IPv6Address']);
    expect(told?.sort()).toEqual(addresses.toSorted());
    await of.run.destroy();
  });

  test.each<[string, () => Promise<Partial<CloudLoadBalancerSpecInput>>]>([
    ['Elastic IPs', async () => ({ aws: { eipAllocationIDs: [await account.makeAddress(), await account.makeAddress()] } })],
    ['private IPv4 addresses', () => Promise.resolve({ scheme: 'Internal', aws: { privateIPv4Addresses: ['10.0.0.9', '10.0.1.9'] } })],
  ])('%s and IPv6 addresses of one load balancer are told beside each other, and are as they were asked for', async (_what, more) => {
    const { aws, ...spec } = await more();
    const subnets = await subnetsInOrderOf('PrivateIPv4Address');
    const ipv6Addresses = subnets.map((id) => `2001:db8:${account.subnetIDs.indexOf(id)}::9`);
    const of = await standing({ ...spec, ipFamilies: ['IPv4', 'IPv6'], aws: { ...aws, subnets, ipv6Addresses } });
    const [balancer] = (await scene.elb.describeLoadBalancers({ LoadBalancerArns: [only(of, ':LoadBalancer').id] })).LoadBalancers ?? [];
    expect(balancer?.AvailabilityZones?.map(({ LoadBalancerAddresses = [] }) => LoadBalancerAddresses.length)).toEqual([2, 2]);
    await expectAsInState(of);
    await of.run.destroy();
  });

  /** Ids of subnets, by their ranges of that family. */
  async function subnetsInOrderOf(field: string): Promise<string[]> {
    if (field === 'IPv6Address') return account.subnetIDs;
    const { Subnets = [] } = await scene.ec2.describeSubnets({ SubnetIds: account.subnetIDs });
    return Subnets.sort((a, b) => (a.CidrBlock! < b.CidrBlock! ? -1 : 1)).map(({ SubnetId = '' }) => SubnetId);
  }
});
