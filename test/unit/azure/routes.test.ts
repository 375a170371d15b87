import { OperatorError } from '../../../operator/base/errors';
import { driftOf, match } from '../../../operator/updates/drift';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { discoverRoutes } from '../../../providers/azure/routes/discover-routes';
import { mergedRoutes, routeNameOf, routesAtFault, sameRoutes, type Route, type WantedRoute } from '../../../providers/azure/routes/merge';
import { AzureRoutes } from '../../../providers/azure/routes/routes';
import type { RouteInput } from '../../../providers/provider';

const route = (name: string, addressPrefix: string, nextHopIpAddress: string): Route => ({
  name,
  properties: { addressPrefix, nextHopType: 'VirtualAppliance', nextHopIpAddress },
});
const wanted = (name: string, addressPrefix: string, nextHopIpAddress: string): WantedRoute => ({ name, addressPrefix, nextHopIpAddress });
const firewall: Route = { name: 'firewall', properties: { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' } };
const free = { owned: [], limit: 400 };
const faultOf = (work: () => unknown): string[] | undefined => {
  try {
    work();
  } catch (thrown) {
    return routesAtFault(thrown as OperatorError);
  }
  return undefined;
};

describe('the route table', () => {
  test('has ours as they are wanted, and those of others as they are', () => {
    const before = [firewall, route('a', '10.244.0.0/24', '10.0.0.9'), route('b', '10.244.1.0/24', '10.0.0.5')];
    const merged = mergedRoutes(before, [wanted('a', '10.244.0.0/24', '10.0.0.4'), wanted('c', '10.244.2.0/24', '10.0.0.6')], {
      owned: [wanted('a', '10.244.0.0/24', '10.0.0.9'), wanted('b', '10.244.1.0/24', '10.0.0.5')],
      limit: 400,
    });
    expect(merged).toEqual([firewall, route('a', '10.244.0.0/24', '10.0.0.4'), route('c', '10.244.2.0/24', '10.0.0.6')]);
    expect(merged[0]).toBe(firewall);
  });

  test('keeps what Azure has written into a route beside what is set', () => {
    const has = { ...route('a', '10.244.0.0/24', '10.0.0.4'), id: '/x', etag: 'e' };
    expect(mergedRoutes([has], [wanted('a', '10.244.0.0/24', '10.0.0.5')], free)[0]).toMatchObject({ id: '/x', etag: 'e' });
  });

  test('a destination that somebody else has is refused, naming whose it is', () => {
    const work = () => mergedRoutes([route('theirs', '10.244.0.0/24', '10.0.0.9')], [wanted('a', '10.244.0.0/24', '10.0.0.4')], free);
    expect(faultOf(work)).toEqual(['a']);
    expect(work).toThrow(/the route theirs, which leads to 10\.0\.0\.9, has the destination 10\.244\.0\.0\/24, and is not ours/);
  });

  test('more than it can hold are refused with the figures; fewer than before never are', () => {
    expect(() => mergedRoutes([firewall], [wanted('a', '10.244.0.0/24', '10.0.0.4')], { owned: [], limit: 1 })).toThrow(
      /2 routes, and may have 1/,
    );
    const many = [firewall, route('a', '10.244.0.0/24', '10.0.0.4'), route('b', '10.244.1.0/24', '10.0.0.5')];
    expect(
      mergedRoutes(many, [wanted('a', '10.244.0.0/24', '10.0.0.4')], { owned: [wanted('b', '10.244.1.0/24', '10.0.0.5')], limit: 1 }),
    ).toHaveLength(2);
  });

  test('of more than it can hold, those are at fault that are not in it yet and have no place', () => {
    const before = [firewall, route('b', '10.244.1.0/24', '10.0.0.5')];
    const all = [4, 3, 1, 2].map((n) => wanted(`${'_bcde'[n]}`, `10.244.${n}.0/24`, `10.0.0.${n + 4}`));
    const work = () =>
      mergedRoutes(
        before,
        [...all].sort((x, y) => (x.name < y.name ? -1 : 1)),
        { owned: [], limit: 3 },
      );
    expect(faultOf(work)).toEqual(['d', 'e']);
  });

  test('a PodCIDR that another Node had leads to its Node of today', () => {
    const before = route('gone____102440024', '10.244.0.0/24', '10.0.0.9');
    const ours = wanted('node-1____102440024', '10.244.0.0/24', '10.0.0.4');
    expect(mergedRoutes([firewall, before], [ours], free)).toEqual([firewall, route(ours.name, ours.addressPrefix, ours.nextHopIpAddress)]);
  });

  test('a route of an older naming that leads where ours leads is taken up as it is, and goes with ours', () => {
    const older = route('node-1', '10.244.0.0/24', '10.0.0.4');
    const ours = wanted('node-1____102440024', '10.244.0.0/24', '10.0.0.4');
    expect(mergedRoutes([firewall, older], [ours], free)).toEqual([firewall, older]);
    expect(mergedRoutes([firewall, older], [], { owned: [ours], limit: 400 })).toEqual([firewall]);
  });

  test('the same in another order is the same', () => {
    const [a, b] = [route('a', '10.244.0.0/24', '10.0.0.4'), route('b', '10.244.1.0/24', '10.0.0.5')];
    expect(sameRoutes([a, b], [b, a])).toBe(true);
    expect(sameRoutes([a, b], [a])).toBe(false);
    expect(sameRoutes([a], [route('a', '10.244.0.0/24', '10.0.0.5')])).toBe(false);
  });

  test.each([
    ['10.244.1.0/24', 'node-1____102441024'],
    ['fd00:10:244:1::/64', 'node-1____fd0010244164'],
  ])('a route to %s bears upstream’s name', (destination, name) => {
    expect(routeNameOf('node-1', destination)).toBe(name);
  });
});

describe('AzureRoutes', () => {
  const settings = {
    subscriptionID: '11111111-2222-4333-8444-555555555555',
    resourceGroup: 'cluster',
    routeTableName: 'rt',
    routeTableResourceGroup: 'net',
    routeWaitSeconds: 30,
  };
  const routes = new AzureRoutes({ location: 'westeurope', settings });
  const input = (nodeName: string, destinationCIDR: string, nodeAddresses: string[]): RouteInput => ({
    name: `${nodeName}-${destinationCIDR}`,
    uid: `uid-${nodeName}-${destinationCIDR}`,
    spec: { provider: 'azure', destinationCIDR, nodeName, nodeAddresses },
  });

  test('are all in the stack of their table, by the Node’s address of the family', () => {
    const inputs = [input('n1', '10.244.1.0/24', ['10.0.0.4', 'fd00::4']), input('n1', 'fd00:10:244:1::/64', ['10.0.0.4', 'fd00::4'])];
    expect(routes.shard()).toBe('routes-rt');
    expect(routes.render('s', inputs)).toEqual({
      routeTable: {
        name: 'rt',
        routeTableId: `/subscriptions/${settings.subscriptionID}/resourceGroups/net/providers/Microsoft.Network/routeTables/rt`,
        location: 'westeurope',
        routes: [
          { name: 'n1____102441024', addressPrefix: '10.244.1.0/24', nextHopIpAddress: '10.0.0.4' },
          { name: 'n1____fd0010244164', addressPrefix: 'fd00:10:244:1::/64', nextHopIpAddress: 'fd00::4' },
        ],
        routesPerTable: 400,
      },
    });
    expect(routes.render('s', [...inputs].reverse())).toEqual(routes.render('s', inputs));
  });

  test.each([
    ['10.244.1.0/24', ['fd00::4'], 'spec.nodeAddresses', /has no IPv4 address for 10\.244\.1\.0\/24/],
    ['anything', ['10.0.0.4'], 'spec.destinationCIDR', /not an IP range/],
  ])('%s by %s is refused', (cidr, addresses, field, message) => {
    expect(routes.validate(input('n1', cidr, addresses).spec)).toMatchObject([
      { severity: 'Error', field, message: expect.stringMatching(message) as string },
    ]);
  });

  test('need a table', () => {
    const without = { subscriptionID: settings.subscriptionID, resourceGroup: 'cluster', routeWaitSeconds: 30 };
    const [problem] = new AzureRoutes({ location: 'westeurope', settings: without }).validate(
      input('n1', '10.244.1.0/24', ['10.0.0.4']).spec,
    );
    expect(problem?.message).toContain('Set spec.azure.routeTableName');
  });

  test('a route that was written works after a while; who is at fault is named', () => {
    const one = input('n1', '10.244.1.0/24', ['10.0.0.4']);
    expect(routes.worksAt({ routes: { writtenAt: { n1____102441024: 1_000 } } }, one)).toBe(31_000);
    expect(routes.worksAt({ routes: { writtenAt: {} } }, one)).toBeUndefined();
    expect(routes.worksAt({}, one)).toBeUndefined();
    const error = new OperatorError('Quota', 'full', { field: 'routes[n1____102441024]' });
    expect(routes.attribute(error, [one, input('n2', '10.244.2.0/24', ['10.0.0.5'])])).toEqual([one.uid]);
    expect(routes.attribute(new OperatorError('Quota', 'full'), [one])).toEqual([]);
  });
});

test('a look for drift: a route that was taken up under the name of its Node is the one that is wanted; one that is gone or leads elsewhere is not', async () => {
  const urn = 'urn:pulumi:s::p::cloudoperator:azure:Routes::rt';
  const inputs = {
    routeTableId: 'rt',
    routes: [wanted('n1____102441024', '10.244.1.0/24', '10.0.0.4'), wanted('n2____102442024', '10.244.2.0/24', '10.0.0.5')],
  };
  const stored = { urn, type: 'cloudoperator:azure:Routes', custom: true, id: 'rt', inputs: JSON.parse(JSON.stringify(inputs)) as never };
  const driftWith = async (...routes: Route[]): Promise<unknown[]> => {
    const arm = { get: () => Promise.resolve({ properties: { routes } }) } as unknown as ArmClient;
    const found = (await discoverRoutes(arm, 'rt', ['s'])).map(({ resource }) => resource);
    return driftOf(match([stored], found, { project: 'p', name: 's' })).map(({ kind, property }) => [kind, property]);
  };
  const ours = route('n2____102442024', '10.244.2.0/24', '10.0.0.5');
  expect(await driftWith(firewall, route('n1', '10.244.1.0/24', '10.0.0.4'), ours)).toEqual([]);
  expect(await driftWith(route('n1', '10.244.1.0/24', '10.0.0.9'), ours)).toEqual([['Changed', 'routes[0].nextHopIpAddress']]);
  expect(await driftWith(route('n1', '10.244.9.0/24', '10.0.0.4'), ours)).not.toEqual([]);
  expect(await driftWith(firewall, ours)).not.toEqual([]);
});
