import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudLoadBalancerSpec, cloudProviderSpec, type AWSLoadBalancer, type AWSProviderSettings, type FormerOwner } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { nextInput } from '../../../operator/cloud/plan/generation';
import { UpdateEngine } from '../../../operator/updates/engine';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { Plan } from '../../../operator/updates/plan';
import type { StackUpdate, UpdateHooks, UpdateResult } from '../../../operator/updates/update';
import { awsProvider } from '../../../providers/aws';
import { cloudName } from '../../../providers/aws/load-balancers/names';
import type { Adoption, Cloud, LoadBalancerInput, Replacement } from '../../../providers/provider';
import { ensureTools } from '../../../tools/ensure';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { alwaysRules } from '../../harness/aws-model/rules';
import { elasticAddresses } from '../../harness/aws-model/rules/elastic-addresses';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount, REGION } from './moto-account';
import { CONTROLLERS_POLICY, type Standing, Upstream, type UpstreamService } from './upstream';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const OTHER = 'ffffffff-1111-4222-8333-444455556666';

describeWithMoto('AWS: load balancers of others are taken over as they are', () => {
  const directory = mkdtempSync(join(tmpdir(), 'aws-adoption-'));
  let moto: Moto;
  let model: AwsModel;
  let account: MotoAccount;
  let upstream: Upstream;
  let engine: UpdateEngine;
  const clouds: Cloud[] = [];
  let instances: string[];
  let serial = 0;

  beforeAll(async () => {
    const { pulumi } = await ensureTools(['pulumi']);
    moto = await startMoto();
    model = new AwsModel(moto.url, REGION, [elasticAddresses({ clock: systemClock, holdMs: 0 }), ...alwaysRules()]);
    await model.start();
    account = new MotoAccount(model.url);
    await account.prepare();
    upstream = new Upstream(model.url, account);
    instances = (await account.makeInstances(2, 'prod')).map(({ providerID }) => providerID.split('/').at(-1) ?? '').sort();
    engine = new UpdateEngine({ store: new DirectoryStateStore(directory), tools: { pulumi }, logger: silentLogger, clock: systemClock });
  }, 120_000);
  afterAll(async () => {
    await engine.close();
    await Promise.all(clouds.map((cloud) => cloud.close()));
    upstream.close();
    account.close();
    await model.stop();
    await moto.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const connect = async (clusterID = CLUSTER, more: Partial<AWSProviderSettings> = {}): Promise<Cloud> => {
    const { aws, ...spec } = account.providerSpec();
    const cloud = await awsProvider.connect(
      cloudProviderSpec.parse({ ...spec, aws: { ...aws, ...more } }),
      account.connectContext(clusterID),
    );
    clouds.push(cloud);
    return cloud;
  };

  /** A Service of two ports, as upstream and as we see it. */
  function service(aws: Partial<AWSLoadBalancer> = {}): { seen: UpstreamService; input: LoadBalancerInput; stack: string } {
    const uid = `${String(++serial).padStart(8, '0')}-aaaa-4000-8000-000000000000`;
    const ports = [
      { name: 'http', port: 80, nodePort: 30_080 },
      { name: 'https', port: 443, nodePort: 30_443 },
    ];
    const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', aws, listeners: ports });
    const name = `web-${serial}`;
    const input = { uid: `clb-${uid}`, ownerUID: uid, namespace: 'demo', name, spec };
    return { seen: { uid, namespace: 'demo', name, ports }, input, stack: `lb-adopt-${serial}` };
  }

  const withTLS = (input: LoadBalancerInput, tls: AWSLoadBalancer['tls']): LoadBalancerInput => ({
    ...input,
    spec: cloudLoadBalancerSpec.parse({ ...input.spec, aws: { ...input.spec.aws, tls } }),
  });

  /** As operator/cloud/ asks for it. */
  class TakeOver {
    constructor(
      readonly cloud: Cloud,
      private readonly stack: string,
      readonly input: LoadBalancerInput,
      private readonly adoption: Adoption,
    ) {}

    get adopted(): LoadBalancerInput {
      const { kept } = this.adoption;
      return { ...this.input, ...(kept !== undefined && { adopted: kept }) };
    }

    plan(): Promise<Plan> {
      return engine.preview(this.update(this.adopted), this.hooks());
    }

    run(input = this.adopted, more: Partial<StackUpdate> = {}): Promise<UpdateResult> {
      return engine.run({ ...this.update(input), ...more }, this.hooks());
    }

    destroy(): Promise<UpdateResult> {
      return engine.run({ ...this.update(this.adopted), inputs: undefined }, this.hooks());
    }

    async drift(): Promise<unknown[] | undefined> {
      return engine.compare(this.stack, (await this.cloud.discover!([this.stack])).get(this.stack) ?? []);
    }

    private update(input: LoadBalancerInput): StackUpdate {
      const { stack, cloud } = this;
      return {
        ...{ stack, project: 'aws', providerName: 'aws', providerKind: 'aws', programVersion: awsProvider.programVersion },
        ...{ clusterID: CLUSTER, inputs: cloud.loadBalancers!.render(stack, [input]), settings: cloud.workerSettings(), mayExist: true },
      };
    }

    private hooks(): UpdateHooks {
      return {
        isValid: () => true,
        discover: async () => [...((await this.cloud.discover!([this.stack])).get(this.stack) ?? []), ...this.adoption.resources],
        syncTargets: () => Promise.resolve(),
      };
    }
  }

  async function takeOver(
    of: ReturnType<typeof service>,
    from: FormerOwner = 'Upstream',
    id?: string,
    connected?: Cloud,
  ): Promise<TakeOver> {
    const cloud = connected ?? (await connect());
    const adoption = await cloud.adoptable!(of.stack, of.input, from, id);
    if (adoption === undefined) throw new Error('there is nothing to be taken over');
    return new TakeOver(cloud, of.stack, of.input, adoption);
  }

  const writesOf = (): string[] => model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'));

  /** What the plan does to the cloud: barriers stand for nothing there. */
  const inCloud = ({ operations }: Plan): Plan['operations'] => operations.filter(({ type }) => !type.startsWith('cloudoperator:'));

  test('of cloud-provider-aws, without a group: the plan is our marks alone, and so is what is written; the old names and tags stay', async () => {
    const of = service();
    const arn = await upstream.network(of.seen, instances);
    const before = await upstream.standing(arn);
    const taken = await takeOver(of);
    model.calls.length = 0;
    const plan = await taken.plan();
    expect(writesOf()).toEqual([]);
    const planned = inCloud(plan);
    expect(planned.map(({ op, type }) => `${op} ${type.split(':').at(-1) ?? ''}`).sort()).toEqual([
      ...['update Listener', 'update Listener', 'update LoadBalancer', 'update TargetGroup', 'update TargetGroup'],
    ]);
    const paths = planned.flatMap(({ properties = [] }) => properties.map(({ path }) => path));
    expect(new Set(paths.map((path) => path.slice(0, 'tags["cloud-operator.dev/'.length)))).toEqual(new Set(['tags["cloud-operator.dev/']));

    expect(await taken.run()).toMatchObject({ result: 'Updated', changes: { replace: 0, delete: 0, update: 5 } });
    expect(new Set(writesOf())).toEqual(new Set(['AddTags']));
    const after = await upstream.standing(arn);
    expect({ ...after, tags: undefined }).toEqual({ ...before, tags: undefined });
    for (const [id, tags] of Object.entries(before.tags)) {
      expect(after.tags[id]).toEqual(expect.objectContaining(tags));
      expect(after.tags[id]).toMatchObject({ 'cloud-operator.dev/cluster-id': CLUSTER, 'cloud-operator.dev/stack': of.stack });
    }
    expect(await taken.drift()).toEqual([]);
    model.calls.length = 0;
    expect((await taken.run()).result).toBe('Unchanged');
    expect(await taken.run(taken.adopted, { force: true })).toMatchObject({ changes: { create: 0, update: 0, replace: 0, delete: 0 } });
    expect(writesOf()).toEqual([]);

    // State is lost, and neither annotation nor policy says any more that it was taken over: it gets no group, which AWS can't give it.
    await engine.forget(of.stack);
    const recognized = await taken.cloud.adoptable!(of.stack, of.input, 'Itself');
    expect(recognized).toEqual({ from: 'this stack', resources: [], kept: taken.adopted.adopted });
    const again = new TakeOver(taken.cloud, of.stack, of.input, recognized!);
    expect(await again.run()).toMatchObject({ changes: { replace: 0, delete: 0, update: 0 } });
    expect(writesOf()).toEqual([]);
    // What somebody else has under the name is not asked for: the update says who has it.
    expect(await taken.cloud.adoptable!('lb-another', of.input, 'Itself')).toBeUndefined();

    const spec = cloudLoadBalancerSpec.parse({ ...of.input.spec, aws: { crossZone: true }, scheme: 'Internal' });
    expect(taken.cloud.loadBalancers!.keptDifferences!({ ...taken.adopted, spec }).map(({ field }) => field)).toEqual([
      'spec.scheme',
      'spec.aws.securityGroups',
    ]);
    const changed = await taken.run({ ...taken.adopted, spec });
    // With it the barriers of its two target groups, whose members are counted otherwise now.
    expect(changed).toMatchObject({ changes: { create: 0, update: 3, replace: 0, delete: 0 } });
    expect(writesOf()).toEqual(['ModifyLoadBalancerAttributes']);
    expect((await upstream.standing(arn)).balancer).toEqual(before.balancer);
    expect((await taken.destroy()).result).toBe('Destroyed');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('target groups whose checks speak another protocol, which AWS can’t change: new ones take over, and the old ones stay', async () => {
    const of = service();
    const arn = await upstream.network(of.seen, instances, 'Shared');
    const before = await upstream.standing(arn);
    const taken = await takeOver(of);
    const created = inCloud(await taken.plan()).filter(({ op }) => op === 'create');
    expect(created.map(({ type }) => type)).toEqual(['aws:lb/targetGroup:TargetGroup', 'aws:lb/targetGroup:TargetGroup']);
    model.calls.length = 0;
    expect(await taken.run()).toMatchObject({ result: 'Updated', changes: { replace: 0, delete: 0 } });
    const groups = ({ listeners }: Standing): string[] => listeners.map(({ group }) => group);
    const after = await upstream.standing(arn);
    expect(groups(after).filter((group) => groups(before).includes(group))).toEqual([]);
    const { TargetGroups = [] } = await upstream.elb.describeTargetGroups({ TargetGroupArns: [...groups(before), ...groups(after)] });
    expect(TargetGroups.map(({ HealthCheckProtocol }) => HealthCheckProtocol)).toEqual(['HTTP', 'HTTP', 'TCP', 'TCP']);
    expect(await taken.drift()).toEqual([]);
    await taken.destroy();
    for (const TargetGroupArn of groups(before)) await upstream.elb.deleteTargetGroup({ TargetGroupArn });
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('the policy of a TLS listener stays, though it lets in older clients than one that is made here', async () => {
    const certificate = await account.uploadCertificate('adopted');
    const of = service({ tls: { certificateARNs: [certificate], ports: ['https'] } });
    const arn = await upstream.network(of.seen, instances);
    await upstream.encrypt(arn, 443, certificate, 'ELBSecurityPolicy-2016-08');
    const taken = await takeOver(of);
    expect(taken.adopted.adopted).toMatchObject({ tlsPolicies: { '443': 'ELBSecurityPolicy-2016-08' } });
    const planned = inCloud(await taken.plan());
    expect(planned.map(({ op }) => op)).not.toContain('replace');
    expect(JSON.stringify(planned)).not.toContain('sslPolicy');
    await taken.run();
    await taken.destroy();
  });

  test('of the AWS Load Balancer Controller: found by its tags, with its group; the group in front of the Nodes stays on it', async () => {
    const of = service();
    const { arn, frontend, backend } = await upstream.controllerNetwork(of.seen, instances);
    const before = await upstream.standing(arn);
    const taken = await takeOver(of);
    const planned = inCloud(await taken.plan());
    expect(new Set(planned.map(({ op }) => op))).toEqual(new Set(['update']));
    expect(planned.filter(({ type }) => type.includes('ecurityGroupIngressRule'))).toHaveLength(3);
    model.calls.length = 0;
    expect(await taken.run()).toMatchObject({ changes: { replace: 0, delete: 0 } });
    expect(writesOf().filter((action) => /^(Delete|Revoke)/.test(action))).toEqual([]);
    const after = await upstream.standing(arn);
    expect(after.balancer.SecurityGroups).toEqual(expect.arrayContaining([frontend, backend]));
    expect(after.balancer.SecurityGroups).toHaveLength(3);
    expect({ ...after.balancer, SecurityGroups: [] }).toEqual({ ...before.balancer, SecurityGroups: [] });
    expect(after.groups).toEqual(before.groups);
    expect(after.tags[arn]).toEqual(expect.objectContaining(before.tags[arn]));
    expect(await upstream.rules(frontend)).toHaveLength(3);
    expect(await taken.drift()).toEqual([]);
    // An update that did not end has left our marks, and no name says what it is.
    expect((await taken.cloud.adoptable!(of.stack, of.input, 'Upstream'))?.kept).toEqual(taken.adopted.adopted);
    expect((await taken.cloud.adoptable!(of.stack, of.input, 'Itself'))?.kept).toEqual(taken.adopted.adopted);
    // State is lost, and nobody looks whether it was taken over.
    await engine.forget(of.stack);
    model.calls.length = 0;
    const again = new TakeOver(taken.cloud, of.stack, of.input, { from: '', resources: [] });
    await again.run().catch(() => undefined);
    expect(writesOf().filter((action) => action.startsWith('Delete'))).toEqual([]);
    expect((await upstream.standing(arn)).balancer.LoadBalancerName).toBe(before.balancer.LoadBalancerName);
    await taken.run(taken.adopted, { force: true });
    await taken.destroy();
    await upstream.ec2.deleteSecurityGroup({ GroupId: backend });
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('of the AWS Load Balancer Controller, with rules for each Service: its group is looked after, though the spec asks for none', async () => {
    // So annotations are compiled with these settings, which the migration page has.
    const of = service({ securityGroups: { mode: 'None' } });
    const { arn, frontend, backend } = await upstream.controllerNetwork(of.seen, instances);
    const taken = await takeOver(of, 'Upstream', undefined, await connect(CLUSTER, { nodeRules: 'PerService' }));
    expect(inCloud(await taken.plan()).map(({ op }) => op)).not.toContain('create');
    expect(await taken.run()).toMatchObject({ changes: { replace: 0, delete: 0 } });
    expect((await upstream.standing(arn)).balancer.SecurityGroups?.sort()).toEqual([frontend, backend].sort());
    expect(await taken.drift()).toEqual([]);
    expect((await taken.cloud.adoptable!(of.stack, of.input, 'Itself'))?.kept).toEqual(taken.adopted.adopted);
    // A version before this one left the group as it was: where the state of that is lost, it stays.
    const mark = [{ Key: 'cloud-operator.dev/cluster-id', Value: CLUSTER }];
    await upstream.ec2.deleteTags({ Resources: [frontend], Tags: mark });
    const left = (await taken.cloud.adoptable!(of.stack, of.input, 'Itself'))?.kept as { groupIDs: string[]; ownGroup?: boolean };
    expect([left.ownGroup, left.groupIDs.toSorted()]).toEqual([undefined, [frontend, backend].sort()]);
    await upstream.ec2.createTags({ Resources: [frontend], Tags: mark });

    const { spec } = of.input;
    const listeners = [...spec.listeners, { ...spec.listeners[0]!, name: 'more', port: 8443, nodePort: 30_843 }];
    await taken.run({ ...taken.adopted, spec: { ...spec, listeners, sourceRanges: ['192.0.2.0/24'] } });
    const rules = (await upstream.rules(frontend)).map(({ IpProtocol, FromPort, CidrIpv4 }) => `${IpProtocol} ${FromPort} ${CidrIpv4}`);
    expect(rules.sort()).toEqual(['icmp 3', 'tcp 443', 'tcp 80', 'tcp 8443'].map((rule) => `${rule} 192.0.2.0/24`));
    expect(taken.cloud.loadBalancers!.keptDifferences!(taken.adopted)).toEqual([
      { field: 'spec.aws.securityGroups', wanted: 'none', kept: `one that is made for it, ${backend}` },
    ]);
    await taken.destroy();
    await upstream.ec2.deleteSecurityGroup({ GroupId: backend });
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('a listener with several certificates: those that are asked for are taken over, others stay, and the plan says which one comes', async () => {
    const [one, two, three, foreign] = await Promise.all(['one', 'two', 'three', 'foreign'].map((name) => account.uploadCertificate(name)));
    const asking = (...certificateARNs: (string | undefined)[]): AWSLoadBalancer['tls'] => ({
      certificateARNs: certificateARNs.map((arn) => arn ?? ''),
      ports: ['https'],
      policy: CONTROLLERS_POLICY,
    });
    const of = service({ tls: asking(one, two, three) });
    const { arn, backend } = await upstream.controllerNetwork(of.seen, instances, [one!, three!, two!, foreign!]);
    const listener = (await upstream.elb.describeListeners({ LoadBalancerArn: arn })).Listeners?.find(({ Port }) => Port === 443);
    const certificates = async (): Promise<string[]> => {
      const { Certificates = [] } = await upstream.elb.describeListenerCertificates({ ListenerArn: listener?.ListenerArn });
      return Certificates.map(({ CertificateArn = '' }) => CertificateArn);
    };
    /** What a plan does to certificates, and to what goes with them. */
    const planOf = async (tls: AWSLoadBalancer['tls']): Promise<string[]> => {
      const plan = await (await takeOver({ ...of, input: withTLS(of.input, tls) })).plan();
      return inCloud(plan).flatMap(({ op, type, properties = [] }) =>
        properties.flatMap(({ path, new: to = '' }) =>
          ['certificateArn', 'sslPolicy'].includes(path) ? `${op} ${type.split(':').at(-1)} ${path} ${to}` : [],
        ),
      );
    };
    expect(await planOf(asking(one, two, three))).toEqual([]);
    expect(await planOf(asking(one, three, two))).toEqual([]);
    expect(await planOf(asking(two, three))).toEqual([`update Listener certificateArn "${two}"`]);
    expect(await planOf({ ...asking(one, two)!, policy: 'ELBSecurityPolicy-TLS13-1-2-2021-06' })).toEqual([
      'update Listener sslPolicy "ELBSecurityPolicy-TLS13-1-2-2021-06"',
    ]);
    const four = await account.uploadCertificate('four');
    expect(await planOf(asking(one, two, four))).toEqual([`create ListenerCertificate certificateArn "${four}"`]);

    const taken = await takeOver(of);
    const before = await certificates();
    expect(before.slice().sort()).toEqual([one, two, three, foreign].sort());
    model.calls.length = 0;
    expect(await taken.run()).toMatchObject({ changes: { replace: 0, delete: 0 } });
    expect(writesOf().filter((action) => /Certificate|Listener/.test(action))).toEqual([]);
    expect(await certificates()).toEqual(before);
    expect(await taken.drift()).toEqual([]);
    // one of them is not asked for any more: that one goes, and what was never asked for stays
    await taken.run(withTLS(taken.adopted, asking(one, two)));
    expect((await certificates()).sort()).toEqual([one, two, foreign].sort());
    await taken.destroy();
    await upstream.ec2.deleteSecurityGroup({ GroupId: backend });
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('a Classic one of cloud-provider-aws, with its group', async () => {
    const of = service({ type: 'Classic' });
    const group = await upstream.classicLoadBalancer(of.seen, instances);
    const [before] = await account.classicLoadBalancers();
    const taken = await takeOver(of);
    const planned = inCloud(await taken.plan());
    expect(new Set(planned.map(({ op }) => op))).toEqual(new Set(['update']));
    model.calls.length = 0;
    expect(await taken.run()).toMatchObject({ changes: { replace: 0, delete: 0 } });
    expect(new Set(writesOf())).toEqual(new Set(['AddTags', 'CreateTags']));
    expect(await account.classicLoadBalancers()).toEqual([before]);
    expect(await upstream.rules(group)).toHaveLength(3);
    expect(await taken.drift()).toEqual([]);
    expect((await taken.cloud.adoptable!(of.stack, of.input, 'Itself'))?.kept).toEqual(taken.adopted.adopted);
    await taken.destroy();
    expect(await taken.cloud.adoptable!(of.stack, of.input, 'Itself')).toBeUndefined();
    expect(await account.classicLoadBalancers()).toEqual([]);
  }, 120_000);

  test('what is of another cluster, of another Service, or not given up is Taken, with its holder', async () => {
    const of = service();
    const foreign = new Upstream(model.url, account, 'other');
    const arn = await foreign.network(of.seen, []);
    const cloud = await connect();
    await expect(cloud.adoptable!(of.stack, of.input, 'Upstream')).rejects.toMatchObject({
      code: 'Taken',
      message: expect.stringContaining(`Service demo/${of.seen.name}, cluster other`) as string,
    });
    await expect(cloud.adoptable!(of.stack, of.input, 'Released')).rejects.toMatchObject({ code: 'Taken' });
    model.calls.length = 0;
    expect(await cloud.adoptable!(of.stack, of.input)).toBeUndefined();
    expect(model.calls).toEqual([]);
    await account.deleteLoadBalancer(arn);
    foreign.close();
  }, 60_000);

  test('what nobody has marked is taken over by its ARN, and by nothing else; its name, tags and targets stay', async () => {
    const of = service();
    const content = await account.content();
    const arn = await upstream.byHand(of.seen, instances);
    const before = await upstream.standing(arn);
    const cloud = await connect();
    for (const from of ['Released', 'Upstream'] as const) {
      expect(await cloud.adoptable!(of.stack, of.input, from)).toBeUndefined();
      const refused = { code: 'Taken', field: 'spec.adoptID', remedy: expect.stringContaining('Unowned') as string };
      await expect(cloud.adoptable!(of.stack, of.input, from, arn)).rejects.toMatchObject(refused);
    }
    expect(await cloud.adoptable!(of.stack, of.input, 'Unowned', arn.replace(/.{4}$/, 'ffff'))).toBeUndefined();
    const taken = await takeOver(of, 'Unowned', arn);
    model.calls.length = 0;
    const planned = inCloud(await taken.plan());
    expect(new Set(planned.map(({ op }) => op))).toEqual(new Set(['update']));
    expect(await taken.run()).toMatchObject({ changes: { replace: 0, delete: 0 } });
    expect(new Set(writesOf())).toEqual(new Set(['AddTags']));
    const after = await upstream.standing(arn);
    expect({ ...after, tags: {} }).toEqual({ ...before, tags: {} });
    expect(after.tags[arn]).toEqual(expect.objectContaining({ team: 'edge', 'cloud-operator.dev/owner': `demo/${of.seen.name}` }));
    expect(await taken.drift()).toEqual([]);

    const other = service();
    await expect(cloud.adoptable!(other.stack, other.input, 'Unowned', arn)).rejects.toMatchObject({
      code: 'Taken',
      message: expect.stringContaining(`demo/${of.seen.name} (stack ${of.stack}`) as string,
    });
    // An update that did not end is gone on with, and a lost state is found again by our marks.
    expect((await cloud.adoptable!(of.stack, of.input, 'Unowned', arn))?.resources).toEqual([]);
    expect((await cloud.adoptable!(of.stack, of.input, 'Itself'))?.kept).toEqual(taken.adopted.adopted);
    await taken.destroy();
    expect(await account.content()).toEqual(content);
  }, 120_000);

  test('one with addresses that exist only once is deleted first by a later change of what is fixed, and another one stands in its place', async () => {
    const content = await account.content();
    const eipAllocationIDs = [await account.makeAddress(), await account.makeAddress()];
    const subnets = [...account.subnetIDs];
    const of = service({ subnets, eipAllocationIDs });
    const arn = await upstream.byHand(of.seen, instances, eipAllocationIDs);
    const taken = await takeOver(of, 'Unowned', arn);
    await taken.run();
    const before = await upstream.standing(arn);
    const { aws } = of.input.spec;
    const spec = cloudLoadBalancerSpec.parse({ ...of.input.spec, aws: { ...aws, subnets: subnets.toReversed() } });
    const replacement = (a: object, b: object): Replacement | undefined =>
      taken.cloud.loadBalancers!.replacement!(a as LoadBalancerInput, b as LoadBalancerInput);
    const wanted: LoadBalancerInput = { ...of.input, spec };
    const next = nextInput(taken.adopted, wanted, { left: () => 0, replacement });
    expect(next.replacement).toMatchObject({ gap: true });
    const input = next.input as unknown as LoadBalancerInput;
    model.calls.length = 0;
    await taken.run(input);
    expect(writesOf().filter((action) => /(Delete|Create)LoadBalancer/.test(action))).toEqual(['DeleteLoadBalancer', 'CreateLoadBalancer']);
    const made = (await account.loadBalancers()).find(({ LoadBalancerName = '' }) => LoadBalancerName === cloudName(of.input.ownerUID));
    const after = await upstream.standing(made?.LoadBalancerArn ?? '');
    const placed = (after.balancer.AvailabilityZones ?? []).map(({ SubnetId, LoadBalancerAddresses }) => [
      SubnetId,
      LoadBalancerAddresses?.[0]?.AllocationId,
    ]);
    expect(placed.sort()).toEqual([...subnets.toReversed().entries()].map(([index, id]) => [id, eipAllocationIDs[index]]).sort());
    // Their names and targets stay, and what is said of the load balancer before.
    expect(after.groups).toEqual(before.groups);
    expect(after.listeners).toEqual(expect.arrayContaining(before.listeners));
    expect(Object.keys(after.tags[made?.LoadBalancerArn ?? ''] ?? {})).not.toContain('team');
    expect(await taken.drift()).toEqual([]);
    expect((await taken.run(input)).result).toBe('Unchanged');
    expect(taken.cloud.loadBalancers!.keptDifferences!(input)).toEqual([]);
    expect(await taken.cloud.adoptable!(of.stack, wanted, 'Itself')).toBeUndefined();
    await taken.destroy();
    expect(await account.content()).toEqual(content);
  }, 120_000);

  test('what another controller has made is none of nobody’s, also by its ARN; nor is what stands in another VPC', async () => {
    const of = service();
    const arn = await upstream.network(of.seen, []);
    const cloud = await connect();
    await expect(cloud.adoptable!(of.stack, of.input, 'Unowned', arn)).rejects.toMatchObject({
      code: 'Taken',
      message: expect.stringContaining(`another controller: Service demo/${of.seen.name}, cluster prod`) as string,
    });
    expect((await cloud.adoptable!(of.stack, of.input, 'Upstream', arn))?.resources.length).toBeGreaterThan(0);
    const { aws, ...spec } = account.providerSpec() as { aws: object };
    const elsewhere = await awsProvider.connect(
      cloudProviderSpec.parse({ ...spec, aws: { ...aws, vpcID: 'vpc-0aaaaaaaaaaaaaaaa' } }),
      account.connectContext(CLUSTER),
    );
    clouds.push(elsewhere);
    await expect(elsewhere.adoptable!(of.stack, of.input, 'Upstream', arn)).rejects.toMatchObject({
      code: 'Invalid',
      field: 'spec.adoptID',
      message: expect.stringContaining('and the Nodes are in vpc-0aaaaaaaaaaaaaaaa') as string,
    });
    await account.deleteLoadBalancer(arn);
    const application = { Name: 'web-app', Type: 'application' as const, Subnets: account.subnetIDs };
    const [{ LoadBalancerArn: other = '' } = {}] = (await upstream.elb.createLoadBalancer(application)).LoadBalancers ?? [];
    await expect(cloud.adoptable!(of.stack, of.input, 'Unowned', other)).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('is a load balancer of type application; only Network and Classic ones') as string,
    });
    await account.deleteLoadBalancer(other);
  }, 60_000);

  test('what cloud-provider-aws has made for a Service is found by its name, until somebody here has taken it over', async () => {
    const of = service();
    const cloud = await connect();
    expect(await cloud.leftFor!(of.seen.uid)).toBeUndefined();
    const arn = await upstream.network(of.seen, instances);
    model.calls.length = 0;
    expect(await cloud.leftFor!(of.seen.uid)).toBe(
      `load balancer ${arn} of another controller: Service demo/${of.seen.name}, cluster prod`,
    );
    expect(writesOf()).toEqual([]);
    const taken = await takeOver(of);
    await taken.run();
    expect(await cloud.leftFor!(of.seen.uid)).toBeUndefined();
    await cloud.release!(of.stack, () => true);
    expect(await cloud.leftFor!(of.seen.uid)).toBeUndefined();
    await engine.forget(of.stack);
    await account.deleteLoadBalancer(arn);

    const classic = service({ type: 'Classic' });
    const group = await upstream.classicLoadBalancer(classic.seen, instances);
    const name = `a${classic.seen.uid.replaceAll('-', '').slice(0, 31)}`;
    expect(await cloud.leftFor!(classic.seen.uid)).toMatch(`Classic load balancer ${name} of another controller`);
    await upstream.classic.deleteLoadBalancer({ LoadBalancerName: name });
    await upstream.ec2.deleteSecurityGroup({ GroupId: group });
  }, 120_000);

  test('what another cluster of ours has released is taken over by its name, and what was done halfway is gone on with', async () => {
    const of = service({ name: 'edge-lb' });
    const old = new TakeOver(await connect(), of.stack, of.input, { from: '', resources: [] });
    await old.run();
    const [{ LoadBalancerArn: arn = '', DNSName } = {}] = await account.loadBalancers();
    const cloud = await connect(OTHER);
    const wanted = { ...of.input, ownerUID: `9${of.input.ownerUID.slice(1)}`, uid: 'another' };
    await expect(cloud.adoptable!('lb-new', wanted, 'Released')).rejects.toMatchObject({ code: 'Taken' });
    await old.cloud.release!(of.stack, () => true);
    await engine.forget(of.stack);
    const { resources, from } = (await cloud.adoptable!('lb-new', wanted, 'Released'))!;
    expect(from).toContain(CLUSTER);
    expect(resources.map(({ type }) => type.split(':').at(-1)).sort()).toEqual([
      ...['Listener', 'Listener', 'LoadBalancer', 'SecurityGroup'],
      ...Array.from({ length: 3 }, () => 'SecurityGroupIngressRule'),
      ...['TargetGroup', 'TargetGroup'],
    ]);
    const back = await cloud.adoptable!(of.stack, of.input, 'Released');
    expect(back?.resources).toHaveLength(resources.length);
    // One of them bears the marks of the new stack by now, and nobody's release.
    const Tags = [
      { Key: 'cloud-operator.dev/cluster-id', Value: OTHER },
      { Key: 'cloud-operator.dev/stack', Value: 'lb-new' },
      { Key: 'cloud-operator.dev/adopted', Value: 'true' },
    ];
    await upstream.elb.addTags({ ResourceArns: [arn], Tags });
    await upstream.elb.removeTags({ ResourceArns: [arn], TagKeys: ['cloud-operator.dev/released'] });
    const rest = (await cloud.adoptable!('lb-new', wanted, 'Released'))!;
    expect(rest.resources.map(({ type }) => type)).not.toContain('aws:lb/loadBalancer:LoadBalancer');
    expect(rest.resources).toHaveLength(resources.length - 1);
    expect(rest.kept).toMatchObject({ grouped: true });
    expect((await account.loadBalancers()).map((one) => one.DNSName)).toEqual([DNSName]);
  }, 120_000);
});
