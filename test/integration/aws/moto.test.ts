import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { ClassicElb } from '../../../providers/aws/client/classic-elb';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import { discover, glance } from '../../../providers/aws/discover';
import { AwsInstances } from '../../../providers/aws/nodes/instances';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import { AwsMembers } from '../../../providers/aws/members/members';
import { TAG } from '../../../providers/aws/tags';
import { workerModule } from '../../../providers/aws/worker';
import type { LoadBalancerInput, TargetGroup } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { officialResource } from '../../harness/official-types';
import { ProgramRunner } from '../../harness/program-runner';
import { MotoAccount, REGION } from './moto-account';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const ROUTES = { clusterID: CLUSTER, legacyClusterTag: false, routesPerTable: 50 };
const ALWAYS = (): boolean => true;

describeWithMoto('AWS, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let ec2: Ec2;
  let elb: ElbV2;
  let classic: ClassicElb;
  let instances: AwsInstances;
  let loadBalancers: AwsLoadBalancers;
  let calls: string[] = [];
  let serial = 0;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    ec2 = new Ec2(account.clientOptions());
    elb = new ElbV2({ ...account.clientOptions(), onCall: (verb) => calls.push(verb) });
    classic = new ClassicElb(account.clientOptions());
    instances = new AwsInstances(ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    loadBalancers = new AwsLoadBalancers({
      clusterID: CLUSTER,
      clusterName: 'prod',
      legacyClusterTag: false,
      vpcID: account.vpcID,
      subnetIDs: account.subnetIDs,
      nodeRules: 'Shared',
    });
  }, 120_000);

  beforeEach(() => {
    calls = [];
  });

  afterAll(async () => {
    [ec2, elb, classic, account].forEach((client) => client.close());
    await moto.stop();
  });

  function input(spec: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
    const number = String(++serial).padStart(8, '0');
    const listeners = [
      { name: 'http', protocol: 'TCP' as const, port: 80, nodePort: 30_080 },
      { name: 'dns', protocol: 'UDP' as const, port: 53, nodePort: 30_053 },
    ];
    return {
      uid: `${number}-0000-4000-8000-111111111111`,
      ownerUID: `${number}-0000-4000-8000-222222222222`,
      namespace: 'shop',
      name: `web-${serial}`,
      spec: cloudLoadBalancerSpec.parse({ provider: 'aws', listeners, aws: {}, ...spec }),
    };
  }

  /** @param url of what stands in front of moto; absent = nothing */
  function runner(stack: string, url?: string): ProgramRunner {
    const endpoints = url === undefined ? {} : { endpoints: { EC2: url, ElasticLoadBalancingV2: url } };
    const settings = { ...account.settings, ...endpoints } as unknown as JsonObject;
    const context: UpdateContext = {
      stack,
      clusterID: CLUSTER,
      assertValid: () => undefined,
      countCall: (verb) => void calls.push(verb),
      syncTargets: () => Promise.resolve(),
    };
    return new ProgramRunner(workerModule, workerModule.resourceProviders(settings, context), stack);
  }

  async function standing(spec: Partial<CloudLoadBalancerSpecInput> = {}): Promise<Standing> {
    const [of, stack] = [input(spec), `stack-${serial}`];
    const run = runner(stack);
    const outputs = await run.up(loadBalancers.render(stack, [of]));
    return { input: of, stack, runner: run, outputs, groups: loadBalancers.results(outputs, of.uid)?.targetGroups ?? [] };
  }

  interface Standing {
    input: LoadBalancerInput;
    stack: string;
    runner: ProgramRunner;
    outputs: JsonObject;
    groups: TargetGroup[];
  }

  /** What AWS has for a stack without what stands in the state alone. */
  async function expectAsInState(stack: string, run: ProgramRunner): Promise<void> {
    const found = (await discover({ ec2, elb, classic, options: {} }, ROUTES, [stack])).get(stack) ?? [];
    const inState = run.checkpoint().filter(({ type }) => type.startsWith('aws:'));
    const sorted = (resources: { type: string; name: string; id: string; inputs: JsonObject; outputs: JsonObject }[]) =>
      resources.map(({ type, name, id, inputs, outputs }) => ({ type, name, id, inputs, outputs })).sort((a, b) => (a.id < b.id ? -1 : 1));
    expect(sorted(found)).toEqual(sorted(inState));
    expect(inState.length).toBeGreaterThan(0);
  }

  async function expectError(code: OperatorError['code'], failing: Promise<unknown>): Promise<OperatorError> {
    const error = await failing.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code });
    return error as OperatorError;
  }

  describe('load balancers', () => {
    test('a create needs no call beside the creates but one look for the cluster’s backend group, and gives official properties alone', async () => {
      await standing();
      calls = [];
      const { runner: run } = await standing();
      expect(calls.filter((verb) => verb !== 'create')).toEqual(['list']);
      const made = run.checkpoint().filter(({ type }) => type.startsWith('aws:'));
      expect(calls).toHaveLength(1 + made.length);
      for (const { type, outputs } of made) {
        expect(Object.keys(outputs).filter((name) => !officialResource(type).outputs.includes(name))).toEqual([]);
      }
    });

    test('every setting that is served goes in, comes back and can be changed in place', async () => {
      const { input: of, stack, runner: run } = await standing();
      const before = run.checkpoint().map(({ id }) => id);
      const aws: CloudLoadBalancerSpecInput['aws'] = {
        crossZone: true,
        dnsClientRoutingPolicy: 'AvailabilityZoneAffinity',
        accessLogs: { bucket: 'logs', prefix: 'web' },
        listeners: [{ port: 80, tcpIdleTimeoutSeconds: 600 }],
        zonalShift: true,
        secondaryIPsPerSubnet: 2,
        targetGroup: {
          deregistrationDelaySeconds: 30,
          connectionTermination: true,
          proxyProtocolV2: true,
          preserveClientIP: false,
          stickiness: 'SourceIP',
          unhealthyConnectionTermination: false,
          unhealthyDrainingIntervalSeconds: 60,
          dnsFailover: { count: 2, percentage: 50 },
          unhealthyStateRouting: { percentage: 30 },
        },
        healthCheck: { intervalSeconds: 15, healthyThreshold: 5 },
        tags: { team: 'shop' },
      };
      const spec = cloudLoadBalancerSpec.parse({ ...of.spec, sourceRanges: ['192.0.2.0/24'], aws });
      await run.up(loadBalancers.render(stack, [{ ...of, spec }]));
      const after = run.checkpoint().map(({ id }) => id);
      expect(after.filter((id) => id.startsWith('arn:')).sort()).toEqual(before.filter((id) => id.startsWith('arn:')).sort());
      await expectAsInState(stack, run);
      const group = run.checkpoint().find(({ type, inputs }) => type.endsWith('TargetGroup') && inputs.protocol === 'TCP')!;
      expect(await elb.targetGroupAttributes(group.id)).toMatchObject({
        'preserve_client_ip.enabled': 'false',
        'target_health_state.unhealthy.connection_termination.enabled': 'false',
        'target_health_state.unhealthy.draining_interval_seconds': '60',
        'target_group_health.dns_failover.minimum_healthy_targets.count': '2',
        'target_group_health.dns_failover.minimum_healthy_targets.percentage': '50',
        'target_group_health.unhealthy_state_routing.minimum_healthy_targets.percentage': '30',
      });
      await run.up(loadBalancers.render(stack, [of]));
      await expectAsInState(stack, run);
    });

    test('what somebody changed is seen and brought back', async () => {
      const { stack, runner: run } = await standing();
      const [balancer, group] = ['LoadBalancer', 'TargetGroup'].map((end) => run.checkpoint().find(({ type }) => type.endsWith(end))!);
      await elb.modifyLoadBalancerAttributes(
        { LoadBalancerArn: balancer!.id, Attributes: [{ Key: 'load_balancing.cross_zone.enabled', Value: 'true' }] },
        {},
      );
      await elb.modifyTargetGroup({ TargetGroupArn: group!.id, HealthCheckIntervalSeconds: 20 }, {});
      for (const known of [balancer!, group!]) {
        const { type, context } = run.resource(known.type, known.name);
        expect((await type.read(known.id, context))?.inputs).not.toEqual(known.inputs);
        await type.update(known.id, known.outputs, known.inputs, context);
      }
      await expectAsInState(stack, run);
    });

    test('a target group that must be another one is made before the old one goes', async () => {
      const { input: of, stack, runner: run, groups } = await standing();
      const moved = of.spec.listeners.map((listener) => (listener.port === 80 ? { ...listener, nodePort: 31_080 } : listener));
      const outputs = await run.up(loadBalancers.render(stack, [{ ...of, spec: { ...of.spec, listeners: moved } }]));
      const now = loadBalancers.results(outputs, of.uid)?.targetGroups ?? [];
      expect(now.map(({ port }) => port).sort()).toEqual([30_053, 31_080]);
      expect(now.filter(({ id }) => groups.some((group) => group.id === id))).toHaveLength(1);
      await expectAsInState(stack, run);
    });

    test('a glance tells of a stack that nothing has changed, by bulk reads alone, and a closer look by the same ones tells all', async () => {
      const { stack } = await standing();
      const api = { ec2, elb, classic, options: {} };
      calls = [];
      const first = await glance(api, ROUTES);
      expect(calls.filter((verb) => verb !== 'list' && verb !== 'get')).toEqual([]);
      const bulk = calls.length;
      const found = await first.discover([stack]);
      expect(found).toEqual(await discover(api, ROUTES, [stack]));
      calls = [];
      await discover(api, ROUTES, [stack]);
      const whole = calls.length;
      expect(whole).toBeGreaterThan(bulk);
      expect((await glance(api, ROUTES)).marks.get(stack)).toBe(first.marks.get(stack));
      calls = [];
      const others = await discover(api, ROUTES, undefined, new Set([...first.marks.keys()]));
      expect(calls).toHaveLength(bulk);
      expect(others.has(stack)).toBe(false);
    });

    test('what has gone since a glance fails no closer look by it', async () => {
      const { stack, runner: run } = await standing();
      const first = await glance({ ec2, elb, classic, options: {} }, ROUTES);
      await run.destroy();
      const found = (await first.discover([stack])).get(stack) ?? [];
      expect(found.filter(({ type }) => type.startsWith('aws:lb/'))).toEqual([]);
    });

    test('what goes between the listing and a closer look at it fails no discovery', async () => {
      const { stack, runner: run } = await standing();
      // That of UDP takes no closer look.
      const listeners = run.checkpoint().filter(({ type, inputs }) => type.endsWith('Listener') && inputs.protocol === 'TCP');
      const racing = new ElbV2(account.clientOptions());
      const list = racing.listeners.bind(racing);
      let races = 0;
      racing.listeners = async (...args) => {
        const found = await list(...args);
        if (races++ === 0) for (const { id } of listeners) await elb.deleteListener({ ListenerArn: id }, {});
        return found;
      };
      const found = (await discover({ ec2, elb: racing, classic, options: {} }, ROUTES, [stack])).get(stack) ?? [];
      expect(found.filter(({ type, inputs }) => type.endsWith('Listener') && inputs.protocol === 'TCP')).toEqual([]);
      expect(found.some(({ type }) => type.endsWith('LoadBalancer'))).toBe(true);
      expect(races).toBe(1);
      racing.close();
    });
  });

  describe('a placement', () => {
    const member = (port: number, more: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput =>
      input({ placement: { name: 'edge' }, listeners: [{ name: 'http', port, nodePort: 30_000 + port }], ...more });

    test('is one load balancer with a group; who leaves takes its own along, and nothing of the others', async () => {
      const [stack, one, two] = ['placement-0', member(80), member(81, { sourceRanges: ['10.0.0.0/8'] })];
      const run = runner(stack);
      const outputs = await run.up(loadBalancers.render(stack, [one, two]));
      await expectAsInState(stack, run);
      const results = [one, two].map(({ uid }) => loadBalancers.results(outputs, uid));
      expect(results[0]?.ingress).toEqual(results[1]?.ingress);
      expect(results.map((result) => result?.targetGroups.map(({ port }) => port))).toEqual([[30_080], [30_081]]);
      const idsOf = (type: string): string[] =>
        run
          .checkpoint()
          .filter((made) => made.type.endsWith(type))
          .map(({ id }) => id);
      const kept = [idsOf(':LoadBalancer'), idsOf(':SecurityGroup')].flat();
      expect(kept).toHaveLength(2);
      const found = (await discover({ ec2, elb, classic, options: {} }, ROUTES, [stack])).get(stack) ?? [];
      expect(loadBalancers.recognize(found, two)?.ingress).toEqual(results[1]?.ingress);

      await run.up(loadBalancers.render(stack, [two]));
      await expectAsInState(stack, run);
      expect([idsOf(':LoadBalancer'), idsOf(':SecurityGroup')].flat()).toEqual(kept);
      expect(idsOf(':Listener')).toHaveLength(1);
      await run.destroy();
    });

    test('a port that another has over another protocol is refused, and the failure is the later one’s', async () => {
      const [stack, first] = ['placement-1', member(53)];
      const second = member(53, { listeners: [{ name: 'dns', protocol: 'UDP', port: 53, nodePort: 30_054 }] });
      const model = new AwsModel(moto.url, REGION);
      await model.start();
      const run = runner(stack, model.url);
      await run.up(loadBalancers.render(stack, [first]));
      const error = await expectError('Conflict', run.up(loadBalancers.render(stack, [first, second])));
      expect(error.message).toContain(first.name);
      expect(loadBalancers.attribute(error, [first, second])).toEqual([second.uid]);
      await run.up(loadBalancers.render(stack, [first]));
      await expectAsInState(stack, run);
      await run.destroy();
      await model.stop();
    });
  });

  describe('members', () => {
    const members = (): AwsMembers => new AwsMembers(elb, instances, CLUSTER);
    const writes = (): number => calls.filter((verb) => verb === 'targets').length;

    test('more Nodes than one call takes go in by several', async () => {
      const { groups } = await standing();
      const targets = await account.makeInstances(120, 'prod');
      expect(await members().sync(groups[0]!, targets, ALWAYS)).toBe(2);
      expect((await members().observe()).get(groups[0]!.id)).toBe(members().hash(groups[0]!, targets));
    });

    test('nothing is written without the right to, nor to a group of another stack, another cluster, or one that was released', async () => {
      const { groups, stack } = await standing();
      const [group] = groups;
      const targets = await account.makeInstances(1, 'prod');
      calls = [];
      await expectError(
        'Canceled',
        members().sync(group!, targets, () => false),
      );
      await expectError('Conflict', members().sync({ ...group!, stack: 'another' }, targets, ALWAYS));
      await expectError('Conflict', new AwsMembers(elb, instances, 'another-cluster').sync({ ...group!, stack }, targets, ALWAYS));
      await elb.addTags({ ResourceArns: [group!.id], Tags: [{ Key: TAG.released, Value: 'true' }] }, {});
      await expectError('Conflict', members().sync({ ...group!, stack }, targets, ALWAYS));
      expect((await members().observe()).has(group!.id)).toBe(false);
      expect(writes()).toBe(0);
    });

    test('a group that is gone is told as gone', async () => {
      const { groups, runner: run } = await standing();
      const keeper = members();
      await keeper.sync(groups[0]!, [], ALWAYS);
      await run.destroy();
      await expectError('NotFound', keeper.sync(groups[0]!, await account.makeInstances(1, 'prod'), ALWAYS));
    });
  });

  describe('instances', () => {
    test('those of the cluster are listed, and none of another; an id that is gone fails no batch', async () => {
      const [ours, theirs] = [await account.makeInstances(2, 'prod'), await account.makeInstances(1, 'other')];
      const listed = await instances.list();
      for (const { providerID, nodeName } of ours) {
        const found = listed.find((instance) => instance.providerID === providerID);
        expect(found).toMatchObject({ state: 'Running', region: REGION, zone: providerID.split('/')[3], type: 't3.large' });
        expect(found?.names).toContain(nodeName);
        expect(found?.addresses.some(({ type }) => type === 'InternalIP')).toBe(true);
        expect(found?.additionalLabels?.['topology.k8s.aws/zone-id']).toBeTruthy();
      }
      expect(listed.map(({ providerID }) => providerID)).not.toContain(theirs[0]!.providerID);
      await account.terminate(ours[1]!);
      const byID = await instances.byIDs([...ours.map(({ providerID }) => providerID.split('/').at(-1) ?? ''), 'i-0123456789abcdef0']);
      expect(byID.map(({ state }) => state).sort()).toEqual(['Running', 'Terminated']);
    });
  });
});
