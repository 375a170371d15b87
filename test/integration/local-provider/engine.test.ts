import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudLoadBalancerSpec, cloudProviderSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { UpdateEngine } from '../../../operator/updates/engine';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { StackUpdate, UpdateHooks, UpdateResult } from '../../../operator/updates/update';
import type { LoadBalancer } from '../../../providers/local/api';
import { localProvider } from '../../../providers/local';
import type { Cloud, DiscoveredResource, JsonObject, LoadBalancerInput } from '../../../providers/provider';
import { ensureTools } from '../../../tools/ensure';
import { LocalCloudProcess } from './local-cloud-process';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const WEB = { name: 'web', port: 80, nodePort: 30080 };
const DNS = { name: 'dns', protocol: 'UDP' as const, port: 53, nodePort: 30053 };

describe('the local cloud under the real engine', () => {
  const directory = mkdtempSync(join(tmpdir(), 'local-provider-engine-'));
  let local: LocalCloudProcess;
  let cloud: Cloud;
  let engine: UpdateEngine;
  let serial = 0;

  beforeAll(async () => {
    const { pulumi } = await ensureTools(['pulumi']);
    expect(existsSync(pulumi)).toBe(true);
    local = await LocalCloudProcess.start();
    const settings = cloudProviderSpec.parse({ local: { endpoint: local.endpoint, tokenFile: local.tokenFile } });
    const readSecret = (): Promise<string[]> => Promise.reject(new Error('no secrets'));
    cloud = await localProvider.connect(settings, { clusterID: CLUSTER, providerName: 'home', readSecret });
    engine = new UpdateEngine({ store: new DirectoryStateStore(directory), tools: { pulumi }, logger: silentLogger, clock: systemClock });
  }, 120_000);
  afterEach(() => local.faults());
  afterAll(async () => {
    await engine.close();
    await cloud.close();
    await local.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  const inputOf = (fields: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput => {
    const uid = `${String(++serial).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const spec = cloudLoadBalancerSpec.parse({ provider: 'home', local: {}, listeners: [WEB, DNS], ...fields });
    return { uid, ownerUID: uid, namespace: 'demo', name: 'web', spec };
  };
  const change = (input: LoadBalancerInput, fields: Partial<CloudLoadBalancerSpecInput>): LoadBalancerInput => ({
    ...input,
    spec: cloudLoadBalancerSpec.parse({ ...input.spec, ...fields }),
  });
  const discover = async (stack: string): Promise<DiscoveredResource[]> => (await cloud.discover!([stack])).get(stack) ?? [];
  const run = (stack: string, inputs: JsonObject | undefined, more: Partial<StackUpdate> = {}): Promise<UpdateResult> => {
    const update: StackUpdate = {
      stack,
      project: 'local',
      providerName: 'home',
      providerKind: localProvider.kind,
      programVersion: localProvider.programVersion,
      clusterID: CLUSTER,
      inputs,
      settings: cloud.workerSettings(),
      ...more,
    };
    const hooks: UpdateHooks = { isValid: () => true, discover: () => discover(stack) };
    return engine.run(update, hooks);
  };
  const render = (stack: string, ...inputs: LoadBalancerInput[]): JsonObject => cloud.loadBalancers!.render(stack, inputs);
  const balancers = async (stack: string): Promise<LoadBalancer[]> =>
    (await local.list<LoadBalancer>('loadbalancers')).filter(({ tags }) => tags.stack === stack);

  test('creates, finds no drift, runs nothing again, changes in place, and leaves nothing', async () => {
    const stack = 'lb-life';
    const input = inputOf();
    const created = await run(stack, render(stack, input));
    expect(created).toMatchObject({ result: 'Updated', changes: { create: 4 }, cloudCalls: 4 });
    const [balancer] = await balancers(stack);
    expect(cloud.loadBalancers!.results(created.outputs, input.uid)).toEqual({
      ingress: [{ ip: expect.stringMatching(/^[0-9.]+$/) as string, ipMode: 'Proxy' }],
      targetGroups: balancer!.listeners.map(({ poolID, name }) => ({ id: poolID, port: name === 'web' ? 30080 : 30053 })),
    });
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await local.resetCalls();
    expect((await run(stack, render(stack, input))).result).toBe('Unchanged');
    expect((await run(stack, render(stack, input), { force: true })).changes).toMatchObject({
      create: 0,
      update: 0,
      replace: 0,
      delete: 0,
    });
    expect((await local.calls()).total).toBe(0);

    const updated = await run(stack, render(stack, change(input, { sourceRanges: ['10.0.0.0/8'], listeners: [WEB] })));
    expect(updated).toMatchObject({ changes: { update: 1, delete: 1, create: 0, replace: 0 } });
    expect((await balancers(stack))[0]).toMatchObject({ id: balancer!.id, sourceRanges: ['10.0.0.0/8'] });
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);

    expect((await run(stack, undefined)).result).toBe('Destroyed');
    expect(await discover(stack)).toEqual([]);
  });

  test('replaces for another scheme, deleting first, and keeps the address', async () => {
    const stack = 'lb-scheme';
    const input = inputOf();
    const before = await run(stack, render(stack, input));
    const after = await run(stack, render(stack, change(input, { scheme: 'Internal' })));
    expect(await balancers(stack)).toMatchObject([{ scheme: 'Internal' }]);
    const ip = ({ outputs }: UpdateResult) => cloud.loadBalancers!.results(outputs, input.uid)?.ingress[0]?.ip;
    expect(ip(after)).toBe(ip(before));
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, undefined);
  });

  test('what was taken over is replaced where another one is to take its place, and only then; its address stays', async () => {
    const stack = 'lb-taken';
    const input = inputOf();
    const before = await run(stack, render(stack, { ...input, adopted: {} }));
    const other = change(input, { scheme: 'Internal' });
    await run(stack, render(stack, other));
    expect(await balancers(stack)).toMatchObject([{ scheme: 'Public', tags: { adopted: 'true' } }]);
    const after = await run(stack, render(stack, { ...other, inPlaceOfAdopted: true }));
    expect(await balancers(stack)).toMatchObject([{ scheme: 'Internal', tags: { adopted: 'false' } }]);
    const ip = ({ outputs }: UpdateResult) => cloud.loadBalancers!.results(outputs, input.uid)?.ingress[0]?.ip;
    expect(ip(after)).toBe(ip(before));
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, render(stack, other));
    expect(await balancers(stack)).toMatchObject([{ scheme: 'Internal' }]);
    await run(stack, undefined);
  });

  test('takes another address without a replacement', async () => {
    const stack = 'lb-address';
    const input = inputOf();
    const before = await run(stack, render(stack, input));
    const wanted = cloud.loadBalancers!.results(before.outputs, input.uid)!.ingress[0]!.ip!.replace(/[0-9]+$/, '200');
    const after = await run(stack, render(stack, change(input, { addresses: [wanted] })));
    expect(after).toMatchObject({ changes: { create: 1, update: 1, delete: 1, replace: 0 } });
    expect(cloud.loadBalancers!.results(after.outputs, input.uid)?.ingress).toEqual([{ ip: wanted, ipMode: 'Proxy' }]);
    await run(stack, undefined);
  });

  test('sees what was changed and what is gone behind its back, and heals both', async () => {
    const stack = 'lb-drift';
    const input = inputOf();
    await run(stack, render(stack, input));
    const [balancer] = await balancers(stack);
    await local.drift({ kind: 'patch', collection: 'loadbalancers', id: balancer!.id, fields: { sourceRanges: ['192.0.2.0/24'] } });
    expect(await engine.adoptFindings(stack, await discover(stack))).toMatchObject([{ kind: 'Changed', property: 'sourceRanges[0]' }]);
    await run(stack, render(stack, input), { force: true });
    expect(await balancers(stack)).toMatchObject([{ id: balancer!.id, sourceRanges: [] }]);
    await local.drift({ kind: 'delete', collection: 'loadbalancers', id: balancer!.id });
    expect(await engine.adoptFindings(stack, await discover(stack))).toMatchObject([{ kind: 'Missing' }]);
    await run(stack, render(stack, input), { force: true });
    expect(await balancers(stack)).toHaveLength(1);
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, undefined);
  });

  test('a throttled cloud that loses answers ends with exactly one of each', async () => {
    const stack = 'lb-faults';
    await local.faults(
      { match: { verb: 'create' }, times: 2, act: { loseResponse: true } },
      { match: { verb: 'create' }, act: { throttle: { rps: 20, burst: 1 } } },
    );
    await run(stack, render(stack, inputOf()));
    expect((await discover(stack)).map(({ type }) => type).sort()).toEqual([
      'local:index:Address',
      'local:index:LoadBalancer',
      'local:index:TargetPool',
      'local:index:TargetPool',
    ]);
    expect(await engine.compare(stack, await discover(stack))).toEqual([]);
    await run(stack, undefined);
  });

  test('a failure names its class and its resource', async () => {
    const stack = 'lb-fails';
    const failing = run(stack, render(stack, inputOf({ addresses: ['203.0.113.1'] })));
    await expect(failing).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('outside the pool') as string,
      resource: expect.stringContaining('local:index:Address') as string,
    });
    await run(stack, undefined);
    expect(await discover(stack)).toEqual([]);
  });

  test('routes follow their Nodes in place', async () => {
    const machines = await Promise.all(['node-1', 'node-2'].map((name) => local.createInstance(name, CLUSTER)));
    const routes = cloud.routes!;
    const inputFor = (index: number) => {
      const { name, providerID } = machines[index]!;
      const spec = { provider: 'home', destinationCIDR: '10.244.1.0/24', nodeName: name, providerID };
      return { name: `route-${name}`, uid: `uid-${name}`, spec };
    };
    const stack = routes.shard(inputFor(0), () => 0);
    expect((await run(stack, routes.render(stack, [inputFor(0)]))).changes).toMatchObject({ create: 1 });
    expect((await run(stack, routes.render(stack, [inputFor(1)]))).changes).toMatchObject({ update: 1, create: 0, delete: 0, replace: 0 });
    expect(await discover(stack)).toMatchObject([{ inputs: { destinationCIDR: '10.244.1.0/24', instanceID: machines[1]!.id } }]);
    await local.drift({ kind: 'deleteRoute', destinationCIDR: '10.244.1.0/24' });
    expect(await engine.adoptFindings(stack, await discover(stack))).toMatchObject([{ kind: 'Missing' }]);
    await run(stack, routes.render(stack, [inputFor(1)]), { force: true });
    expect(await discover(stack)).toHaveLength(1);
    await run(stack, undefined);
    expect(await discover(stack)).toEqual([]);
  });
});
