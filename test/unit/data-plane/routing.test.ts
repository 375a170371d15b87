import type { Family, Route } from '../../../providers/local/api';
import { decide, type Attachment, type RouteRequest } from '../../../providers/local/cloud/data-plane/userland-router';
import { routeLines, wantedRoutes } from '../../../providers/local/cloud/data-plane/vpc/network';

function route(destinationCIDR: string, instanceID: string, routeState: Route['routeState'] = 'active'): Route {
  return { destinationCIDR, instanceID, routeState } as Route;
}

describe('userland router', () => {
  const attachments: Attachment[] = [1, 2, 3].map((n) => ({
    instanceID: `i-${n}`,
    podCIDRs: [`10.244.${n}.0/24`],
    podSocket: `/pods/${n}`,
  }));
  const all = [1, 2, 3].map((n) => route(`10.244.${n}.0/24`, `i-${n}`));
  const request: RouteRequest = { from: 'i-1', sourceIP: '10.244.1.2', ip: '10.244.3.2', port: 8080 };
  const noRoute = (reason: string) => ({ kind: 'NoRoute', reason });

  test('delivers with routes both ways', () => {
    expect(decide(request, all, attachments)).toEqual({ kind: 'Deliver', podSocket: '/pods/3' });
  });

  test('needs the way there and the way back', () => {
    expect(decide(request, all.slice(0, 2), attachments)).toEqual(noRoute('no route to 10.244.3.2'));
    expect(decide(request, all.slice(1), attachments)).toEqual(noRoute('no route back to 10.244.1.2'));
  });

  test('a route to the wrong instance or a black hole does not deliver', () => {
    expect(decide(request, [all[0] as Route, route('10.244.3.0/24', 'i-2')], attachments)).toEqual(noRoute('i-2 has no pod 10.244.3.2'));
    expect(decide(request, [all[0] as Route, route('10.244.3.0/24', 'i-3', 'blackhole')], attachments)).toEqual(
      noRoute('no route to 10.244.3.2'),
    );
  });

  test('the longest prefix wins', () => {
    const routes = [all[0] as Route, route('10.244.0.0/16', 'i-2'), route('10.244.3.0/24', 'i-3')];
    expect(decide(request, routes, attachments)).toEqual({ kind: 'Deliver', podSocket: '/pods/3' });
  });

  test('pods of one instance need no route, and pods that nobody has are nowhere', () => {
    expect(decide({ ...request, ip: '10.244.1.9' }, [], attachments)).toEqual({ kind: 'Deliver', podSocket: '/pods/1' });
    expect(decide({ ...request, ip: '10.244.9.9' }, [route('10.244.9.0/24', 'i-9')], attachments)).toEqual(
      noRoute('i-9 has no pod 10.244.9.9'),
    );
  });
});

describe('kernel routes', () => {
  const addressOf = (id: string, family: Family) =>
    family === 'IPv4' ? { 'i-1': '10.200.0.11', 'i-3': '10.200.0.13' }[id] : { 'i-1': 'fd00:10:200::b' }[id];
  const wanted = wantedRoutes([route('10.244.1.0/24', 'i-1'), route('10.244.3.7/24', 'i-3'), route('10.244.9.0/24', 'i-9')], addressOf);

  test('are made where they are missing; one to an absent instance is a black hole', () => {
    expect(routeLines([], wanted)).toEqual([
      'route replace 10.244.1.0/24 via 10.200.0.11 proto 77',
      'route replace 10.244.3.0/24 via 10.200.0.13 proto 77',
      'route replace blackhole 10.244.9.0/24 proto 77',
    ]);
  });

  test('are left alone where they are right', () => {
    const current = [
      { dst: '10.244.1.0/24', gateway: '10.200.0.11' },
      { dst: '10.244.3.0/24', gateway: '10.200.0.13' },
      { dst: '10.244.9.0/24', type: 'blackhole' },
    ];
    expect(routeLines(current, wanted)).toEqual([]);
  });

  test('are repaired and removed', () => {
    const current = [
      { dst: '10.244.1.0/24', gateway: '10.200.0.99' },
      { dst: '10.244.5.5', gateway: '10.200.0.11' },
      { dst: '10.244.9.0/24', type: 'blackhole' },
    ];
    expect(routeLines(current, wanted)).toEqual([
      'route del 10.244.5.5/32 proto 77',
      'route replace 10.244.1.0/24 via 10.200.0.11 proto 77',
      'route replace 10.244.3.0/24 via 10.200.0.13 proto 77',
    ]);
  });

  test('the widest one, which the kernel calls by a name, is like the others', () => {
    const widest = wantedRoutes([route('0.0.0.0/0', 'i-1')], addressOf);
    expect(routeLines([{ dst: 'default', gateway: '10.200.0.11' }], widest)).toEqual([]);
    expect(routeLines([{ dst: 'default', gateway: '10.200.0.11' }], [])).toEqual(['route del 0.0.0.0/0 proto 77']);
  });

  test('of IPv6 lead to the instances’ IPv6 addresses; an instance without one is a black hole', () => {
    const wide = wantedRoutes([route('fd00:10:244:1::/64', 'i-1'), route('fd00:10:244:3::/64', 'i-3'), route('::/0', 'i-1')], addressOf);
    expect(routeLines([{ dst: 'default', gateway: 'fd00:10:200::b', family: 'IPv6' }], wide)).toEqual([
      'route replace fd00:10:244:1::/64 via fd00:10:200::b proto 77',
      'route replace blackhole fd00:10:244:3::/64 proto 77',
    ]);
  });

  test('to an instance that is gone become black holes', () => {
    expect(wantedRoutes([route('10.244.1.0/24', 'i-1', 'blackhole')], addressOf)).toEqual([{ destination: '10.244.1.0/24' }]);
  });
});
