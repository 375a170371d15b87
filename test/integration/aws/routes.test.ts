import { cloudProviderSpec, cloudRouteSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { awsProvider } from '../../../providers/aws';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ROUTE_MARK_PREFIX } from '../../../providers/aws/routes/route-marks';
import { destinationOf } from '../../../providers/aws/routes/route-tables';
import { workerModule } from '../../../providers/aws/worker';
import type { Cloud, DiscoveredResource, RouteInput, Target } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { ProgramRunner } from '../../harness/program-runner';
import { MotoAccount, REGION } from './moto-account';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const STACK = 'routes-0';

describeWithMoto('routes of AWS, against a simulated API behind a model of AWS', () => {
  let moto: Moto;
  let model: AwsModel;
  let account: MotoAccount;
  let ec2: Ec2;
  let cloud: Cloud;
  let tableID: string;
  let run: ProgramRunner;
  let mayWrite = true;
  let nodes: Target[];

  beforeAll(async () => {
    moto = await startMoto();
    model = new AwsModel(moto.url, REGION);
    await model.start();
    account = new MotoAccount(moto.url);
    await account.prepare();
    tableID = await account.makeRouteTable('prod');
    ec2 = new Ec2(account.clientOptions());
    cloud = await connect({});
    nodes = await account.makeInstances(3, 'prod');
  }, 120_000);

  beforeEach(() => {
    mayWrite = true;
    run = runner();
    model.calls.length = 0;
  });

  afterEach(async () => {
    model.lost = undefined;
    await run.destroy();
    expect(await entries()).toEqual({});
    expect(await marked()).toEqual([]);
  });

  afterAll(async () => {
    await cloud.close();
    [ec2, account].forEach((client) => client.close());
    await model.stop();
    await moto.stop();
  });

  function connect(aws: object): Promise<Cloud> {
    const { aws: base, ...spec } = account.providerSpec();
    const endpoints = (['EC2', 'ElasticLoadBalancingV2'] as const).map((service) => ({ service, url: model.url }));
    return awsProvider.connect(cloudProviderSpec.parse({ ...spec, aws: { ...base, endpoints, ...aws } }), account.connectContext(CLUSTER));
  }

  function runner(of: Cloud = cloud): ProgramRunner {
    const context: UpdateContext = {
      ...{ stack: STACK, clusterID: CLUSTER, countCall: () => undefined },
      assertValid: () => {
        if (!mayWrite) throw new OperatorError('Canceled', 'the lease is gone');
      },
    };
    return new ProgramRunner(workerModule, workerModule.resourceProviders(of.workerSettings(), context), STACK);
  }

  const input = (destinationCIDR: string, { nodeName, providerID }: Target): RouteInput => ({
    ...{ name: `r-${destinationCIDR}`, uid: destinationCIDR },
    spec: cloudRouteSpec.parse({ provider: 'aws', destinationCIDR, nodeName, providerID }),
  });
  const up = (inputs: RouteInput[], of: Cloud = cloud, by = run) => by.up(of.routes!.render(STACK, inputs));
  const idOf = ({ providerID }: Target): string => providerID.split('/').at(-1) ?? '';
  const actions = (): string[] => model.calls.map(({ action }) => action);

  async function interfaceOf(target: Target): Promise<{ id: string; check: boolean | undefined }> {
    const [instance] = await ec2.instances([{ Name: 'instance-id', Values: [idOf(target)] }]);
    const primary = instance?.NetworkInterfaces?.find(({ Attachment }) => Attachment?.DeviceIndex === 0);
    return { id: primary?.NetworkInterfaceId ?? '', check: primary?.SourceDestCheck };
  }

  /** Where the entries of a table lead, without those that AWS makes by itself. */
  async function entries(table = tableID): Promise<Record<string, string | undefined>> {
    const [found] = await ec2.routeTables([{ Name: 'route-table-id', Values: [table] }]);
    const made = (found?.Routes ?? []).filter(({ Origin }) => Origin === 'CreateRoute');
    return Object.fromEntries(made.map((route) => [destinationOf(route), route.NetworkInterfaceId ?? route.GatewayId ?? route.InstanceId]));
  }

  async function marked(): Promise<string[]> {
    const instances = await ec2.instances([{ Name: 'tag-key', Values: [`${ROUTE_MARK_PREFIX}*`] }]);
    return instances.filter(({ State }) => State?.Name === 'running').map(({ InstanceId = '' }) => InstanceId);
  }

  async function discovered(of: Cloud = cloud): Promise<DiscoveredResource[]> {
    return (await of.discover!([STACK])).get(STACK) ?? [];
  }

  const sorted = (resources: { type: string; name: string; id: string; inputs: object; outputs: object }[]) =>
    resources.map(({ type, name, id, inputs, outputs }) => ({ type, name, id, inputs, outputs })).sort((a, b) => (a.id < b.id ? -1 : 1));

  async function failed(work: Promise<unknown>): Promise<OperatorError> {
    const thrown = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(thrown).toBeInstanceOf(OperatorError);
    return thrown as OperatorError;
  }

  test('IPv4 and IPv6: the table is found by its tag, traffic passes to the primary interface, and discovery finds exactly what was set', async () => {
    await account.attachInterface(idOf(nodes[1]!), '10.0.201.10');
    const inputs = [input('10.244.1.0/24', nodes[0]!), input('2001:db8:1::/64', nodes[0]!), input('10.244.2.0/24', nodes[1]!)];
    await up(inputs);
    const nextHopReads = actions().filter((action) => action === 'DescribeInstances').length;
    const [first, second] = [await interfaceOf(nodes[0]!), await interfaceOf(nodes[1]!)];
    expect(await entries()).toEqual({ '10.244.1.0/24': first.id, '2001:db8:1::/64': first.id, '10.244.2.0/24': second.id });
    expect([first.check, second.check]).toEqual([false, false]);
    expect(actions().filter((action) => action === 'DescribeRouteTables')).toHaveLength(2);
    expect(nextHopReads).toBe(1);
    model.calls.length = 0;
    expect(sorted(await discovered())).toEqual(sorted(run.checkpoint()));
    // Every ten seconds, so of load balancers nothing is read.
    expect(actions().sort()).toEqual(['DescribeInstances', 'DescribeRouteTables', 'DescribeRouteTables']);
    model.calls.length = 0;
    await up(inputs);
    expect(actions()).toEqual([]);
    await up(inputs.slice(1));
    expect(Object.keys(await entries()).sort()).toEqual(['10.244.2.0/24', '2001:db8:1::/64']);
  });

  test('another instance gets the PodCIDR: one call for the table, in place, and the mark goes along', async () => {
    await up([input('10.244.1.0/24', nodes[0]!)]);
    const ids = run.checkpoint().map(({ id }) => id);
    run = continued(run);
    model.calls.length = 0;
    await up([input('10.244.1.0/24', nodes[2]!)]);
    expect(run.checkpoint().map(({ id }) => id)).toEqual(ids);
    expect(await entries()).toEqual({ '10.244.1.0/24': (await interfaceOf(nodes[2]!)).id });
    expect(await marked()).toEqual([idOf(nodes[2]!)]);
    expect(actions().filter((action) => /Route$/.test(action))).toEqual(['ReplaceRoute']);
  });

  test('what somebody changed is seen and brought back; what a lost answer left is taken over', async () => {
    const inputs = [input('10.244.1.0/24', nodes[0]!)];
    model.lost = { verb: 'create', times: 2 };
    await up(inputs);
    expect(model.lost.times).toBeLessThan(2);
    const other = await interfaceOf(nodes[1]!);
    await ec2.replaceRoute({ RouteTableId: tableID, DestinationCidrBlock: '10.244.1.0/24', NetworkInterfaceId: other.id }, {});
    const found = await discovered();
    expect(found.find(({ type }) => type.endsWith(':Route'))?.inputs).toMatchObject({ networkInterfaceId: other.id });
    run = continued(run, found);
    await up(inputs);
    expect(await entries()).toEqual({ '10.244.1.0/24': (await interfaceOf(nodes[0]!)).id });
  });

  test('an entry that leads nowhere is replaced, one that leads elsewhere is named and left, also when ours goes', async () => {
    const [gone] = await account.makeInstances(1, 'other');
    const foreign = await interfaceOf(nodes[1]!);
    const place = { RouteTableId: tableID, DestinationCidrBlock: '10.244.7.0/24' };
    await ec2.createRoute({ ...place, NetworkInterfaceId: (await interfaceOf(gone!)).id }, {});
    await account.terminate(gone!);
    await up([input('10.244.7.0/24', nodes[0]!)]);
    expect(await entries()).toEqual({ '10.244.7.0/24': (await interfaceOf(nodes[0]!)).id });
    await run.destroy();
    await ec2.createRoute({ ...place, NetworkInterfaceId: foreign.id }, {});
    const error = await failed(up([input('10.244.7.0/24', nodes[0]!)]));
    expect(error).toMatchObject({ code: 'Conflict', message: expect.stringContaining(foreign.id) as string });
    expect(await marked()).toEqual([]);
    expect(await entries()).toEqual({ '10.244.7.0/24': foreign.id });
    await ec2.deleteRoute(place, {});
    run = continued(run);
    await up([input('10.244.7.0/24', nodes[0]!)]);
    await ec2.replaceRoute({ ...place, NetworkInterfaceId: foreign.id }, {});
    expect(await failed(continued(run).destroy())).toMatchObject({ code: 'Conflict' });
    expect(await entries()).toEqual({ '10.244.7.0/24': foreign.id });
    await ec2.replaceRoute({ ...place, NetworkInterfaceId: (await interfaceOf(nodes[0]!)).id }, {});
  });

  test('a table that is full refuses before AWS is asked, with the figures; IPv6 is counted by itself', async () => {
    const small = await connect({ routesPerTable: 2 });
    run = runner(small);
    const three = [1, 2, 3].map((number) => input(`10.244.${number}.0/24`, nodes[0]!));
    const error = await failed(up([...three, input('2001:db8:1::/64', nodes[1]!)], small));
    expect(error).toMatchObject({ code: 'Quota', message: expect.stringContaining(`${tableID} has 2 of 2 IPv4 routes`) as string });
    expect(Object.keys(await entries()).filter((one) => !one.includes(':')).length).toBeLessThanOrEqual(2);
    run = continued(run, undefined, small);
    await up([...three.slice(0, 2), input('2001:db8:1::/64', nodes[1]!)], small);
    expect(Object.keys(await entries())).toHaveLength(3);
    await small.close();
  });

  test('two tagged tables are both named; named tables each get the route', async () => {
    const second = await account.makeRouteTable('twice');
    const third = await account.makeRouteTable('twice');
    const unclear = await connect({ clusterName: 'twice' });
    const error = await failed(up([input('10.244.1.0/24', nodes[0]!)], unclear));
    for (const id of [second, third]) expect(error.message).toContain(id);
    expect(error.code).toBe('Invalid');
    const both = await connect({ routeTableIDs: [second, third] });
    await up([input('10.244.1.0/24', nodes[0]!)], both);
    const { id } = await interfaceOf(nodes[0]!);
    for (const table of [second, third]) expect(await entries(table)).toEqual({ '10.244.1.0/24': id });
    expect(sorted(await discovered(both))).toEqual(sorted(run.checkpoint()));
    await run.destroy();
    for (const table of [second, third]) expect(await entries(table)).toEqual({});
    await Promise.all([unclear, both].map((one) => one.close()));
  });

  test('nothing is written without the right to; an instance that is gone is told; what is released is ours no more', async () => {
    mayWrite = false;
    expect(await failed(up([input('10.244.1.0/24', nodes[0]!)]))).toMatchObject({ code: 'Canceled' });
    expect([await entries(), await marked()]).toEqual([{}, []]);
    mayWrite = true;
    run = continued(run);
    const nobody = { ...nodes[0]!, providerID: `aws:///${REGION}a/i-0123456789abcdef0` };
    expect(await failed(up([input('10.244.1.0/24', nobody)]))).toMatchObject({ code: 'Invalid' });
    await up([input('10.244.1.0/24', nodes[0]!)]);
    await cloud.release!(STACK, () => true);
    expect(await discovered()).toEqual([]);
    expect(await failed(continued(run).destroy())).toMatchObject({ code: 'Conflict' });
    expect(Object.keys(await entries())).toEqual(['10.244.1.0/24']);
    await ec2.deleteRoute({ RouteTableId: tableID, DestinationCidrBlock: '10.244.1.0/24' }, {});
  });

  test('a route whose instance is gone with its mark is still known by the state, and goes with its CloudRoute, or leads to another instance', async () => {
    const [first, second] = await account.makeInstances(2, 'prod');
    const inputs = [input('10.244.8.0/24', first!), input('10.244.9.0/24', second!)];
    await up(inputs);
    for (const node of [first!, second!]) {
      const marks = (await ec2.instances([{ Name: 'instance-id', Values: [idOf(node)] }]))[0]?.Tags ?? [];
      await account.terminate(node);
      // as AWS does an hour later
      await ec2.deleteTags(
        [idOf(node)],
        marks.map(({ Key = '' }) => Key),
        {},
      );
    }
    const state = run.checkpoint();
    const found = await discovered();
    expect(
      found
        .filter(({ unmarked }) => unmarked)
        .map(({ type, id }) => `${type} ${id}`)
        .sort(),
    ).toEqual(state.map(({ type, id }) => `${type} ${id}`).sort());
    expect(found.filter(({ failure }) => failure?.includes('which is gone'))).toHaveLength(2);
    expect((await cloud.discover!()).get(STACK)).toBeUndefined();
    // They hold up no other stack, whose load balancers are let go of.
    model.calls.length = 0;
    await cloud.release!('another', () => true);
    expect(model.calls.filter(({ verb }) => verb !== 'list')).toEqual([]);
    const known = state.find(({ type, name }) => type.endsWith(':Route') && name.includes('10.244.8'))!;
    const { type, context } = run.resource(known.type, known.name);
    expect(await failed(type.update(known.id, known.outputs, known.inputs, context))).toMatchObject({ code: 'Conflict' });

    run = continued(run);
    await up([input('10.244.9.0/24', nodes[0]!)]);
    expect(await entries()).toEqual({ '10.244.9.0/24': (await interfaceOf(nodes[0]!)).id });
  });

  /** The next update, in a worker of its own: with what the last one stored, or what was found since. */
  function continued(before: ProgramRunner, found?: DiscoveredResource[], of: Cloud = cloud): ProgramRunner {
    const next = runner(of);
    next.restore(found === undefined ? [...before.checkpoint()] : found.toSorted((a) => (a.type.endsWith(':Route') ? 1 : -1)));
    return next;
  }
});
