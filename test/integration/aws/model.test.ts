import type { SecurityGroupRule } from '@aws-sdk/client-ec2';
import type { CreateLoadBalancerCommandInput } from '@aws-sdk/client-elastic-load-balancing-v2';
import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { systemClock, type Clock } from '../../../operator/base/clock';
import type { JsonObject } from '../../../operator/base/json';
import { glance } from '../../../providers/aws/discover';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import { portsInUse } from '../../../providers/aws/nodes/port-users';
import { notInService } from '../../../providers/aws/not-in-service';
import { TAG } from '../../../providers/aws/tags';
import type { LoadBalancerInput } from '../../../providers/provider';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { listOf, refusal } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';
import { alwaysRules } from '../../harness/aws-model/rules';
import { capacityReservations, type CapacityGrants } from '../../harness/aws-model/rules/capacity';
import { elasticAddresses } from '../../harness/aws-model/rules/elastic-addresses';
import { laggingReads, unknownAtFirst, untaggedAtFirst } from '../../harness/aws-model/rules/lag';
import { ipv6TargetGroups } from '../../harness/aws-model/rules/ipv6-targets';
import { regionLimits, type RegionLimits } from '../../harness/aws-model/rules/region-limits';
import { provisioning } from '../../harness/aws-model/rules/provisioning';
import { groupInUse } from '../../harness/aws-model/rules/security-groups';
import { instancesOnTheirWay, targetQuota } from '../../harness/aws-model/rules/targets';
import { throttling } from '../../harness/aws-model/rules/throttling';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import type { ProgramRunner } from '../../harness/program-runner';
import { CLUSTER, Scene, SCOPE } from './model-scene';
import { MotoAccount, REGION } from './moto-account';

const ALWAYS = (): boolean => true;

/** Each rule of the model: what AWS says by it, and that the provider comes out right. */
describeWithMoto('A model of AWS in front of moto', () => {
  let moto: Moto;
  let account: MotoAccount;
  let loadBalancers: AwsLoadBalancers;
  let serial = 0;
  const scenes: Scene[] = [];

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    const { vpcID, subnetIDs } = account;
    const names = { clusterID: CLUSTER, clusterName: 'prod', legacyClusterTag: false };
    loadBalancers = new AwsLoadBalancers({ ...names, vpcID, subnetIDs, nodeRules: 'Shared' });
  }, 120_000);
  afterEach(() => Promise.all(scenes.splice(0).map((scene) => scene.end())));
  afterAll(async () => {
    account.close();
    await moto.stop();
  });

  async function sceneOf(rules: readonly Rule[] = alwaysRules(), clock: Clock = systemClock): Promise<Scene> {
    const model = new AwsModel(moto.url, REGION, rules);
    await model.start();
    const scene = new Scene(model, clock);
    scenes.push(scene);
    return scene;
  }

  function input(spec: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
    const number = String(++serial).padStart(8, '0');
    return {
      uid: `${number}-0000-4000-8000-333333333333`,
      ownerUID: `${number}-0000-4000-8000-444444444444`,
      namespace: 'shop',
      name: `web-${serial}`,
      spec: cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], aws: {}, ...spec }),
    };
  }

  /** A load balancer that the provider makes in a scene, and its group of targets. */
  async function standing(scene: Scene, of = input()): Promise<{ of: LoadBalancerInput; run: ProgramRunner; groups: string[] }> {
    const run = scene.runner(`model-${serial}`);
    const outputs = await run.up(loadBalancers.render(`model-${serial}`, [of]));
    return { of, run, groups: (loadBalancers.results(outputs, of.uid)?.targetGroups ?? []).map(({ id }) => id) };
  }

  const plain = (name: string): CreateLoadBalancerCommandInput => ({ Name: name, Type: 'network', Subnets: account.subnetIDs.slice(0, 1) });

  test('a region that has no room is told with its figures; where these can’t be read, in AWS’s words', async () => {
    const count = async (list: () => Promise<unknown[] | undefined>): Promise<number> => (await list())?.length ?? 0;
    const plainScene = await sceneOf();
    const balancers = await count(async () => (await plainScene.elb.describeLoadBalancers({})).LoadBalancers);
    const groups = await count(async () => (await plainScene.elb.describeTargetGroups({})).TargetGroups);
    const refused = async (most: RegionLimits, more: Rule[] = []): Promise<unknown> => {
      const scene = await sceneOf([...more, regionLimits(most), ...alwaysRules()]);
      const of = input();
      const run = scene.runner(`model-${serial}`);
      const thrown = await run.up(loadBalancers.render(`model-${serial}`, [of])).catch((error: unknown) => error);
      await run.destroy();
      return thrown;
    };
    expect(await refused({ 'network-load-balancers': balancers, 'target-groups': 3000 })).toMatchObject({
      code: 'Quota',
      message: expect.stringContaining(`${balancers} Network Load Balancers, and AWS lets it have ${balancers}`) as string,
    });
    const full = { 'network-load-balancers': 50, 'target-groups': groups };
    expect(await refused(full)).toMatchObject({
      code: 'Quota',
      message: expect.stringContaining(`${groups} target groups, and AWS lets it have ${groups}`) as string,
    });
    const denied: Rule = { before: ({ action }) => (action === 'DescribeAccountLimits' ? refusal('AccessDenied', 'no', 403) : undefined) };
    expect(await refused(full, [denied])).toMatchObject({
      code: 'Quota',
      message: expect.stringContaining('TooManyTargetGroups') as string,
    });
  });

  test('names: 33 characters are refused by AWS, and by the provider before a call', async () => {
    const scene = await sceneOf();
    await expectCode('ValidationError', scene.elb.createLoadBalancer(plain('a'.repeat(33))));
    const group = { Name: 'no_underscores', Protocol: 'TCP' as const, Port: 80, VpcId: account.vpcID };
    await expectCode('ValidationError', scene.elb.createTargetGroup(group));
    const { run } = await standing(scene);
    for (const { type: token, name, inputs } of run.checkpoint().filter(({ type }) => /LoadBalancer|TargetGroup/.test(type))) {
      const { type } = run.resource(token, name);
      expect(type.check?.({ ...inputs, name: 'a'.repeat(33) })).toMatchObject([{ property: 'name' }]);
    }
  });

  test('one name, one load balancer: the same settings give the one that is there, others are refused', async () => {
    const scene = await sceneOf();
    const first = await scene.elb.createLoadBalancer(plain('twice'));
    const again = await scene.elb.createLoadBalancer(plain('twice'));
    expect(again.LoadBalancers?.map(({ LoadBalancerArn }) => LoadBalancerArn)).toEqual([first.LoadBalancers?.[0]?.LoadBalancerArn]);
    await expectCode('DuplicateLoadBalancerName', scene.elb.createLoadBalancer({ ...plain('twice'), Scheme: 'internal' }));
  });

  test('an NLB is provisioning for minutes: nothing waits for it, and one that was there before the create is not taken for a new one', async () => {
    let now = 0;
    const clock: Clock = { ...systemClock, monotonic: () => now };
    const rules = [...alwaysRules(), provisioning({ clock, provisioningMs: 120_000 })];
    const scene = await sceneOf(rules);
    const { of, run } = await standing(scene);
    const balancer = run.checkpoint().find(({ type }) => type.endsWith('LoadBalancer'))!;
    const state = async (): Promise<string | undefined> => {
      const { LoadBalancers } = await scene.elb.describeLoadBalancers({ LoadBalancerArns: [balancer.id] });
      return LoadBalancers?.[0]?.State?.Code;
    };
    expect(await state()).toBe('provisioning');
    const entry = balancer.outputs.dnsName as string;
    expect((await notInService(scene.clients.elb)).get(entry)).toMatchObject({ reason: 'Provisioning' });
    // its worker died; a minute later another one wants other attributes, and its create gives the one that is still provisioning
    const later = await sceneOf(rules, { ...systemClock, now: () => systemClock.now() + 60_000 });
    const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws: { crossZone: true } });
    const second = later.runner(`model-${serial}`);
    await second.up(loadBalancers.render(`model-${serial}`, [of]));
    await second.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    second.restore([]);
    await second.up(loadBalancers.render(`model-${serial}`, [of]));
    expect(second.checkpoint().find(({ type }) => type.endsWith('LoadBalancer'))?.id).toBe(balancer.id);
    const { Attributes = [] } = await scene.elb.describeLoadBalancerAttributes({ LoadBalancerArn: balancer.id });
    expect(Attributes.find(({ Key }) => Key === 'load_balancing.cross_zone.enabled')?.Value).toBe('false');
    now = 120_000;
    expect(await state()).toBe('active');
    expect((await notInService(scene.clients.elb)).get(entry)).toBeUndefined();
  });

  test('one listener for each port: another protocol is a change in place', async () => {
    const scene = await sceneOf();
    // moto changes a listener to TCP, and to nothing else of a Network Load Balancer's
    const { of, run, groups } = await standing(scene, input({ listeners: [{ ...HTTP, protocol: 'UDP' }] }));
    const [balancer, listener] = ['LoadBalancer', 'Listener'].map((end) => run.checkpoint().find(({ type }) => type.endsWith(end))!);
    const DefaultActions = [{ Type: 'forward' as const, TargetGroupArn: groups[0] }];
    const second = scene.elb.createListener({ LoadBalancerArn: balancer!.id, Port: 80, Protocol: 'TCP', DefaultActions });
    await expectCode('DuplicateListener', second);
    const spec = cloudLoadBalancerSpec.parse({ ...of.spec, listeners: [HTTP] });
    await run.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    const { Listeners } = await scene.elb.describeListeners({ LoadBalancerArn: balancer!.id });
    expect(Listeners).toMatchObject([{ ListenerArn: listener!.id, Port: 80, Protocol: 'TCP' }]);
  });

  test('a listener forwards to target groups of fitting protocols alone: those that the provider makes fit', async () => {
    const scene = await sceneOf();
    const listeners: CloudLoadBalancerSpecInput['listeners'] = [
      { name: 'tls', port: 443, nodePort: 30_443 },
      { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_053 },
      { name: 'dns-tcp', protocol: 'TCP', port: 53, nodePort: 30_053 },
      { name: 'log', protocol: 'UDP', port: 514, nodePort: 30_514 },
      HTTP,
    ];
    const tls = { certificateARNs: [await account.uploadCertificate('web')], ports: ['tls'] };
    for (const backendProtocol of ['TCP', 'SSL'] as const) {
      const { run, groups } = await standing(scene, input({ listeners, aws: { tls, tcpUDPListeners: true, backendProtocol } }));
      const LoadBalancerArn = run.checkpoint().find(({ type }) => type.endsWith('LoadBalancer'))!.id;
      const { Listeners = [] } = await scene.elb.describeListeners({ LoadBalancerArn });
      const made = Listeners.map(({ Port, Protocol }) => `${Port} ${Protocol}`).sort();
      expect(made).toEqual(['443 TLS', '514 UDP', '53 TCP_UDP', '80 TCP']);
      const { TargetGroups = [] } = await scene.elb.describeTargetGroups({ TargetGroupArns: groups });
      const udp = TargetGroups.find(({ Protocol }) => Protocol === 'UDP')?.TargetGroupArn;
      const DefaultActions = [{ Type: 'forward' as const, TargetGroupArn: udp }];
      await expectCode('IncompatibleProtocols', scene.elb.createListener({ LoadBalancerArn, Port: 81, Protocol: 'TCP', DefaultActions }));
    }
  });

  test('UDP on a load balancer of both families needs IPv6 prefixes for source addresses: they are there before it, and can be turned off', async () => {
    const scene = await sceneOf();
    const udp = { ...HTTP, protocol: 'UDP' as const };
    const dual = { ipAddressType: 'DualStack' as const, ipv6SourceNAT: {} };
    const { of, run, groups } = await standing(scene, input({ listeners: [udp], aws: dual }));
    const balancer = run.checkpoint().find(({ type }) => type.endsWith('LoadBalancer'))!;
    const told = async (): Promise<unknown> => (await scene.elb.describeLoadBalancers({ LoadBalancerArns: [balancer.id] })).LoadBalancers;
    expect(await told()).toMatchObject([{ IpAddressType: 'dualstack', EnablePrefixForIpv6SourceNat: 'on' }]);
    expect(await inputsOf(scene, balancer.id)).toEqual(balancer.inputs);

    const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws: { ipAddressType: 'IPv4' } });
    await run.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    expect(await told()).toMatchObject([{ IpAddressType: 'ipv4', EnablePrefixForIpv6SourceNat: 'off' }]);
    await run.up(loadBalancers.render(`model-${serial}`, [of]));
    expect(await told()).toMatchObject([{ IpAddressType: 'dualstack', EnablePrefixForIpv6SourceNat: 'on' }]);

    await scene.elb.setSubnets({
      LoadBalancerArn: balancer.id,
      SubnetMappings: account.subnetIDs.map((SubnetId) => ({ SubnetId })),
      EnablePrefixForIpv6SourceNat: 'off',
    });
    expect(await inputsOf(scene, balancer.id)).not.toHaveProperty('enablePrefixForIpv6SourceNat');
    const DefaultActions = [{ Type: 'forward' as const, TargetGroupArn: groups[0] }];
    const second = scene.elb.createListener({ LoadBalancerArn: balancer.id, Port: 81, Protocol: 'UDP', DefaultActions });
    await expectCode('InvalidConfigurationRequest', second);
    const single = { LoadBalancerArn: balancer.id, SubnetMappings: [], EnablePrefixForIpv6SourceNat: 'on' as const };
    await expectCode('InvalidConfigurationRequest', scene.elb.setSubnets(single));
  });

  test('a glance shows that somebody has taken a listener away, or put one back', async () => {
    const scene = await sceneOf();
    const { run } = await standing(scene);
    const mark = async (): Promise<string | undefined> =>
      (await glance({ ...scene.clients, options: {} }, SCOPE)).marks.get(`model-${serial}`);
    const before = await mark();
    expect(before).toBeDefined();
    expect(await mark()).toBe(before);
    const listener = run.checkpoint().find(({ type }) => type.endsWith('Listener'))!;
    await scene.elb.deleteListener({ ListenerArn: listener.id });
    const gone = await mark();
    expect(gone).not.toBe(before);
    const { loadBalancerArn: LoadBalancerArn, defaultActions } = listener.inputs as { loadBalancerArn: string; defaultActions: unknown };
    const [{ targetGroupArn: TargetGroupArn }] = defaultActions as [{ targetGroupArn: string }];
    await scene.elb.createListener({ LoadBalancerArn, Port: 80, Protocol: 'TCP', DefaultActions: [{ Type: 'forward', TargetGroupArn }] });
    expect(await mark()).not.toBe(gone);
  });

  test('capacity is asked for and not waited for; what AWS can’t provide is a drift, and a request that is pending is told', async () => {
    const grants: CapacityGrants = { state: 'provisioned' };
    const scene = await sceneOf([capacityReservations(grants), ...alwaysRules()]);
    const { of, run } = await standing(scene, input({ aws: { minimumCapacityUnits: 3000 } }));
    const balancer = run.checkpoint().find(({ type }) => type.endsWith('LoadBalancer'))!;
    expect(await inputsOf(scene, balancer.id)).toEqual(balancer.inputs);
    expect(balancer.inputs).toMatchObject({ minimumLoadBalancerCapacity: { capacityUnits: 3000 } });
    const ask = (aws: CloudLoadBalancerSpecInput['aws']): Promise<unknown> => {
      const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws });
      return run.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    };

    grants.state = 'pending';
    await expect(ask({ minimumCapacityUnits: 5000, crossZone: true })).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining('CapacityReservationPending') as string,
    });
    // all else is done
    expect(await inputsOf(scene, balancer.id)).toMatchObject({ enableCrossZoneLoadBalancing: true });
    grants.state = 'failed';
    expect(await inputsOf(scene, balancer.id)).toMatchObject({ minimumLoadBalancerCapacity: { capacityUnits: 0 } });
    await ask({});
    grants.state = 'provisioned';
    expect(await inputsOf(scene, balancer.id)).not.toHaveProperty('minimumLoadBalancerCapacity');
    const reservation = await scene.elb.describeCapacityReservation({ LoadBalancerArn: balancer.id });
    expect(reservation.MinimumLoadBalancerCapacity).toBeUndefined();
  });

  test('who may not read reservations is kept from nothing but making one', async () => {
    const denied: Rule = {
      before: ({ action }) => (action.endsWith('CapacityReservation') ? refusal('AccessDenied', 'no', 403) : undefined),
    };
    const scene = await sceneOf([denied, ...alwaysRules()]);
    const { run } = await standing(scene);
    expect(await foundBy(scene)).toEqual(inCloud(run));
    await expect(standing(scene, input({ aws: { minimumCapacityUnits: 3000 } }))).rejects.toMatchObject({
      code: 'Credentials',
      remedy: expect.stringContaining('elasticloadbalancing:ModifyCapacityReservation') as string,
    });
  });

  test('a security group in use is not deleted: the order is right, nobody waits for AWS to let go, and what to do is told', async () => {
    const clock = { ...systemClock };
    const scene = await sceneOf([groupInUse({ clock, lingerMs: 60_000 }), ...alwaysRules()]);
    const { run } = await standing(scene);
    const group = run.checkpoint().find(({ type }) => type.endsWith(':SecurityGroup'))!;
    await expectCode('DependencyViolation', scene.ec2.deleteSecurityGroup({ GroupId: group.id }));
    const { type, context } = run.resource(group.type, group.name);
    await expect(type.delete(group.id, context, group.outputs)).rejects.toMatchObject({
      code: 'Conflict',
      retryAfterMs: 15_000,
      remedy: /some minutes/,
    });
    const deletes = (): number => scene.model.calls.splice(0).filter(({ action }) => action === 'DeleteSecurityGroup').length;
    expect(deletes()).toBe(2);
    await expect(run.destroy()).rejects.toMatchObject({ code: 'Conflict', retryAfterMs: 15_000 });
    expect(deletes()).toBe(1);
    clock.monotonic = () => systemClock.monotonic() + 60_000;
    await run.destroy();
    expect((await scene.ec2.describeSecurityGroups({ Filters: [{ Name: 'group-id', Values: [group.id] }] })).SecurityGroups).toEqual([]);
  });

  test.each(['Network', 'Classic'] as const)(
    'R-24: a %s one whose deletion works and is answered 500 leaves no group behind, whether the answers get better or the next update finds none',
    async (type) => {
      let failing = 0;
      const failed: Rule = {
        after: ({ action }, answer) => (action === 'DeleteLoadBalancer' && failing-- > 0 ? refusal('InternalError', 'no', 500) : answer),
      };
      const scene = await sceneOf([failed, ...alwaysRules()]);
      for (const times of [1, Infinity]) {
        const { run } = await standing(scene, input({ aws: { type } }));
        const { id } = run.checkpoint().find((one) => one.type.endsWith(':SecurityGroup'))!;
        const groups = async () =>
          (await scene.ec2.describeSecurityGroups({ Filters: [{ Name: 'group-id', Values: [id] }] })).SecurityGroups;
        failing = times;
        if (times === Infinity) {
          await expect(run.destroy()).rejects.toMatchObject({ code: 'Transient' });
          expect(await groups()).toHaveLength(1);
          failing = 0;
        }
        await run.destroy();
        expect(await groups()).toEqual([]);
        expect(await foundBy(scene)).toEqual([]);
      }
    },
  );

  test('only running instances become targets: one that is gone keeps no other out', async () => {
    const scene = await sceneOf();
    const { groups } = await standing(scene);
    const TargetGroupArn = groups[0]!;
    const unknown = { TargetGroupArn, Targets: [{ Id: 'i-0123456789abcdef0', Port: 30_080 }] };
    await expectCode('InvalidTarget', scene.elb.registerTargets(unknown));
    const [living, gone] = await account.makeInstances(2, 'prod');
    await account.terminate(gone!);
    const group = { id: TargetGroupArn, port: 30_080 };
    const left: string[] = [];
    const keeper = scene.members();
    expect(await keeper.sync(group, [living!, gone!], ALWAYS, (name) => left.push(name))).toBe(1);
    expect((await scene.members().observe()).get(TargetGroupArn)).toBe(scene.members().hash(group, [living!]));
    expect(left).toEqual([gone!.nodeName]);
    expect(await keeper.sync(group, [living!], ALWAYS, (name) => left.push(name))).toBe(0);
    expect(left).toHaveLength(1);
  });

  test.each(['pending', 'stopping', 'shutting-down', 'untold'])(
    'an instance that is %s, or in another VPC, keeps no other out',
    async (state) => {
      const states = new Map<string, string>();
      const scene = await sceneOf([instancesOnTheirWay(states, () => state !== 'untold'), ...alwaysRules()]);
      const { groups } = await standing(scene);
      const classic = await standing(scene, input({ aws: { type: 'Classic' } }));
      const [living, passing] = await account.makeInstances(2, 'prod');
      const far = await account.makeInstanceElsewhere();
      states.set(passing!.providerID.split('/').at(-1)!, state);
      for (const [keeper, group] of [
        [scene.members(), { id: groups[0]!, port: 30_080 }],
        [scene.classicMembers(), { id: classic.groups[0]!, port: 30_080 }],
      ] as const) {
        const left: string[] = [];
        expect(await keeper.sync(group, [passing!, living!, far], ALWAYS, (name) => left.push(name))).toBe(1);
        expect((await keeper.observe()).get(group.id)).toBe(keeper.hash(group, [living!]));
        expect(left.sort()).toEqual([passing!.nodeName, far.nodeName].sort());
      }
    },
  );

  test('more addresses come in place, and none is taken back: not when a member leaves what is shared, nor when somebody has added some', async () => {
    const scene = await sceneOf();
    const stack = `model-${serial}-more`;
    const member = (name: string, port: number, secondaryIPsPerSubnet: number): LoadBalancerInput => {
      const listeners = [{ ...HTTP, port, nodePort: 30_000 + port }];
      return input({ placement: { name }, listeners, aws: { secondaryIPsPerSubnet } });
    };
    const [stays, leaves] = [member('edge', 80, 1), member('edge', 81, 3)];
    const run = scene.runner(stack);
    const attributes = async (): Promise<string | undefined> => {
      const balancer = run.checkpoint().find(({ type }) => type.endsWith('lb/loadBalancer:LoadBalancer'))!;
      expect(balancer.inputs.secondaryIpsAutoAssignedPerSubnet).toBe(3);
      return (await scene.clients.elb.loadBalancerAttributes(balancer.id))['secondary_ips.auto_assigned.per_subnet'];
    };
    await run.up(loadBalancers.render(stack, [stays]));
    const { id } = run.checkpoint().find(({ type }) => type.endsWith('lb/loadBalancer:LoadBalancer'))!;
    await run.up(loadBalancers.render(stack, [stays, leaves]));
    expect(await attributes()).toBe('3');
    await run.up(loadBalancers.render(stack, [stays]));
    expect(await attributes()).toBe('3');
    // Its state says less than there is, as before the next look for drift.
    run.restore(
      run.checkpoint().map((one) => (one.id === id ? { ...one, inputs: { ...one.inputs, secondaryIpsAutoAssignedPerSubnet: 1 } } : one)),
    );
    await run.up(loadBalancers.render(stack, [{ ...stays, spec: { ...stays.spec, aws: { type: 'Network', crossZone: true } } }]));
    expect((await scene.clients.elb.loadBalancerAttributes(id))['secondary_ips.auto_assigned.per_subnet']).toBe('3');
    await run.destroy();
  });

  test.each(['Network', 'Classic'] as const)('a %s one that is checked more often than a check usually takes', async (type) => {
    const scene = await sceneOf();
    const { of, run } = await standing(scene, input({ aws: { type, healthCheck: { intervalSeconds: 5 } } }));
    const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws: { type } });
    await run.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    await run.up(loadBalancers.render(`model-${serial}`, [of]));
    expect(loadBalancers.validate(of.spec)).toEqual([]);
    await run.destroy();
  });

  test('connections to unhealthy targets are drained, and cut again', async () => {
    const scene = await sceneOf();
    const { of, run } = await standing(scene);
    for (const targetGroup of [{ unhealthyConnectionTermination: false, unhealthyDrainingIntervalSeconds: 60 }, {}]) {
      const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws: { targetGroup } });
      await run.up(loadBalancers.render(`model-${serial}`, [{ ...of, spec }]));
    }
    await run.destroy();
  });

  test('an address that the old one still has is told, and tried again soon; no worker waits for it', async () => {
    let now = 0;
    const clock: Clock = { ...systemClock, monotonic: () => now };
    const scene = await sceneOf([elasticAddresses({ clock, holdMs: 120_000 }), ...alwaysRules()]);
    const eipAllocationIDs = [await account.makeAddress(), await account.makeAddress()];
    const { of, run } = await standing(scene, input({ aws: { eipAllocationIDs } }));
    const renamed = { ...of, spec: cloudLoadBalancerSpec.parse({ ...of.spec, aws: { ...of.spec.aws, name: `moved-${serial}` } }) };
    expect(loadBalancers.replacement(of, renamed)).toMatchObject({ gap: true });
    await expect(run.up(loadBalancers.render(`model-${serial}`, [renamed]))).rejects.toMatchObject({
      code: 'Conflict',
      message: expect.stringContaining(`${eipAllocationIDs.join(', ')} is still in use`) as string,
      retryAfterMs: 15_000,
    });
    now = 120_000;
    await run.up(loadBalancers.render(`model-${serial}`, [renamed]));
    await run.destroy();
  });

  test('a target group takes so many targets: where there is no room for both, those that go go first', async () => {
    const scene = await sceneOf([...alwaysRules(), targetQuota(2)]);
    const { groups } = await standing(scene);
    const classic = await standing(scene, input({ aws: { type: 'Classic' } }));
    const machines = await account.makeInstances(4, 'prod');
    const [old, fresh] = [machines.slice(0, 2), machines.slice(2)];
    for (const [keeper, group] of [
      [scene.members(), { id: groups[0]!, port: 30_080 }],
      [scene.classicMembers(), { id: classic.groups[0]!, port: 30_080 }],
    ] as const) {
      expect(await keeper.sync(group, old, ALWAYS)).toBe(1);
      expect(await keeper.sync(group, fresh, ALWAYS)).toBe(2);
      expect((await keeper.observe()).get(group.id)).toBe(keeper.hash(group, fresh));
      await expect(keeper.sync(group, [...fresh, old[0]!], ALWAYS)).rejects.toMatchObject({ code: 'Quota' });
    }
  });

  test('a rule that another resource of the stack asks for in the same place is taken over by that one', async () => {
    const scene = await sceneOf();
    const group = await account.makeGroup('moved');
    const runner = scene.runner('moved');
    const named = (name: string): ReturnType<ProgramRunner['resource']> =>
      runner.resource('aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule', name);
    const inputs = (name: string): JsonObject => ({
      ...{ securityGroupId: group, ipProtocol: 'tcp', fromPort: 80, toPort: 80, cidrIpv4: '10.0.0.0/8' },
      tags: { [TAG.clusterID]: CLUSTER, [TAG.stack]: 'moved', [TAG.resource]: name },
    });
    const [before, after] = [named('tcp-80-10.1.2.3/8'), named('tcp-80-10.0.0.0/8')];
    const { id } = await before.type.create(inputs(before.context.name), before.context);
    expect((await after.type.create(inputs(after.context.name), after.context)).id).toBe(id);
    await before.type.delete(id, before.context, {});
    const rules = (): Promise<SecurityGroupRule[]> =>
      scene.clients.ec2.securityGroupRules([{ Name: 'security-group-rule-id', Values: [id] }]);
    expect(await rules()).toHaveLength(1);
    await after.type.delete(id, after.context, {});
    expect(await rules()).toEqual([]);
  });

  test('what is not registered is deregistered already, also where somebody was faster', async () => {
    const scene = await sceneOf();
    const { groups } = await standing(scene);
    const TargetGroupArn = groups[0]!;
    const Targets = [{ Id: 'i-0123456789abcdef0', Port: 30_080 }];
    await scene.elb.deregisterTargets({ TargetGroupArn, Targets });
    const machines = await account.makeInstances(3, 'prod');
    const [group, keeper] = [{ id: TargetGroupArn, port: 30_080 }, scene.members()];
    await keeper.sync(group, machines, ALWAYS);
    await scene.elb.deregisterTargets({ TargetGroupArn, Targets: [{ Id: machines[0]!.providerID.split('/').at(-1), Port: 30_080 }] });
    expect(await keeper.sync(group, machines.slice(2), ALWAYS)).toBe(1);
    expect((await scene.members().observe()).get(TargetGroupArn)).toBe(keeper.hash(group, machines.slice(2)));
  });

  test('routes: one for each destination, and one whose instance is gone is a blackhole', async () => {
    const scene = await sceneOf();
    const { RouteTable } = await scene.ec2.createRouteTable({ VpcId: account.vpcID });
    const RouteTableId = RouteTable?.RouteTableId ?? '';
    const machines = await account.makeInstances(2, 'prod');
    const [one, two] = machines.map(({ providerID }) => providerID.split('/').at(-1));
    const DestinationCidrBlock = '10.244.1.0/24';
    await scene.ec2.createRoute({ RouteTableId, DestinationCidrBlock, InstanceId: one });
    await scene.ec2.createRoute({ RouteTableId, DestinationCidrBlock: '10.244.2.0/24', InstanceId: two });
    await expectCode('RouteAlreadyExists', scene.ec2.createRoute({ RouteTableId, DestinationCidrBlock, InstanceId: two }));
    await account.terminate(machines[0]!);
    const { RouteTables } = await scene.ec2.describeRouteTables({ RouteTableIds: [RouteTableId] });
    const states = (RouteTables?.[0]?.Routes ?? []).map((route) => [route.DestinationCidrBlock, route.State]);
    expect(Object.fromEntries(states)).toMatchObject({ [DestinationCidrBlock]: 'blackhole', '10.244.2.0/24': 'active' });
  });

  test('throttling: the bucket refuses in each service’s words, and a load balancer comes whole through it', async () => {
    let now = 0;
    const bucket = { clock: { ...systemClock, monotonic: () => now }, burst: 1, perSecond: 1 };
    const narrow = await sceneOf([throttling(bucket), ...alwaysRules()]);
    await narrow.elb.describeLoadBalancers({});
    await expectCode('Throttling', narrow.elb.describeLoadBalancers({}));
    await expectCode('RequestLimitExceeded', narrow.ec2.describeSecurityGroups({}));
    now = 1000;
    await narrow.elb.describeLoadBalancers({});

    const scene = await sceneOf([throttling({ clock: systemClock, burst: 2, perSecond: 10 }), ...alwaysRules()]);
    const { run } = await standing(scene);
    expect(scene.model.calls.filter(({ status = 0 }) => status >= 400)).not.toEqual([]);
    expect(await foundBy(scene)).toEqual(inCloud(run));
  });

  test('reads that are behind, and what is not known at once: nothing is made twice, nothing is lost', async () => {
    const scene = await sceneOf([laggingReads(2), unknownAtFirst(2), ...alwaysRules()]);
    const { GroupId = '' } = await scene.ec2.createSecurityGroup({ GroupName: 'lag', Description: 'lag', VpcId: account.vpcID });
    const rule = { IpProtocol: 'tcp', FromPort: 80, ToPort: 80, IpRanges: [{ CidrIp: '192.0.2.0/24' }] };
    const authorize = (): Promise<unknown> => scene.ec2.authorizeSecurityGroupIngress({ GroupId, IpPermissions: [rule] });
    await expectCode('InvalidGroup.NotFound', authorize());
    await expectCode('InvalidGroup.NotFound', authorize());
    await authorize();

    await expectNothingTwice(scene);
  });

  test('tags that are behind: what nobody can tell whose it is, is not made twice either', async () => {
    await expectNothingTwice(await sceneOf([untaggedAtFirst(2), ...alwaysRules()]));
  });

  /** Right after, discovery sees a part of it; what it misses is made again by the program, and must be found. */
  async function expectNothingTwice(scene: Scene): Promise<void> {
    const { of, run } = await standing(scene);
    const made = inCloud(run);
    const seen = await foundBy(scene);
    expect(seen.length).toBeLessThan(made.length);
    run.restore(run.checkpoint().filter(({ id }) => seen.includes(id)));
    await run.up(loadBalancers.render(`model-${serial}`, [of]));
    expect(inCloud(run)).toEqual(made);
    const sure = await sceneOf();
    expect(await foundBy(sure)).toEqual(made);
  }

  test('somebody else’s target groups go all the time: a look at the account leaves them out, and needs no other one', async () => {
    const [theirs, gone] = [new Set<string>(), new Set<string>()];
    const goes: Rule = {
      async before(call, { elb }) {
        if (call.action !== 'DescribeTags') return undefined;
        const asked = listOf(call, 'ResourceArns');
        const TargetGroupArn = asked.find((arn) => theirs.delete(arn));
        if (TargetGroupArn !== undefined) await elb.deleteTargetGroup({ TargetGroupArn });
        if (TargetGroupArn !== undefined) gone.add(TargetGroupArn);
        // moto has nothing against it.
        return asked.some((arn) => gone.has(arn)) ? refusal('TargetGroupNotFound', 'One or more target groups not found') : undefined;
      },
    };
    const scene = await sceneOf([goes, ...alwaysRules()]);
    const { run, groups } = await standing(scene);
    const lookAmongThem = async <T>(look: () => Promise<T>): Promise<T> => {
      for (let at = 0; at < 24; at++) {
        const group = { Name: `theirs-${at}`, Protocol: 'TCP' as const, Port: HTTP.nodePort, VpcId: account.vpcID };
        const { TargetGroups } = await scene.elb.createTargetGroup(group);
        theirs.add(TargetGroups?.[0]?.TargetGroupArn ?? '');
      }
      const listings = (): number => scene.model.calls.filter(({ action }) => action === 'DescribeTargetGroups').length;
      const before = listings();
      const seen = await look();
      expect([theirs.size, listings() - before]).toEqual([0, 1]);
      return seen;
    };
    expect(await lookAmongThem(() => foundBy(scene))).toEqual(inCloud(run));
    expect([...(await lookAmongThem(() => scene.members().observe())).keys()]).toContain(groups[0]);
    const [ports, users] = [new Set([`tcp/${HTTP.nodePort}`]), { clusterID: 'another cluster' }];
    expect(await lookAmongThem(() => portsInUse(scene.clients.elb, ports, users, {}))).toEqual(new Set());
    await run.destroy();
  });

  test('a Service of IPv6 alone: its target group takes instances with a primary IPv6 address, others hold up nobody, and where none has one it is said', async () => {
    const primaries = new Set<string>();
    const scene = await sceneOf([ipv6TargetGroups(primaries), ...alwaysRules()]);
    const { run, groups } = await standing(scene, input({ ipFamilies: ['IPv6'] }));
    expect(await foundBy(scene)).toEqual(inCloud(run));
    const { TargetGroups = [] } = await scene.elb.describeTargetGroups({ TargetGroupArns: groups });
    expect(TargetGroups.map(({ IpAddressType }) => IpAddressType)).toEqual(['ipv6']);
    const machines = await account.makeInstances(3, 'prod');
    const [keeper, group, left] = [scene.members(), { id: groups[0]!, port: HTTP.nodePort }, [] as string[]];
    const none = { code: 'Invalid', message: expect.stringMatching(/primary IPv6 address .* none has one\. Give them one/) as string };
    await expect(keeper.sync(group, machines, ALWAYS)).rejects.toMatchObject(none);
    for (const { providerID } of machines.slice(0, 2)) primaries.add(providerID.split('/').at(-1) ?? '');
    expect(await keeper.sync(group, machines, ALWAYS, (nodeName) => left.push(nodeName))).toBe(1);
    expect(left).toEqual([machines[2]!.nodeName]);
    expect((await scene.members().observe()).get(group.id)).toBe(keeper.hash(group, machines.slice(0, 2)));
    await run.destroy();
  });

  /** What a look at AWS says of one. */
  async function inputsOf(scene: Scene, arn: string): Promise<JsonObject | undefined> {
    return (await scene.found(`model-${serial}`)).find(({ id }) => id === arn)?.inputs;
  }

  /** Ids of what discovery finds of the last stack. */
  async function foundBy(scene: Scene): Promise<string[]> {
    return (await scene.found(`model-${serial}`)).map(({ id }) => id).sort();
  }
});

const HTTP = { name: 'http', protocol: 'TCP' as const, port: 80, nodePort: 30_080 };

/** Ids of what a runner made in AWS. */
function inCloud(run: ProgramRunner): string[] {
  const made = run.checkpoint().filter(({ type }) => type.startsWith('aws:'));
  return made.map(({ id }) => id).sort();
}

/** SDKs call many exceptions otherwise than the APIs do. */
async function expectCode(code: string, failing: Promise<unknown>): Promise<void> {
  const thrown: unknown = await failing.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect((thrown as { name?: string } | undefined)?.name?.replace(/Exception$/, '')).toBe(code);
}
