import { rowsOf, treeOf, type TreeFacts } from '../../../operator/explain/tree-view';
import { paintFor } from '../../../operator/cli/cluster/output';
import type { StoredStack } from '../../../operator/explain/kinds';
import { condition, instance, loadBalancer, node, service, slice } from './objects';

const urn = (name: string): string => `urn:pulumi:s::p::local:index:TargetPool$local:index:LoadBalancer::${name}`;
const stack = (status: object): StoredStack =>
  ({
    metadata: { name: 'lb-shop-web', generation: 1 },
    spec: { kind: 'LoadBalancer' },
    status: {
      observedGeneration: 1,
      conditions: [condition('Ready', 'True', 'Ready')],
      lastAttempt: 'Update Succeeded',
      resources: [{ type: 'local:index:LoadBalancer', name: 'a', id: 'lb-1', urn: urn('a') }],
      ...status,
    },
  }) as unknown as StoredStack;

const FACTS: TreeFacts = {
  service: service(),
  loadBalancer: loadBalancer(),
  stack: stack({}),
  extra: undefined,
  nodes: [{ node: node(), instance: instance() }],
  slices: [],
};
const linesOf = (facts: Partial<TreeFacts>): string[] => rowsOf(treeOf({ ...FACTS, ...facts })).map(({ row }) => row.join(' | '));

test('a Service down to the cloud', () => {
  expect(linesOf({})).toEqual([
    'Service shop/web | Ready | 203.0.113.7',
    '└─ CloudLoadBalancer shop/web | Ready | 80/TCP',
    '   ├─ CloudStack lb-shop-web | Ready | Update Succeeded',
    '   │  └─ LoadBalancer a | Present | lb-1',
    '   └─ Node n1 | Target | ',
  ]);
});

test.each<[string, Partial<TreeFacts>, string]>([
  [
    'a Service without one',
    { service: service({ spec: { type: 'ClusterIP' } }), loadBalancer: undefined },
    'Service shop/web | NoLoadBalancer | type ClusterIP',
  ],
  [
    'a Service that waits',
    { service: service({ status: { loadBalancer: undefined } }), loadBalancer: undefined },
    'Service shop/web | Pending | kubectl cloud explain web -n shop',
  ],
  ['a load balancer of a person’s', { service: undefined }, 'CloudLoadBalancer shop/web | Ready | 80/TCP'],
  [
    'a stack that others share',
    { stack: stack({ members: ['shop/a', 'shop/web'] }) },
    '   ├─ CloudStack lb-shop-web | Ready | shared by 2; Update Succeeded',
  ],
  [
    'a resource that is gone',
    { stack: stack({ drift: [{ urn: urn('a'), kind: 'Missing' }] }) },
    '   │  └─ LoadBalancer a | Missing | gone from the cloud: lb-1',
  ],
  [
    'a resource that somebody changed',
    { stack: stack({ drift: [{ urn: urn('a'), kind: 'Changed', property: 'port', old: '80', new: '81' }] }) },
    '   │  └─ LoadBalancer a | Drifted | port is 81, wanted 80',
  ],
  [
    'a resource that nobody knows',
    { stack: stack({ drift: [{ urn: urn('b'), kind: 'Unknown', detail: 'lb-2' }] }) },
    '   │  └─ LoadBalancer b | Unknown | in the cloud, and not in the stack: lb-2',
  ],
  [
    'a change that waits',
    { stack: stack({ plans: [{ member: 'shop/web', operations: [{ op: 'update', type: 't', name: 'a', urn: urn('a') }] }] }) },
    '   │  └─ LoadBalancer a | Planned | update waits for approval',
  ],
  [
    'a creation that waits',
    {
      stack: stack({
        resources: [],
        plans: [{ member: 'shop/web', operations: [{ op: 'create', type: 'local:index:Address', name: 'c', urn: 'u' }] }],
      }),
    },
    '   │  └─ Address c | Planned | create waits for approval',
  ],
  [
    'a Node that is excluded',
    { nodes: [{ node: node({ spec: { providerID: undefined } }), instance: instance() }] },
    '   └─ Node n1 | NoTarget | it has no providerID yet',
  ],
  [
    'a Node without an endpoint',
    { loadBalancer: loadBalancer({ spec: { trafficPolicy: 'Local' } }), slices: [slice('n2')] },
    '   └─ Node n1 | Quiet | no ready endpoint of the Service is on it (traffic policy Local), so that its health check fails',
  ],
])('%s', (_, facts, line) => {
  expect(linesOf(facts)).toContain(line);
});

test.each([
  ['on a terminal', true, {}, true],
  ['into a file', false, {}, false],
  ['with NO_COLOR', true, { NO_COLOR: '1' }, false],
  ['with an empty NO_COLOR', true, { NO_COLOR: '' }, true],
  ['on a dumb terminal', true, { TERM: 'dumb' }, false],
])('colours %s: %s', (_, terminal, env, coloured) => {
  expect(paintFor(terminal, env)('x', 'bad')).toBe(coloured ? '\u001b[31mx\u001b[0m' : 'x');
});
