import { LocalRoutes } from '../../../providers/local/routes';
import type { RouteInput } from '../../../providers/provider';

const routes = new LocalRoutes('0a1b2c3d-0000-0000-0000-000000000000');

function inputOf(name: string, destinationCIDR: string, providerID?: string): RouteInput {
  const spec = { provider: 'local', destinationCIDR, nodeName: 'node-1', ...(providerID !== undefined && { providerID }) };
  return { name, uid: `uid-of-${name}`, spec };
}

describe('routes of the local cloud', () => {
  it('are named after cluster and destination, so that a new next hop changes them in place', () => {
    const before = routes.render('s', [inputOf('node-1', '10.244.1.0/24', 'local:///a/i-1')]);
    const after = routes.render('s', [inputOf('node-9', '10.244.1.0/24', 'local:///a/i-9')]);
    const common = { name: 'r-0a1b2c3d-10.244.1.0-24', routeTableID: 'rtb-main', destinationCIDR: '10.244.1.0/24' };
    expect(before).toEqual({ routes: [{ ...common, uid: 'uid-of-node-1', owner: 'node-1', instanceID: 'i-1' }] });
    expect(after).toEqual({ routes: [{ ...common, uid: 'uid-of-node-9', owner: 'node-9', instanceID: 'i-9' }] });
  });

  it('do not depend on the order of inputs, and have one entry for each destination', () => {
    const inputs = [
      inputOf('b', '10.244.1.0/24', 'local:///a/i-2'),
      inputOf('a', '10.244.1.0/24', 'local:///a/i-1'),
      inputOf('c', '10.244.2.0/24', 'local:///a/i-3'),
    ];
    const rendered = routes.render('s', inputs) as { routes: { instanceID: string }[] };
    expect(rendered.routes.map(({ instanceID }) => instanceID)).toEqual(['i-1', 'i-3']);
    expect(routes.render('s', [...inputs].reverse())).toEqual(rendered);
  });

  it('fill one shard after another', () => {
    const input = inputOf('a', '10.244.1.0/24');
    const next = (...sizes: number[]): string => routes.shard(input, (shard) => sizes[Number(shard.split('-').at(-1))] ?? 0);
    expect(next()).toBe('routes-rtb-main-0');
    expect(next(99)).toBe('routes-rtb-main-0');
    expect(next(100)).toBe('routes-rtb-main-1');
    expect(next(40, 100)).toBe('routes-rtb-main-0');
    expect(next(100, 100)).toBe('routes-rtb-main-2');
  });

  it.each([
    ['a good one', '10.244.1.0/24', 'local:///a/i-1', []],
    ['IPv6', 'fd00::/64', 'local:///a/i-1', []],
    ['no range', 'fd00::', 'local:///a/i-1', [expect.stringContaining('"fd00::" is not an IP range')]],
    ['no next hop, which the operator looks up', '10.244.1.0/24', undefined, []],
    ['a foreign next hop', '10.244.1.0/24', 'aws:///eu-west-1a/i-1', [expect.stringContaining('is not an instance of the local cloud')]],
  ])('validates %s', (_what, cidr, providerID, expected) => {
    const problems = routes.validate(inputOf('a', cidr, providerID).spec);
    expect(problems.map(({ field, message }) => `${field}: ${message}`)).toEqual(expected);
    expect(problems.every(({ severity }) => severity === 'Error')).toBe(true);
  });
});
