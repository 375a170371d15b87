import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import { AllMembers } from '../../../providers/aws/members/all-members';
import { ClassicMembers } from '../../../providers/aws/members/classic-members';
import { backendGroupName } from '../../../providers/aws/nodes/backend-group';
import { AwsInstances } from '../../../providers/aws/nodes/instances';
import { AwsLoadBalancers } from '../../../providers/aws/load-balancers/load-balancers';
import { release } from '../../../providers/aws/release';
import { TAG } from '../../../providers/aws/tags';
import type { LoadBalancerInput, TargetGroup } from '../../../providers/provider';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { alwaysRules } from '../../harness/aws-model/rules';
import { unknownAtFirst, untaggedAtFirst } from '../../harness/aws-model/rules/lag';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import type { ProgramRunner } from '../../harness/program-runner';
import { CLUSTER, SCOPE, Scene } from './model-scene';
import { MotoAccount, REGION } from './moto-account';

const ALWAYS = (): boolean => true;
const HTTP = { name: 'http', port: 80, nodePort: 30_080 };
const HTTPS = { name: 'https', port: 443, nodePort: 30_443 };

describeWithMoto('Classic load balancers of AWS, against a simulated API', () => {
  let moto: Moto;
  let account: MotoAccount;
  let scene: Scene;
  let loadBalancers: AwsLoadBalancers;
  let certificate = '';
  let serial = 0;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    certificate = await account.uploadCertificate('web');
    const model = new AwsModel(moto.url, REGION);
    await model.start();
    scene = new Scene(model);
    const { vpcID, subnetIDs } = account;
    const cluster = { clusterID: CLUSTER, clusterName: 'prod', legacyClusterTag: false };
    loadBalancers = new AwsLoadBalancers({ ...cluster, vpcID, subnetIDs, nodeRules: 'Shared' });
  }, 120_000);
  afterAll(async () => {
    await scene.end();
    account.close();
    await moto.stop();
  });

  interface Standing {
    of: LoadBalancerInput;
    stack: string;
    run: ProgramRunner;
    group: TargetGroup;
    outputs: JsonObject;
    /** Brings it to another spec. */
    change(more: Partial<CloudLoadBalancerSpecInput>): Promise<void>;
  }

  async function standing(more: Partial<CloudLoadBalancerSpecInput> = {}, at = scene): Promise<Standing> {
    const number = String(++serial).padStart(8, '0');
    const specOf = (changed: Partial<CloudLoadBalancerSpecInput>) =>
      cloudLoadBalancerSpec.parse({ provider: 'aws', listeners: [HTTP], ...changed, aws: { type: 'Classic', ...changed.aws } });
    const of = {
      uid: `${number}-0000-4000-8000-555555555555`,
      ownerUID: `${number}-0000-4000-8000-666666666666`,
      namespace: 'shop',
      name: `web-${serial}`,
      spec: specOf(more),
    };
    const stack = `classic-${serial}`;
    const run = at.runner(stack);
    const outputs = await run.up(loadBalancers.render(stack, [of]));
    const [group] = loadBalancers.results(outputs, of.uid)?.targetGroups ?? [];
    const change = async (changed: Partial<CloudLoadBalancerSpecInput>): Promise<void> => {
      await run.up(loadBalancers.render(stack, [{ ...of, spec: specOf(changed) }]));
    };
    return { of, stack, run, outputs, group: { ...group!, stack }, change };
  }

  /** What AWS has for a stack is what its state says. */
  async function expectAsInState({ stack, run }: Standing): Promise<void> {
    const sorted = (resources: { type: string; name: string; id: string; inputs: JsonObject; outputs: JsonObject }[]) =>
      resources
        .map(({ type, name, id, inputs, outputs }) => ({ type, name, id, inputs, outputs }))
        .sort((a, b) => (`${a.type} ${a.id}` < `${b.type} ${b.id}` ? -1 : 1));
    const inState = run.checkpoint().filter(({ type }) => type.startsWith('aws:'));
    expect(sorted(await scene.found(stack))).toEqual(sorted(inState));
    for (const { type: token, name, id, inputs, outputs } of inState) {
      const { type, context } = run.resource(token, name);
      expect(await type.read(id, context)).toEqual({ inputs, outputs });
    }
  }

  const classicOf = async (name: string) =>
    (await scene.classic.describeLoadBalancers({ LoadBalancerNames: [name] })).LoadBalancerDescriptions?.[0];

  test('one is made whole, under upstream’s names; discovery finds what was set; a second update makes no call; deletion leaves nothing', async () => {
    const made = await standing();
    const { of, stack, run, outputs, group } = made;
    const name = `a${of.ownerUID.replaceAll('-', '')}`.slice(0, 32);
    expect(group).toEqual({ id: name, port: 30_080, stack });
    expect(loadBalancers.results(outputs, of.uid)?.ingress[0]?.hostname).toMatch(/\.elb\./);
    const found = await classicOf(name);
    expect(found).toMatchObject({
      Scheme: 'internet-facing',
      HealthCheck: { Target: 'TCP:30080', Interval: 10, Timeout: 5, HealthyThreshold: 2, UnhealthyThreshold: 6 },
      ListenerDescriptions: [{ Listener: { LoadBalancerPort: 80, InstancePort: 30_080, Protocol: 'TCP', InstanceProtocol: 'TCP' } }],
    });
    const { SecurityGroups } = await scene.ec2.describeSecurityGroups({ GroupIds: found?.SecurityGroups });
    expect(SecurityGroups?.map(({ GroupName }) => GroupName).sort()).toEqual([backendGroupName(CLUSTER), `k8s-elb-${name}`]);
    await expectAsInState(made);
    // What discovery found tells as much as the outputs (P-38), and what it was made from (P-44).
    const discovered = await scene.found(stack);
    expect(loadBalancers.recognize(discovered, of)).toEqual({ generation: 0, ...loadBalancers.results(outputs, of.uid) });
    expect(loadBalancers.madeFrom(discovered, { ...of, spec: { ...of.spec, scheme: 'Internal' } })).toEqual(of.spec);
    scene.model.calls.length = 0;
    await run.up(loadBalancers.render(stack, [of]));
    expect(scene.model.calls).toEqual([]);
    await run.destroy();
    expect(await scene.found(stack)).toEqual([]);
  });

  test('everything that upstream’s annotations set goes in, comes back, and is changed in place', async () => {
    // moto knows only the ports of Nodes that were there first, and takes a listener's protocol for the Nodes' too
    const made = await standing({ listeners: [HTTP, HTTPS] });
    const id = made.group.id;
    await made.change({
      listeners: [HTTP, HTTPS],
      aws: {
        crossZone: true,
        backendProtocol: 'HTTPS',
        accessLogs: { bucket: 'logs', prefix: 'web', emitIntervalMinutes: 5 },
        tls: { certificateARNs: [certificate], ports: ['https'], policy: 'ELBSecurityPolicy-2016-08' },
        classic: { connectionDraining: true, connectionDrainingTimeoutSeconds: 30, connectionIdleTimeoutSeconds: 90, proxyProtocol: true },
        healthCheck: { intervalSeconds: 15, timeoutSeconds: 3 },
        tags: { team: 'shop' },
      },
    });
    expect(made.run.checkpoint().find(({ type }) => type.endsWith('elb/loadBalancer:LoadBalancer'))?.id).toBe(id);
    await expectAsInState(made);
    const found = await classicOf(id);
    const listeners = found?.ListenerDescriptions?.map(({ Listener: at, PolicyNames }) => [
      `${at?.Protocol} ${at?.InstanceProtocol}`,
      PolicyNames,
    ]);
    expect(listeners).toEqual(
      expect.arrayContaining([
        ['TCP TCP', []],
        ['HTTPS HTTPS', ['k8s-SSLNegotiationPolicy-ELBSecurityPolicy-2016-08']],
      ]),
    );
    const backends = found?.BackendServerDescriptions?.filter(({ PolicyNames = [] }) => PolicyNames.includes('k8s-proxyprotocol-enabled'));
    expect(backends?.map(({ InstancePort }) => InstancePort).sort()).toEqual([30_080, 30_443]);
    await made.change({ listeners: [HTTP, HTTPS] });
    await expectAsInState(made);
    expect((await classicOf(id))?.Policies?.OtherPolicies ?? []).toEqual([]);
  });

  test.each([
    ['HTTPS', 'HTTP'],
    ['SSL', 'TCP'],
  ] as const)(
    'a listener that is made anew for Nodes which speak another protocol (%s, then %s) keeps its policies',
    async (one, other) => {
      const tls = { certificateARNs: [certificate], policy: 'ELBSecurityPolicy-2016-08' };
      const speaking = (backendProtocol: typeof one | typeof other): Partial<CloudLoadBalancerSpecInput> => {
        return { listeners: [HTTPS], aws: { backendProtocol, tls, classic: { proxyProtocol: true } } };
      };
      const made = await standing(speaking(one));
      const writesOf = async (change: Partial<CloudLoadBalancerSpecInput>): Promise<string[]> => {
        scene.model.calls.length = 0;
        await made.change(change);
        return scene.model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'));
      };
      const put = 'SetLoadBalancerPoliciesOfListener';
      expect(await writesOf(speaking(other))).toEqual(['DeleteLoadBalancerListeners', 'CreateLoadBalancerListeners', put]);
      const found = await classicOf(made.group.id);
      const listeners = found?.ListenerDescriptions?.map(({ PolicyNames }) => PolicyNames);
      expect(listeners).toEqual([['k8s-SSLNegotiationPolicy-ELBSecurityPolicy-2016-08']]);
      expect(found?.BackendServerDescriptions?.map(({ PolicyNames }) => PolicyNames)).toEqual([['k8s-proxyprotocol-enabled']]);

      // A state of an earlier build of this version does not say what the Nodes spoke.
      const without = ({ triggers, ...properties }: JsonObject): JsonObject => {
        return triggers === undefined ? properties : { ...properties, triggers: { listener: (triggers as JsonObject).listener! } };
      };
      const known = made.run.checkpoint();
      made.run.restore(known.map((resource) => ({ ...resource, inputs: without(resource.inputs), outputs: without(resource.outputs) })));
      expect(await writesOf(speaking(other))).toEqual([put]);
      await made.run.destroy();
    },
  );

  test('other subnets, also of the same zones: it is never without any, and the only one of a zone is not exchanged', async () => {
    for (const zone of ['a', 'b', 'a', 'b']) await account.addSubnet(zone);
    const [a, b, otherA, otherB] = account.subnetIDs.splice(2);
    const made = await standing({ aws: { subnets: [a!] } });
    const subnets = async (...ids: (string | undefined)[]): Promise<string[] | undefined> => {
      await made.change({ aws: { subnets: ids.map((id) => id!) } });
      return (await classicOf(made.group.id))?.Subnets?.toSorted();
    };
    await expect(subnets(otherA)).rejects.toMatchObject({ code: 'Invalid', field: 'spec.aws.subnets' });
    expect(await subnets(otherA, b)).toEqual([otherA!, b!].sort());
    expect(await subnets(a, otherB)).toEqual([a!, otherB!].sort());
    expect(await subnets(b)).toEqual([b]);
    expect(await subnets(a)).toEqual([a]);
    expect(made.run.checkpoint().find(({ type }) => type.endsWith('elb/loadBalancer:LoadBalancer'))?.id).toBe(made.group.id);
  });

  test('a lost answer and a dead worker make nothing twice; what is another’s is neither taken over nor deleted', async () => {
    scene.model.lost = { verb: 'create', times: 3 };
    const made = await standing();
    scene.model.lost = undefined;
    const { of, stack, run, group } = made;
    await expectAsInState(made);
    run.restore([]);
    const spec = cloudLoadBalancerSpec.parse({ ...of.spec, aws: { type: 'Classic', crossZone: true } });
    await run.up(loadBalancers.render(stack, [{ ...of, spec }]));
    await expectAsInState(made);
    await scene.classic.addTags({ LoadBalancerNames: [group.id], Tags: [{ Key: TAG.clusterID, Value: 'another' }] });
    await expect(scene.runner(stack).up(loadBalancers.render(stack, [of]))).rejects.toMatchObject({ code: 'Conflict' });
    const balancer = run.checkpoint().find(({ id }) => id === group.id)!;
    const { type, context } = run.resource(balancer.type, balancer.name);
    await expect(type.delete(group.id, context, balancer.outputs)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await classicOf(group.id)).toBeDefined();
  });

  test('listings and tags that lag behind: it is found, and its host name is known', async () => {
    const model = new AwsModel(moto.url, REGION, [unknownAtFirst(2), untaggedAtFirst(1), ...alwaysRules()]);
    await model.start();
    const behind = new Scene(model);
    const { of, stack, run, outputs, group } = await standing({}, behind);
    expect(loadBalancers.results(outputs, of.uid)?.ingress[0]?.hostname).toMatch(/\.elb\./);
    const inState = run.checkpoint().find(({ id }) => id === group.id);
    expect((await scene.found(stack)).find(({ id }) => id === group.id)?.outputs).toEqual(inState?.outputs);
    await behind.end();
  });

  test('what is released is neither discovered nor deleted any more', async () => {
    const { stack, run, group } = await standing({ aws: { classic: { proxyProtocol: true } } });
    await release(scene.clients, { scope: SCOPE, stack }, ALWAYS);
    expect(await scene.found(stack)).toEqual([]);
    await expect(run.destroy()).rejects.toMatchObject({ code: 'Conflict' });
    expect(await classicOf(group.id)).toBeDefined();
  });

  test('all of a stack are released, though AWS takes one at a time', async () => {
    const one = await standing();
    const second = { ...one.of, uid: 'second', ownerUID: 'ffffffff-0000-4000-8000-666666666666' };
    await one.run.up(loadBalancers.render(one.stack, [one.of, second]));
    await release(scene.clients, { scope: SCOPE, stack: one.stack }, ALWAYS);
    expect(await scene.found(one.stack)).toEqual([]);
  });

  test('instances: the whole set goes in once for all ports, one that is gone keeps no other out, and nothing is written without the right to', async () => {
    const { group } = await standing({ listeners: [HTTP, HTTPS] });
    const instances = new AwsInstances(scene.clients.ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    const classic = new ClassicMembers(scene.clients.classic, instances, CLUSTER);
    const members = new AllMembers(scene.members(), classic);
    const targets = await account.makeInstances(3, 'prod');
    await expect(members.sync(group, targets, () => false)).rejects.toMatchObject({ code: 'Canceled' });
    expect(await members.sync(group, targets, ALWAYS)).toBe(1);
    expect(await members.sync(group, targets.toReversed(), ALWAYS)).toBe(0);
    expect((await members.observe()).get(group.id)).toBe(members.hash(group, targets));
    expect(await members.sync(group, targets.slice(1), ALWAYS)).toBe(1);
    const [fresh, gone] = await account.makeInstances(2, 'prod');
    await account.terminate(gone!);
    expect(await members.sync(group, [fresh!, gone!, ...targets.slice(1)], ALWAYS)).toBe(1);
    expect((await members.observe()).get(group.id)).toBe(members.hash(group, [fresh!, ...targets.slice(1)]));
    await expect(members.sync({ ...group, stack: 'another' }, targets, ALWAYS)).rejects.toMatchObject({ code: 'Conflict' });
    await expect(members.sync({ ...group, id: 'not-there' }, targets, ALWAYS)).rejects.toMatchObject({ code: 'NotFound' });
  });
});
