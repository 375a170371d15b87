import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { hashJson } from '../../../operator/base/json';
import { LocalLoadBalancers, type RenderedStack } from '../../../providers/local/load-balancers';
import { listenersOf } from '../../../providers/local/shared-load-balancers';
import type { LoadBalancerInput } from '../../../providers/provider';

const provider = new LocalLoadBalancers({ clusterID: 'c1', providerName: 'local' });
const PLACEMENT = { name: 'edge', namespace: 'demo' };

/** A member whose UIDs and ports are made from one digit. */
function member(digit: number, fields: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 8000 + digit, nodePort: 30_000 + digit }];
  const spec = cloudLoadBalancerSpec.parse({ provider: 'local', local: {}, placement: PLACEMENT, listeners, ...fields });
  return { uid: `${digit}-uid`, ownerUID: `${digit}-owner`, namespace: 'demo', name: `web-${digit}`, spec };
}

const render = (...inputs: LoadBalancerInput[]) => provider.render('stack', inputs) as unknown as RenderedStack;
const failure = (resource: string, field?: string) =>
  new OperatorError('Invalid', 'no', { resource: `urn:pulumi:s::p::t::${resource}`, ...(field === undefined ? {} : { field }) });

describe('rendering a placement', () => {
  it('makes one load balancer and one address, with pools and listeners of each member', () => {
    const { loadBalancers, shared = [] } = render(member(2, { sourceRanges: ['10.0.0.0/8'] }), member(1));
    expect(loadBalancers).toEqual([]);
    expect(shared).toHaveLength(1);
    const [only] = shared;
    expect(only).toMatchObject({ owner: 'placement demo/edge', scheme: 'Public', addresses: [{ name: `${only!.name}-v4` }] });
    expect(only?.members.map(({ owner, addresses, sourceRanges }) => ({ owner, addresses, sourceRanges }))).toEqual([
      { owner: 'demo/web-1', addresses: [`${only?.name}-v4`], sourceRanges: [] },
      { owner: 'demo/web-2', addresses: [`${only?.name}-v4`], sourceRanges: ['10.0.0.0/8'] },
    ]);
    expect(listenersOf(only!).map(({ listener }) => listener.name)).toEqual(['a1owner-tcp-8001', 'a2owner-tcp-8002']);
  });

  it('gives an address of its own to who asks for one, and one load balancer to each scheme', () => {
    const asking = { addresses: ['127.20.0.9'] };
    const { shared = [] } = render(member(1), member(2, asking), member(3, asking), member(4, { scheme: 'Internal' }));
    expect(shared.map(({ scheme, addresses }) => `${scheme} ${addresses.length}`).sort()).toEqual(['Internal 1', 'Public 2']);
    expect(new Set(shared.map(({ name }) => name)).size).toBe(2);
  });

  it('keeps those whose packets go on as they are apart', () => {
    const { shared = [] } = render(member(1), member(2, { local: { engine: 'Passthrough' } }));
    expect(shared.map(({ mode, members }) => `${mode} ${members.map(({ uid }) => uid).join()}`).sort()).toEqual([
      'passthrough 2-uid',
      'undefined 1-uid',
    ]);
    expect(new Set(shared.map(({ name }) => name)).size).toBe(2);
  });

  it('depends neither on the order of the members nor of their listeners', () => {
    const ports = [
      { name: 'a', port: 81, nodePort: 30081 },
      { name: 'b', port: 82, nodePort: 30082 },
    ];
    const one = render(member(1), member(2, { listeners: ports }), member(3));
    expect(hashJson(render(member(3), member(2, { listeners: [...ports].reverse() }), member(1)))).toBe(hashJson(one));
  });

  it('has no change of what is fixed for who keeps an address: no other load balancer of the placement could have that', () => {
    const addresses = ['127.20.0.9'];
    const before = member(1, { addresses });
    const { refused } = provider.replacement(before, member(1, { addresses, scheme: 'Internal' })) ?? {};
    expect(refused).toMatch(/^the change of spec\.scheme .* 127\.20\.0\.9, which it keeps\. Ask for other addresses/);
    expect(provider.replacement(before, member(1, { addresses: ['127.20.0.8'], scheme: 'Internal' }))?.refused).toBeUndefined();
    const alone = [before, member(1, { addresses, scheme: 'Internal' })].map((input) => ({
      ...input,
      spec: { ...input.spec, placement: undefined },
    }));
    expect(provider.replacement(alone[0]!, alone[1]!)).toMatchObject({ gap: true });
    expect(provider.replacement(alone[0]!, alone[1]!)?.refused).toBeUndefined();
  });

  it('gives other names to the same placement of another cluster or CloudProvider', () => {
    const scopes = [
      { clusterID: 'c2', providerName: 'local' },
      { clusterID: 'c1', providerName: 'other' },
      { clusterID: 'c1', providerName: 'local' },
    ];
    const names = scopes.map(
      (scope) => (new LocalLoadBalancers(scope).render('s', [member(1)]) as unknown as RenderedStack).shared?.[0]?.name,
    );
    expect(new Set(names).size).toBe(3);
    expect(names[2]).toBe(render(member(9)).shared?.[0]?.name);
  });

  it('leaves what carries one CloudLoadBalancer as it was', () => {
    expect(Object.keys(render(member(1, { placement: undefined })))).toEqual(['loadBalancers']);
  });
});

describe('whose fault a failure is', () => {
  const members = [member(1), member(2, { addresses: ['127.20.0.9'] }), member(3)];
  const name = render(...members).shared![0]!.name;
  test.each<[string, OperatorError, string[]]>([
    ['a pool', failure('a2owner-tcp-8002'), ['2-uid']],
    ['an address asked for', failure(`${name}-127.20.0.9`), ['2-uid']],
    ['the address of all', failure(`${name}-v4`), []],
    ['a listener of the load balancer', failure(name, 'listeners[2].port'), ['3-uid']],
    ['another field of the load balancer', failure(name, 'sourceRanges[0]'), []],
    ['a position that no listener has', failure(name, 'listeners[9]'), []],
    ['a resource that is not of the stack', failure('other'), []],
    ['no resource at all', new OperatorError('Invalid', 'no'), []],
  ])('%s', (_what, error, uids) => {
    expect(provider.attribute(error, members)).toEqual(uids);
  });

  test('what is made for one load balancer alone is its fault', () => {
    expect(provider.attribute(failure('a1owner'), [member(1, { placement: undefined })])).toEqual(['1-uid']);
  });
});
