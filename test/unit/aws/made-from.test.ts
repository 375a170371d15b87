import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { madeFrom } from '../../../providers/aws/made-from';
import type { LoadBalancerScope } from '../../../providers/aws/scope';
import type { DiscoveredResource, LoadBalancerInput } from '../../../providers/provider';

const SCOPE = { clusterID: 'c1', tags: {} } as unknown as LoadBalancerScope;
const MAPPINGS = [
  { subnetId: 'subnet-0a', allocationId: 'eipalloc-1' },
  { subnetId: 'subnet-0b', allocationId: 'eipalloc-2' },
];

function input(spec: Partial<CloudLoadBalancerSpecInput> = {}, generation?: number): LoadBalancerInput {
  const listeners = [{ name: 'http', port: 80, nodePort: 30080 }];
  const parsed = cloudLoadBalancerSpec.parse({ provider: 'aws', aws: {}, listeners, ...spec });
  const numbered = generation === undefined ? {} : { generation };
  return { uid: 'web-uid', ownerUID: 'web', namespace: 'demo', name: 'web', spec: parsed, ...numbered };
}

const standing = (name: string, inputs: object): DiscoveredResource[] => [
  {
    type: 'aws:lb/loadBalancer:LoadBalancer',
    name,
    id: `arn:lb/${name}`,
    inputs: { name, internal: false, subnetMappings: MAPPINGS, ...inputs },
    outputs: {},
  },
];

test('scheme and name are as they are in AWS; subnets only where the spec names some', () => {
  const wanted = input({ aws: { name: 'shop', crossZone: true } });
  const aws = { type: 'Network', crossZone: true };
  expect(madeFrom(standing('aweb', { internal: true }), wanted, SCOPE)).toEqual({ ...wanted.spec, scheme: 'Internal', aws });
});

test('other subnets than the spec names come with their addresses', () => {
  const wanted = input({ aws: { subnets: ['subnet-0c'] } });
  expect(madeFrom(standing('aweb', {}), wanted, SCOPE).aws).toMatchObject({
    subnets: ['subnet-0a', 'subnet-0b'],
    eipAllocationIDs: ['eipalloc-1', 'eipalloc-2'],
  });
});

test.each([
  [undefined, 'aweb', {}],
  [1, 'aweb-g1', {}],
  [1, 'shop-g1', { aws: { name: 'shop' } }],
  [undefined, 'aweb', { aws: { subnets: ['subnet-0b', 'subnet-0a'], eipAllocationIDs: ['eipalloc-2', 'eipalloc-1'] } }],
] as const)('what is as the spec asks stays the spec: generation %s named %s', (generation, name, spec) => {
  const wanted = input(spec as Partial<CloudLoadBalancerSpecInput>, generation);
  expect(madeFrom(standing(generation === undefined ? 'aweb' : 'aweb-g1', { name }), wanted, SCOPE)).toEqual(wanted.spec);
});

test('of one that several share it is not told', () => {
  const wanted = input({ placement: { name: 'edge' } });
  expect(madeFrom(standing('aweb', { internal: true }), wanted, SCOPE)).toBe(wanted.spec);
});

test('the kind is that of AWS; a Classic one can be brought to other subnets', () => {
  const classic = standing('aweb', { internal: true }).map((one) => ({ ...one, type: 'aws:elb/loadBalancer:LoadBalancer' }));
  const wanted = input({ aws: { type: 'Classic', subnets: ['subnet-0c'] } });
  expect(madeFrom(classic, wanted, SCOPE)).toEqual({ ...wanted.spec, scheme: 'Internal' });
  expect(madeFrom(classic, input(), SCOPE)).toMatchObject({ scheme: 'Internal', aws: { type: 'Classic' } });
  expect(madeFrom(standing('aweb', {}), wanted, SCOPE).aws).toMatchObject({ type: 'Network', subnets: ['subnet-0a', 'subnet-0b'] });
});
