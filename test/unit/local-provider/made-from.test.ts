import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { LocalLoadBalancers } from '../../../providers/local/load-balancers';
import type { DiscoveredResource, LoadBalancerInput } from '../../../providers/provider';

const loadBalancers = new LocalLoadBalancers({ clusterID: 'c1', providerName: 'local' });
const { madeFrom } = loadBalancers;

function input(spec: Partial<CloudLoadBalancerSpecInput> = {}, generation?: number): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 80, nodePort: 30080 }];
  const parsed = cloudLoadBalancerSpec.parse({ provider: 'local', local: {}, listeners, ...spec });
  const numbered = generation === undefined ? {} : { generation };
  return { uid: 'web-uid', ownerUID: 'web', namespace: 'demo', name: 'web', spec: parsed, ...numbered };
}

/** One load balancer with one pool, as `discover` gives them. */
function standing(base: string, inputs: object): DiscoveredResource[] {
  const common = { id: base, outputs: {} };
  return [
    { ...common, type: 'local:index:TargetPool', name: `${base}-tcp-80`, id: `pool-${base}`, inputs: {} },
    { ...common, type: 'local:index:LoadBalancer', name: base, inputs: { listeners: [{ poolID: `pool-${base}` }], ...inputs } },
  ];
}

test('scheme, engine and name are as they are in the cloud, all else as in the spec', () => {
  const found = standing('aweb', { name: 'aweb', scheme: 'Internal', mode: 'passthrough' });
  const wanted = input({ scheme: 'Public', local: { name: 'shop', drainSeconds: 7 } });
  expect(madeFrom(found, wanted)).toEqual({ ...wanted.spec, scheme: 'Internal', local: { engine: 'Passthrough', drainSeconds: 7 } });
});

test.each([
  [undefined, 'aweb', { scheme: 'Public' }],
  [undefined, 'shop', { scheme: 'Public', local: { name: 'shop' } }],
  [2, 'shop-g2', { scheme: 'Internal', local: { name: 'shop', engine: 'Node' } }],
] as const)('what is as the spec asks is not replaced: generation %s named %s', (generation, name, spec) => {
  const wanted = input(spec, generation);
  const found = standing(generation === undefined ? 'aweb' : `aweb-g${generation}`, { name, scheme: spec.scheme });
  expect(madeFrom(found, wanted)).toEqual(wanted.spec);
  expect(loadBalancers.replacement(wanted, wanted)).toBeUndefined();
});

test('a name that nobody asks for any more is without its generation', () => {
  const found = standing('aweb-g1', { name: 'shop-g1', scheme: 'Public' });
  expect(madeFrom(found, input({}, 1)).local).toEqual({ name: 'shop' });
});

test('of several generations, it is that of the input; of one that several share, the name is nobody’s', () => {
  const found = [...standing('aweb', { name: 'aweb', scheme: 'Public' }), ...standing('aweb-g1', { name: 'p0123', scheme: 'Internal' })];
  const shared = input({ placement: { name: 'edge' } }, 1);
  expect(madeFrom(found, shared)).toEqual({ ...shared.spec, scheme: 'Internal' });
});

test('where nothing stands, the spec says it', () => {
  const wanted = input();
  expect(madeFrom([], wanted)).toBe(wanted.spec);
});
