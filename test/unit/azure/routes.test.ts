import { mergedRoutes, routeNameOf, sameRoutes, type Route, type WantedRoute } from '../../../providers/azure/routes/merge';

const route = (name: string, addressPrefix: string, nextHopIpAddress: string): Route => ({
  name,
  properties: { addressPrefix, nextHopType: 'VirtualAppliance', nextHopIpAddress },
});
const wanted = (name: string, addressPrefix: string, nextHopIpAddress: string): WantedRoute => ({ name, addressPrefix, nextHopIpAddress });
const firewall: Route = { name: 'firewall', properties: { addressPrefix: '0.0.0.0/0', nextHopType: 'Internet' } };
const free = { owned: [], limit: 400 };

describe('the route table', () => {
  test('has ours as they are wanted, and those of others as they are', () => {
    const before = [firewall, route('a', '10.244.0.0/24', '10.0.0.9'), route('b', '10.244.1.0/24', '10.0.0.5')];
    const merged = mergedRoutes(before, [wanted('a', '10.244.0.0/24', '10.0.0.4'), wanted('c', '10.244.2.0/24', '10.0.0.6')], {
      owned: ['a', 'b'],
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
    expect(work).toThrow(/the route theirs, which leads to 10\.0\.0\.9, has the destination 10\.244\.0\.0\/24, and is not ours/);
  });

  test('more than it can hold are refused with the figures; fewer than before never are', () => {
    expect(() => mergedRoutes([firewall], [wanted('a', '10.244.0.0/24', '10.0.0.4')], { owned: [], limit: 1 })).toThrow(
      /2 routes, and may have 1/,
    );
    const many = [firewall, route('a', '10.244.0.0/24', '10.0.0.4'), route('b', '10.244.1.0/24', '10.0.0.5')];
    expect(mergedRoutes(many, [wanted('a', '10.244.0.0/24', '10.0.0.4')], { owned: ['a', 'b'], limit: 1 })).toHaveLength(2);
  });

  test('the same in another order is the same', () => {
    const [a, b] = [route('a', '10.244.0.0/24', '10.0.0.4'), route('b', '10.244.1.0/24', '10.0.0.5')];
    expect(sameRoutes([a, b], [b, a])).toBe(true);
    expect(sameRoutes([a, b], [a])).toBe(false);
    expect(sameRoutes([a], [route('a', '10.244.0.0/24', '10.0.0.5')])).toBe(false);
  });

  test.each([
    ['10.244.1.0/24', false, 'node-1'],
    ['10.244.1.0/24', true, 'node-1____102441024'],
    ['fd00:10:244:1::/64', true, 'node-1____fd0010244164'],
  ])('a route to %s bears upstream’s name', (destination, isDualStack, name) => {
    expect(routeNameOf('node-1', destination, isDualStack)).toBe(name);
  });
});
