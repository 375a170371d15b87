import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cloudLoadBalancerSpec, cloudProviderSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { compiled } from '../../../operator/entry';
import type { Address, LoadBalancer, TargetPool } from '../../../providers/local/api';
import { localProvider } from '../../../providers/local';
import { workerModule } from '../../../providers/local/worker';
import type { Cloud, LoadBalancerInput } from '../../../providers/provider';
import { ProgramRunner } from '../../harness/program-runner';
import { LocalCloudProcess } from './local-cloud-process';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const always = () => true;

describe('the provider of the local cloud', () => {
  let cloud: LocalCloudProcess;
  let connected: Cloud;
  let serial = 0;

  const settings = (local: object) => cloudProviderSpec.parse({ local: { endpoint: cloud.endpoint, ...local } });
  const noSecrets = (_name: string, _keys: readonly string[]): Promise<string[]> => Promise.reject(new Error('no secrets'));
  const connect = (local: object, readSecret = noSecrets) =>
    localProvider.connect(settings(local), { clusterID: CLUSTER, providerName: 'home', readSecret });

  const inputOf = (fields: object = {}): LoadBalancerInput => {
    const uid = `${String(++serial).padStart(8, '0')}-0000-4000-8000-000000000000`;
    const listeners = [{ name: 'web', port: 80, nodePort: 30080 }];
    const spec = cloudLoadBalancerSpec.parse({ provider: 'home', local: {}, listeners, ...fields });
    return { uid, ownerUID: uid, namespace: 'demo', name: 'web', spec };
  };
  const runnerOf = (stack: string) => {
    const context = { stack, clusterID: CLUSTER, assertValid: () => undefined, countCall: () => undefined };
    return new ProgramRunner(workerModule, workerModule.resourceProviders(connected.workerSettings(), context), stack);
  };
  const render = (input: LoadBalancerInput) => connected.loadBalancers!.render('s', [input]);

  beforeAll(async () => {
    cloud = await LocalCloudProcess.start();
    connected = await connect({ tokenFile: cloud.tokenFile });
  }, 30_000);
  afterEach(() => cloud.faults());
  afterAll(async () => {
    await connected.close();
    await cloud.stop();
  });

  test('makes address, pools and load balancer with tags that lead back to their owner', async () => {
    const input = inputOf({
      listeners: [
        { name: 'web', port: 80, nodePort: 30080 },
        { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 },
      ],
    });
    const runner = runnerOf('lb-tags');
    const outputs = await runner.up(render(input));
    const [address] = (await cloud.list<Address>('addresses')).filter(({ tags }) => tags.stack === 'lb-tags');
    const [balancer] = (await cloud.list<LoadBalancer>('loadbalancers')).filter(({ tags }) => tags.stack === 'lb-tags');
    const pools = (await cloud.list<TargetPool>('pools')).filter(({ tags }) => tags.stack === 'lb-tags');
    const base = `a${input.ownerUID.replaceAll('-', '')}`.slice(0, 32);
    expect(balancer).toMatchObject({
      name: base,
      addressIDs: [address?.id],
      tags: { clusterID: CLUSTER, stack: 'lb-tags', resource: base, ownerUID: input.ownerUID, owner: 'demo/web' },
    });
    expect(pools.map(({ name }) => name).sort()).toEqual([`${base}-tcp-80`, `${base}-udp-53`]);
    expect(connected.loadBalancers!.results(outputs, input.uid)?.ingress).toEqual([{ ip: address?.ip, ipMode: 'Proxy' }]);
    await runner.destroy();
  });

  test('a shared load balancer is one for all members, in any order, and is discovered as the program made it', async () => {
    const [one, two, three] = [80, 81, 82].map((port) =>
      inputOf({
        placement: { name: 'edge' },
        sourceRanges: ['192.0.2.0/24', '10.0.0.0/8'],
        listeners: [{ name: 'web', port, nodePort: 30080 }],
      }),
    ) as [LoadBalancerInput, LoadBalancerInput, LoadBalancerInput];
    const renderAll = (...inputs: LoadBalancerInput[]) => connected.loadBalancers!.render('s', inputs);
    const runner = runnerOf('lb-shared');
    await runner.up(renderAll(one, two, three));
    const found = (await connected.discover!(['lb-shared'])).get('lb-shared') ?? [];
    const sorted = (resources: { type: string; name: string; inputs: object }[]) =>
      resources.map(({ type, name, inputs }) => ({ type, name, inputs })).sort((a, b) => (a.type + a.name < b.type + b.name ? -1 : 1));
    expect(sorted(found)).toEqual(sorted(runner.checkpoint()));

    await cloud.resetCalls();
    await runner.up(renderAll(three, one, two));
    expect((await cloud.calls()).writes).toBe(0);
    const listed = async () => (await cloud.list<LoadBalancer>('loadbalancers')).filter(({ tags }) => tags.stack === 'lb-shared');
    const [before] = await listed();
    const outputs = await runner.up(renderAll(three, one));
    const [after, ...others] = await listed();
    expect(others).toEqual([]);
    expect(after).toMatchObject({ id: before!.id, addressIDs: before!.addressIDs });
    expect(after!.listeners).toEqual(before!.listeners.filter(({ port }) => port !== 81));
    expect(connected.loadBalancers!.results(outputs, three.uid)?.ingress).toEqual(
      connected.loadBalancers!.results(outputs, one.uid)?.ingress,
    );

    // The cloud names the listener by its place in the list that it was sent; the last of them is the one of the third.
    const clash = { ...three, spec: { ...three.spec, listeners: [{ ...three.spec.listeners[0]!, port: 80 }] } };
    const refused: unknown = await runner.up(renderAll(one, clash)).catch((error: unknown) => error);
    const { field } = refused as OperatorError;
    const error = new OperatorError('Invalid', 'refused', { field: field!, resource: `urn:pulumi:s::p::t::${after!.name}` });
    expect(connected.loadBalancers!.attribute!(error, [clash, one])).toEqual([three.uid]);
    await runner.destroy();
  });

  test('asks for another address without giving up the old one first', async () => {
    const input = inputOf();
    const runner = runnerOf('lb-address');
    const first = await runner.up(render(input));
    const pool = (await cloud.list<Address>('addresses')).map(({ ip }) => ip);
    const wanted = pool[0]!.replace(/[0-9]+$/, '200');
    const second = await runner.up(render({ ...input, spec: { ...input.spec, addresses: [wanted] } }));
    const ip = (outputs: typeof first) => connected.loadBalancers!.results(outputs, input.uid)?.ingress[0]?.ip;
    expect(ip(first)).not.toBe(wanted);
    expect(ip(second)).toBe(wanted);
    expect((await cloud.list<Address>('addresses')).filter(({ tags }) => tags.stack === 'lb-address')).toHaveLength(1);
    await runner.destroy();
  });

  test.each([
    ['outside the pool', '203.0.113.1', 'Invalid', /203\.0\.113\.1 is outside the pool; choose one from/],
    ['somebody else has', 'taken', 'Taken', / is address .*Ask for another address/],
  ])('an address %s names itself and the remedy', async (_what, ip, code, message) => {
    const holder = runnerOf('lb-holder');
    await holder.up(render(inputOf()));
    const taken = (await cloud.list<Address>('addresses')).find(({ tags }) => tags.stack === 'lb-holder')!.ip;
    const input = inputOf({ addresses: [ip === 'taken' ? taken : ip] });
    const runner = runnerOf('lb-refused');
    await expect(runner.up(render(input))).rejects.toMatchObject({
      code,
      field: 'spec.addresses',
      message: expect.stringMatching(message) as string,
    });
    await runner.destroy();
    await holder.destroy();
  });

  test('takes a throttled cloud patiently', async () => {
    await cloud.faults({ match: { verb: 'create' }, times: 2, act: { status: 429, code: 'Throttled', retryAfterMs: 150 } });
    const runner = runnerOf('lb-throttled');
    await runner.up(render(inputOf()));
    await runner.destroy();
  });

  test('reports a quota as one, with what to do', async () => {
    await cloud.faults({ match: { verb: 'create', collection: 'pools' }, act: { quota: { max: 0 } } });
    const runner = runnerOf('lb-quota');
    await expect(runner.up(render(inputOf()))).rejects.toMatchObject({ code: 'Quota', remedy: expect.any(String) as string });
    await runner.destroy();
  });

  test('finds what a lost answer left even when lists lag', async () => {
    const input = inputOf();
    await cloud.faults({ match: { verb: 'list' }, act: { listLagMs: 300 } });
    const runner = runnerOf('lb-lag');
    await runner.up(render(input));
    runner.restore([]);
    await runner.up(render({ ...input, spec: { ...input.spec, sourceRanges: ['10.0.0.0/8'] } }));
    await cloud.faults();
    expect((await connected.discover!(['lb-lag'])).get('lb-lag')).toHaveLength(3);
    await runner.destroy();
  });

  test('one dead machine does not keep the others from being registered', async () => {
    const input = inputOf();
    const runner = runnerOf('lb-dead');
    const outputs = await runner.up(render(input));
    const [group] = connected.loadBalancers!.results(outputs, input.uid)!.targetGroups;
    const machines = await Promise.all(['dead-1', 'dead-2'].map((name) => cloud.createInstance(name)));
    const targets = machines.map(({ name, providerID }) => ({ nodeName: name, providerID, addresses: [] }));
    await cloud.drift({ kind: 'power', id: machines[0]!.id, power: 'terminated' });
    await connected.members!.sync(group!, targets, always);
    const pool = (await cloud.list<TargetPool>('pools')).find(({ id }) => id === group!.id);
    expect(pool?.targets).toEqual([{ instanceID: machines[1]!.id, port: 30080 }]);
    await runner.destroy();
    await expect(connected.members!.sync(group!, targets, always)).rejects.toMatchObject({ code: 'NotFound', resource: group!.id });
  });

  test('lists machines as they are, untagged ones included', async () => {
    const [stopped, ended] = await Promise.all([cloud.createInstance('stopped', CLUSTER), cloud.createInstance('ended')]);
    await cloud.drift({ kind: 'power', id: stopped.id, power: 'stopped' });
    await cloud.drift({ kind: 'power', id: ended.id, power: 'terminated' });
    const listed = await connected.instances!.list();
    expect(listed.find(({ id }) => id === stopped.id)).toEqual({
      id: stopped.id,
      providerID: stopped.providerID,
      names: ['stopped'],
      state: 'Stopped',
      type: stopped.type,
      zone: stopped.zone,
      region: stopped.region,
      addresses: [
        { type: 'InternalIP', address: stopped.addresses[0]!.ip },
        { type: 'Hostname', address: 'stopped' },
      ],
    });
    expect(listed.find(({ id }) => id === ended.id)?.state).toBe('Terminated');
  });

  test('takes the token from a Secret, and says where one is missing', async () => {
    const asked: string[] = [];
    const fromSecret = await connect({ tokenSecretRef: { name: 'cloud', key: 'token' } }, (name, keys) => {
      asked.push(`${name}/${keys.join(',')}`);
      return Promise.resolve(['  secret-token \n']);
    });
    expect(asked).toEqual(['cloud/token']);
    expect(fromSecret.workerSettings()).toEqual({ endpoint: cloud.endpoint, token: 'secret-token' });
    await expect(fromSecret.instances!.list()).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.not.stringContaining('secret-token') as string,
    });
    await fromSecret.close();
    await expect(connect({})).rejects.toMatchObject({ code: 'Invalid', field: 'spec.local' });
    await expect(connect({ tokenFile: '/nowhere/token' })).rejects.toMatchObject({ code: 'Invalid', field: 'spec.local.tokenFile' });
    const directory = mkdtempSync(join(tmpdir(), 'token-'));
    writeFileSync(join(directory, 'empty'), '\n');
    await expect(connect({ tokenFile: join(directory, 'empty') })).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('is empty') as string,
    });
    rmSync(directory, { recursive: true });
  });

  test('makes no call to connect', async () => {
    await cloud.resetCalls();
    await (await connect({ tokenFile: cloud.tokenFile })).close();
    expect((await cloud.calls()).total).toBe(0);
  });

  test('loads without the Pulumi SDK on the operator side, and with it in the worker', async () => {
    const loaded = async (module: string, act: string): Promise<number> => {
      const script = `const m = require(${JSON.stringify(compiled(module))}); Promise.resolve(${act}).then(() => process.stdout.write(String(Object.keys(require.cache).filter((path) => path.includes('@pulumi')).length)))`;
      return Number((await promisify(execFile)(process.execPath, ['-e', script])).stdout);
    };
    expect(await loaded('providers/registry', `m.loadProvider('local')`)).toBe(0);
    expect(await loaded('providers/local/worker', 'm')).toBeGreaterThan(0);
  });
});
