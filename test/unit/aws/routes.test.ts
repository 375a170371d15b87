import type { Filter, RouteTable } from '@aws-sdk/client-ec2';
import { cloudRouteSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { NextHop } from '../../../providers/aws/resources/next-hop';
import { marksOf, tagOfMark } from '../../../providers/aws/routes/route-marks';
import { nextHopOf, routeID, RouteTables, selectorsOf, tablesOf } from '../../../providers/aws/routes/route-tables';
import { AwsRoutes, type RenderedRoute, type RouteScope } from '../../../providers/aws/routes/routes';
import type { Ec2 } from '../../../providers/aws/client/ec2';
import type { RouteInput } from '../../../providers/provider';
import { foreseen } from '../../../providers/resource-provider/preview';
import type { UpdateContext } from '../../../providers/worker-module';

const SCOPE: RouteScope = {
  clusterID: '0a1b2c3d-1111-4222-8333-444455556666',
  clusterName: 'prod',
  legacyClusterTag: false,
  routesPerTable: 50,
};
const TABLE = 'rtb-0a1b2c3d4e5f60718';

function input(destinationCIDR: string, providerID: string, name = destinationCIDR): RouteInput {
  const spec = cloudRouteSpec.parse({ provider: 'aws', destinationCIDR, nodeName: 'n', providerID });
  return { name, uid: name, spec };
}

const render = (inputs: RouteInput[], scope = SCOPE): RenderedRoute[] =>
  new AwsRoutes(scope).render('s', inputs).routes as unknown as RenderedRoute[];

describe('routes of AWS, rendered', () => {
  test('each destination once, named after it, into the tagged table or each named one', () => {
    const routes = render([
      input('10.244.1.0/24', 'aws:///z/i-1'),
      input('10.244.1.0/24', 'aws:////i-2', 'z'),
      input('2001:db8::/64', 'i-3'),
    ]);
    expect(routes.map(({ name, instanceId, routeTable }) => ({ name, instanceId, routeTable }))).toEqual([
      { name: 'r-0a1b2c3d-10.244.1.0-24', instanceId: 'i-1', routeTable: { tagKey: 'kubernetes.io/cluster/prod' } },
      { name: 'r-0a1b2c3d-2001-db8---64', instanceId: 'i-3', routeTable: { tagKey: 'kubernetes.io/cluster/prod' } },
    ]);
    const named = render([input('10.244.1.0/24', 'aws:///z/i-1')], { ...SCOPE, routeTableIDs: ['rtb-0b', 'rtb-0a'] });
    expect(named.map(({ name, routeTable }) => [name, routeTable])).toEqual([
      ['r-0a1b2c3d-10.244.1.0-24-rtb-0a', { id: 'rtb-0a' }],
      ['r-0a1b2c3d-10.244.1.0-24-rtb-0b', { id: 'rtb-0b' }],
    ]);
  });

  test('a destination is as AWS gives it back, however it is written', () => {
    const routes = render([input('2001:DB8:0::/64', 'i-1', 'a'), input('2001:db8::/64', 'i-2', 'b')]);
    expect(routes.map(({ name, destination, instanceId }) => [name, destination, instanceId])).toEqual([
      ['r-0a1b2c3d-2001-db8---64', '2001:db8::/64', 'i-1'],
    ]);
  });

  test('a failure is its route’s', () => {
    const inputs = [input('10.244.1.0/24', 'i-1'), input('10.244.2.0/24', 'i-2')];
    const resource = 'urn:pulumi:s::p::aws:ec2/route:Route::r-0a1b2c3d-10.244.2.0-24';
    const failed = (detail: object): string[] => new AwsRoutes(SCOPE).attribute(new OperatorError('Unknown', 'm', detail), inputs);
    expect([failed({ resource }), failed({})]).toEqual([['10.244.2.0/24'], []]);
  });

  test.each<[string, string, RouteScope, string[]]>([
    ['nothing', 'aws:///z/i-1', SCOPE, []],
    ['no providerID yet', '', SCOPE, []],
    ['a Fargate Node', 'aws:///z/a/fargate-ip-10-0-0-1.x', SCOPE, ['spec.providerID']],
    ['another cloud', 'gce://p/z/n', SCOPE, ['spec.providerID']],
    [
      'nothing that says the table',
      'i-1',
      { clusterID: 'c', vpcID: 'vpc-1', legacyClusterTag: false, routesPerTable: 50 },
      ['spec.provider'],
    ],
  ])('%s', (_what, providerID, scope, fields) => {
    const problems = new AwsRoutes(scope).validate(input('10.244.1.0/24', providerID).spec);
    expect(problems.map(({ field }) => field)).toEqual(fields);
  });

  test('where nothing says the table, nothing is rendered: that would delete all routes', () => {
    const { clusterID, routesPerTable } = SCOPE;
    const scope = { clusterID, vpcID: 'vpc-1', legacyClusterTag: false, routesPerTable };
    expect(() => render([input('10.244.1.0/24', 'aws:///z/i-1')], scope)).toThrow('nothing says which route table gets the routes');
    expect(render([], scope)).toEqual([]);
  });

  test('shards are filled one after another', () => {
    const sizes: Record<string, number> = { 'routes-0': 100, 'routes-1': 99 };
    expect(new AwsRoutes(SCOPE).shard(input('10.244.1.0/24', 'i-1'), (shard) => sizes[shard] ?? 0)).toBe('routes-1');
  });
});

describe('route tables', () => {
  test('they are named, or found by the cluster’s tag, new or old, in the VPC', () => {
    expect(selectorsOf({ ...SCOPE, vpcID: 'vpc-1' })).toEqual([{ tagKey: 'kubernetes.io/cluster/prod', vpcID: 'vpc-1' }]);
    expect(selectorsOf({ ...SCOPE, legacyClusterTag: true })).toEqual([{ tagKey: 'KubernetesCluster', tagValue: 'prod' }]);
    expect(selectorsOf({ legacyClusterTag: false })).toEqual([]);
  });

  test('in an old cluster it is the one with either tag, listed by each; no more than one', async () => {
    const tables: Record<string, string[]> = { 'tag-key=kubernetes.io/cluster/prod': [TABLE], 'tag:KubernetesCluster=prod': [TABLE] };
    const asked: string[] = [];
    const ec2 = {
      routeTables: ([{ Name = '', Values = [] } = {}]: Filter[]) => {
        const filter = `${Name}=${Values.join()}`;
        asked.push(filter);
        return Promise.resolve((tables[filter] ?? []).map((RouteTableId) => ({ RouteTableId })));
      },
    } as unknown as Ec2;
    const [old] = selectorsOf({ ...SCOPE, legacyClusterTag: true });
    const select = () => new RouteTables(ec2).select(old!, {});
    await expect(select()).resolves.toEqual({ RouteTableId: TABLE });
    expect(asked).toEqual(Object.keys(tables));
    delete tables['tag:KubernetesCluster=prod'];
    await expect(select()).resolves.toEqual({ RouteTableId: TABLE });
    tables['tag:KubernetesCluster=prod'] = ['rtb-0b'];
    await expect(select()).rejects.toThrow('2 route tables are tagged KubernetesCluster=prod or kubernetes.io/cluster/prod');
  });

  test('a table is full at its limit, of each family by itself; what is there already, or counted in, takes no more room', () => {
    const table: RouteTable = {
      RouteTableId: TABLE,
      Routes: [
        { DestinationCidrBlock: '10.0.0.0/16', Origin: 'CreateRouteTable' },
        { DestinationCidrBlock: '10.244.1.0/24', Origin: 'CreateRoute' },
      ],
    };
    const tables = new RouteTables({} as Ec2);
    for (const destination of ['10.244.1.0/24', '10.244.2.0/24', '10.244.2.0/24', '2001:db8::/64']) tables.reserve(table, destination, 2);
    expect(() => tables.reserve(table, '10.244.3.0/24', 2)).toThrow(
      `route table ${TABLE} has 2 of 2 IPv4 routes: no room for 10.244.3.0/24`,
    );
  });

  test('an id leads back to its table, however long that one’s id is', () => {
    // As the official provider makes them: the CRC-32 of the destination behind the table.
    expect(routeID('rtb-4fbb3ac4', '0.0.0.0/0')).toBe('r-rtb-4fbb3ac41080289494');
    for (const table of ['rtb-0a1b2c3d', TABLE]) expect(tablesOf(routeID(table, '10.244.1.0/24'))).toContain(table);
    expect(tablesOf('r-nonsense')).toEqual([]);
  });

  test('where a route leads is said in words', () => {
    expect(nextHopOf({ InstanceId: 'i-1', NetworkInterfaceId: 'eni-1' })).toBe('eni-1 of i-1');
    expect([nextHopOf({ GatewayId: 'igw-1' }), nextHopOf({})]).toEqual(['igw-1', 'another target']);
  });

  test('a mark is read as it was written; other tags are none', () => {
    const mark = {
      routeTableID: TABLE,
      destination: '2001:db8::/64',
      clusterID: SCOPE.clusterID,
      stack: 'routes-aws-routes-0',
      resource: 'r-1',
    };
    const tag = tagOfMark(mark);
    expect(
      marksOf({
        Tags: [{ Key: 'Name', Value: 'n' }, tag, { ...tag, Value: 'nonsense' }, { Key: 'cloud-operator.dev/route/x', Value: 'a b c' }],
      }),
    ).toEqual([mark]);
    expect([tag.Key.length <= 128, tag.Value.length <= 256]).toEqual([true, true]);
  });
});

test('by what a route leads to another instance, a plan can’t tell: its interface is looked up when that is made ready', async () => {
  const update: UpdateContext = { stack: 's', clusterID: 'c', countCall: () => undefined, assertValid: () => undefined };
  const type = new NextHop({} as Ec2, {} as RouteTables, update);
  const place = { destination: '10.244.1.0/24', routeTableId: 'rtb-1' };
  const olds = { ...place, instanceId: 'i-1', networkInterfaceId: 'eni-1' };
  const context = { urn: 'urn:x', name: 'x', signal: new AbortController().signal };
  expect(await foreseen({ inputs: { destination: place.destination, instanceId: 'i-2' }, olds }, type, context)).toEqual({
    ...place,
    instanceId: 'i-2',
    networkInterfaceId: '04da6b54-80e4-46f7-96ec-b56ff0331ba9',
  });
});
