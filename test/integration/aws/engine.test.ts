import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudLoadBalancerSpec, cloudProviderSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { UpdateEngine } from '../../../operator/updates/engine';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { StackUpdate, UpdateHooks, UpdateResult } from '../../../operator/updates/update';
import { awsProvider } from '../../../providers/aws';
import type { Cloud, DiscoveredResource, JsonObject, LoadBalancerInput, TargetGroup } from '../../../providers/provider';
import { ensureTools } from '../../../tools/ensure';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount } from './moto-account';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const WEB = { name: 'web', port: 80, nodePort: 30_080 };
const DNS = { name: 'dns', protocol: 'UDP' as const, port: 53, nodePort: 30_053 };

describeWithMoto('AWS under the real engine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'aws-engine-'));
  let moto: Moto;
  let account: MotoAccount;
  let cloud: Cloud;
  let engine: UpdateEngine;
  let synced: TargetGroup[] = [];
  let serial = 0;

  beforeAll(async () => {
    const { pulumi } = await ensureTools(['pulumi']);
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    cloud = await awsProvider.connect(cloudProviderSpec.parse(account.providerSpec()), account.connectContext(CLUSTER));
    engine = new UpdateEngine({ store: new DirectoryStateStore(directory), tools: { pulumi }, logger: silentLogger, clock: systemClock });
  }, 120_000);
  beforeEach(() => {
    synced = [];
  });
  afterAll(async () => {
    await engine.close();
    await cloud.close();
    account.close();
    await moto.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const inputOf = (fields: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput => {
    const uid = `${String(++serial).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const spec = cloudLoadBalancerSpec.parse({ provider: 'aws', aws: {}, listeners: [WEB, DNS], ...fields });
    return { uid, ownerUID: uid, namespace: 'demo', name: 'web', spec };
  };
  const change = (input: LoadBalancerInput, fields: Partial<CloudLoadBalancerSpecInput>): LoadBalancerInput => ({
    ...input,
    spec: cloudLoadBalancerSpec.parse({ ...input.spec, ...fields }),
  });
  const upload = (name: string): Promise<string> => account.uploadCertificate(name);
  const discover = async (stack: string): Promise<DiscoveredResource[]> => (await cloud.discover!([stack])).get(stack) ?? [];
  const render = (stack: string, ...inputs: LoadBalancerInput[]): JsonObject => cloud.loadBalancers!.render(stack, inputs);
  const run = (stack: string, inputs: JsonObject | undefined, more: Partial<StackUpdate> = {}): Promise<UpdateResult> => {
    const update: StackUpdate = {
      stack,
      project: 'aws',
      providerName: 'aws',
      providerKind: awsProvider.kind,
      programVersion: awsProvider.programVersion,
      clusterID: CLUSTER,
      inputs,
      settings: cloud.workerSettings(),
      ...more,
    };
    const hooks: UpdateHooks = {
      isValid: () => true,
      discover: () => discover(stack),
      syncTargets: (group) => Promise.resolve(void synced.push(group)),
    };
    return engine.run(update, hooks);
  };

  test('a load balancer is made, found without drift, run for no more, changed in place, and leaves nothing', async () => {
    const stack = 'lb-life';
    const input = inputOf();
    const created = await run(stack, render(stack, input));
    expect(created).toMatchObject({ result: 'Updated', changes: { update: 0, replace: 0, delete: 0, same: 0 } });
    const { ingress, targetGroups } = cloud.loadBalancers!.results(created.outputs, input.uid)!;
    expect(ingress).toEqual([{ hostname: expect.stringMatching(/\.elb\./) as string }]);
    expect(synced.map(({ id, port, access }) => ({ id, port, access }))).toEqual(expect.arrayContaining(targetGroups));
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    expect((await run(stack, render(stack, input))).result).toBe('Unchanged');
    const forced = await run(stack, render(stack, input), { force: true });
    expect(forced).toMatchObject({ changes: { create: 0, update: 0, replace: 0, delete: 0 }, cloudCalls: 0 });

    const updated = await run(stack, render(stack, change(input, { aws: { crossZone: true } })));
    // With the barriers of its two groups, whose room depends on it.
    expect(updated).toMatchObject({ changes: { update: 3, delete: 0, create: 0, replace: 0 } });
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);

    expect((await run(stack, undefined)).result).toBe('Destroyed');
    expect(await discover(stack)).toEqual([]);
  });

  test('what is gone behind its back is seen, and made again', async () => {
    const stack = 'lb-drift';
    const input = inputOf();
    await run(stack, render(stack, input));
    const balancer = (await discover(stack)).find(({ type }) => type.endsWith('LoadBalancer'))!;
    await account.deleteLoadBalancer(balancer.id);
    const findings = await engine.adoptFindings(stack, await discover(stack));
    expect(findings?.map(({ kind }) => kind)).toContain('Missing');
    await run(stack, render(stack, input), { force: true });
    expect((await discover(stack)).filter(({ type }) => type.endsWith(':LoadBalancer'))).toHaveLength(1);
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, undefined);
  });

  test('a certificate beside the default one that somebody takes off is seen, and added again; somebody else’s stays', async () => {
    const stack = 'lb-certificates';
    const [one = '', two = '', three = ''] = [await upload('one'), await upload('two'), await upload('three')];
    const input = inputOf({ listeners: [WEB], aws: { tls: { certificateARNs: [one, two] } } });
    await run(stack, render(stack, input));
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    const listener = (await discover(stack)).find(({ type }) => type.endsWith(':Listener'))!.id;
    await account.setCertificates(listener, { add: three, remove: two });
    const drift = await engine.adoptFindings(stack, await discover(stack));
    expect(drift).toMatchObject([{ kind: 'Missing', urn: expect.stringContaining(':ListenerCertificate::') as string }]);
    await run(stack, render(stack, input), { force: true });
    expect(await account.certificatesOf(listener)).toEqual([one, three, two]);
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, undefined);
    expect(await discover(stack)).toEqual([]);
  });

  test('whatever its way to the Nodes, a load balancer goes before its target groups, and its listeners with it', async () => {
    const spec = account.providerSpec({ nodeRules: 'PerService' });
    const perService = await awsProvider.connect(cloudProviderSpec.parse(spec), account.connectContext(CLUSTER));
    const stack = 'lb-order';
    const inputs = perService.loadBalancers!.render(stack, [inputOf()]);
    await run(stack, inputs);
    // As after a loss of the state: what is found again has only the edges that its ids tell.
    await engine.forget(stack);
    await run(stack, inputs, { mayExist: true });
    const gone = await run(stack, undefined);
    expect(gone.result).toBe('Destroyed');
    expect(await discover(stack)).toEqual([]);
    await perService.close();
  });

  test('a state that was found again and is given up at once leaves nothing', async () => {
    const stack = 'lb-found';
    await run(stack, render(stack, inputOf()));
    await engine.forget(stack);
    expect((await run(stack, undefined, { mayExist: true })).result).toBe('Destroyed');
    expect(await discover(stack)).toEqual([]);
  });

  test('subnets are found by tags and route tables when the load balancer is made, and stay', async () => {
    const stack = 'lb-subnets';
    const { aws, ...spec } = account.providerSpec();
    const searching = await awsProvider.connect(
      cloudProviderSpec.parse({ ...spec, aws: { ...aws, subnetIDs: undefined } }),
      account.connectContext(CLUSTER),
    );
    const rendered = (input: LoadBalancerInput): JsonObject => searching.loadBalancers!.render(stack, [input]);
    const subnetsOf = async (): Promise<unknown> =>
      (await account.loadBalancers())[0]?.AvailabilityZones?.map(({ SubnetId }) => SubnetId).sort();
    const input = inputOf();
    await expect(run(stack, rendered(input))).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('route to an internet gateway') as string,
      resource: expect.stringContaining(':state:Subnets') as string,
    });
    await account.openToInternet();
    await run(stack, rendered(input));
    expect(await subnetsOf()).toEqual(account.subnetIDs);
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);

    await account.addSubnet('c');
    const again = await run(stack, rendered(change(input, { aws: { crossZone: true } })));
    expect(again).toMatchObject({ changes: { update: 3, replace: 0, create: 0 } });
    expect(await subnetsOf()).not.toContain(account.subnetIDs.at(-1));
    await run(stack, undefined);
    expect(await discover(stack)).toEqual([]);
    await searching.close();
  });

  test('a role is assumed for the operator and its workers', async () => {
    const spec = account.providerSpec({ assumeRole: { roleARN: 'arn:aws:iam::123456789012:role/operator', externalID: 'ours' } });
    const assuming = await awsProvider.connect(cloudProviderSpec.parse(spec), account.connectContext(CLUSTER));
    expect(assuming.workerSettings()).not.toHaveProperty('credentials');
    await assuming.prepareUpdate!();
    const settings = assuming.workerSettings();
    expect(settings).toHaveProperty('credentials.sessionToken');
    const stack = 'lb-role';
    await run(stack, assuming.loadBalancers!.render(stack, [inputOf()]), { settings });
    await run(stack, undefined, { settings });
    await assuming.close();
  });

  test('a failure names its class and its resource', async () => {
    const stack = 'lb-fails';
    const failing = run(stack, render(stack, inputOf({ aws: { subnets: ['subnet-0badbadbadbadbad0'] } })));
    await expect(failing).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('subnet-0badbadbadbadbad0') as string,
      resource: expect.stringContaining('aws:lb/loadBalancer:LoadBalancer') as string,
    });
    await run(stack, undefined);
    expect(await discover(stack)).toEqual([]);
  });
});
