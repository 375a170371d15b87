import { cloudLoadBalancerSpec, type CloudLoadBalancerSpecInput } from '../../../crds';
import { LocalLoadBalancers, type RenderedStack } from '../../../providers/local/load-balancers';
import type { LoadBalancerInput } from '../../../providers/provider';
import { loadBalancersOf } from '../../../providers/local/served';

function inputOf(uid: string, port: number, fields: Partial<CloudLoadBalancerSpecInput> = {}): LoadBalancerInput {
  const listeners = [{ name: `p${port}`, protocol: 'TCP' as const, port, nodePort: 30000 + port }];
  const spec = cloudLoadBalancerSpec.parse({ provider: 'local', local: {}, listeners, ...fields });
  return { uid, namespace: 'demo', name: uid, ownerUID: `owner-${uid}`, spec };
}

const provider = new LocalLoadBalancers({ clusterID: 'c1', providerName: 'local' });
const placement = { name: 'edge', namespace: 'demo' };

test('a resource of its own serves its owner, a shared one all who share it, a foreign one nobody it knows', () => {
  const inputs = provider.render('stack', [inputOf('a', 80), inputOf('b', 81, { placement }), inputOf('c', 82, { placement })]);
  const shared = (inputs as unknown as RenderedStack).shared?.[0];
  const of = (ownerUID: unknown): string[] => loadBalancersOf({ args: { ownerUID } }, inputs);
  expect(of('owner-a')).toEqual(['a']);
  expect(of('owner-c')).toEqual(['c']);
  expect(of(shared?.ownerUID)).toEqual(['b', 'c']);
  expect(of('somebody')).toEqual([]);
});
