import type { Attempt, WaitingPlan } from '../../../crds';
import { explainLoadBalancer, type LoadBalancerFacts } from '../../../operator/explain/load-balancer';
import { operatorRuns } from '../../../operator/explain/operator-runs';
import { explainRoute, type RouteFacts } from '../../../operator/explain/route';
import type { StoredStack } from '../../../operator/explain/kinds';
import type { Lease } from '../../../operator/kube/lease';
import { condition, expectFinding, instance, loadBalancer, node, provider, route, type Expected } from './objects';

const stack = (status: object): StoredStack => ({ metadata: { name: 'lb-shop-web' }, status }) as unknown as StoredStack;
const plan: WaitingPlan = {
  member: 'shop/web',
  hash: 'aa8b',
  reason: 'spec.updatePolicy.approval is Manual',
  summary: '1 to create',
  operations: [],
};
const failed: Attempt = { kind: 'Update', startedAt: '2026-01-02T03:04:05Z', result: 'Failed', code: 'Quota', message: 'too many' };

const WELL: LoadBalancerFacts = {
  loadBalancer: loadBalancer(),
  provider: provider(),
  stack: stack({}),
  nodes: [{ node: node(), instance: instance() }],
  slices: [],
};
const reconciling = (reason: string, type = 'Reconciling'): LoadBalancerFacts['loadBalancer'] =>
  loadBalancer({ status: { conditions: [condition('Ready', 'False', reason), condition(type, 'True', reason)] } });

test('a CloudLoadBalancer that serves', () => {
  expect(explainLoadBalancer(WELL).map(({ state }) => state)).toEqual(['good', 'good', 'good', 'good']);
});

test('what can’t be looked at is not said to be absent', () => {
  const found = explainLoadBalancer({ ...WELL, provider: 'Unreadable', stack: undefined, nodes: undefined });
  expect(found.map(({ state, says }) => [state, says.split(' ')[0]])).toEqual([
    ['good', 'CloudLoadBalancer'],
    ['good', 'it'],
  ]);
});

test.each<[string, Partial<LoadBalancerFacts>, ...Expected]>([
  ['has no CloudProvider', { provider: undefined }, 'bad', /there is no CloudProvider local/],
  [
    'was not looked at',
    { loadBalancer: loadBalancer({ metadata: { generation: 2 } }) },
    'waiting',
    /has not looked at its newest version/,
    /whether the operator runs/,
  ],
  [
    'is paused',
    { loadBalancer: loadBalancer({ metadata: { annotations: { 'cloud-operator.dev/pause': 'All' } } }) },
    'waiting',
    /Nothing changes: paused by annotation/,
    /go on: kubectl cloud resume web -n shop$/,
  ],
  [
    'is paused as all of its CloudProvider, more than it is itself',
    {
      loadBalancer: loadBalancer({ metadata: { annotations: { 'cloud-operator.dev/pause': 'Updates' } } }),
      provider: provider({ metadata: { annotations: { 'cloud-operator.dev/pause': 'All' } } }),
    },
    'waiting',
    /of CloudProvider local: All/,
    /go on: kubectl cloud resume cloudprovider\/local$/,
  ],
  [
    'is frozen',
    { provider: provider({ spec: { freeze: true } }) },
    'waiting',
    /CloudProvider local is frozen/,
    /go on: kubectl cloud resume cloudprovider\/local$/,
  ],
  [
    'is only observed',
    { loadBalancer: loadBalancer({ spec: { managementPolicy: 'Observe' } }) },
    'waiting',
    /only observed/,
    /go on: take spec.managementPolicy off, or the annotation/,
  ],
  [
    'is only observed as all of its CloudProvider',
    { provider: provider({ spec: { managementPolicy: 'Observe' } }) },
    'waiting',
    /only observed/,
    /go on: take spec.managementPolicy off CloudProvider local$/,
  ],
  [
    'is given up',
    { loadBalancer: loadBalancer({ spec: { managementPolicy: 'Released' } }) },
    'waiting',
    /given up/,
    /go on: docs\/operate\/adopt\.md$/,
  ],
  ['is being made', { loadBalancer: reconciling('Updating') }, 'waiting', /is Reconciling \(Updating\)/, /wait/],
  ['can never work', { loadBalancer: reconciling('Invalid', 'Stalled') }, 'bad', /is Stalled \(Invalid\)/, /field, value and remedy/],
  ['has state of a wrong key', { loadBalancer: reconciling('WrongKey', 'Stalled') }, 'bad', /WrongKey/, /operate\/state\.md/],
  [
    'is being deleted',
    { loadBalancer: loadBalancer({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }) },
    'waiting',
    /is Deleting/,
  ],
  ['waits for approval', { stack: stack({ plans: [plan] }) }, 'waiting', /plan aa8b waits/, /kubectl cloud approve aa8b/],
  ['sees another’s plan', { stack: stack({ plans: [{ ...plan, member: 'shop/other' }] }) }, 'good', /answers at/],
  ['has drifted', { stack: stack({ drift: [{ urn: 'urn', kind: 'Missing' }] }) }, 'note', /1 differences/],
  ['has failed', { stack: stack({ attempts: [failed] }) }, 'bad', /the last update failed \(Quota\) at .*: too many/, /history/],
  [
    'has a warning',
    {
      loadBalancer: loadBalancer({
        status: { conditions: [condition('Ready', 'True', 'Ready'), condition('Warning', 'True', 'NotSupported')] },
      }),
    },
    'note',
    /Warning=True, NotSupported/,
  ],
  ['has no Node', { nodes: [] }, 'bad', /0 of 0 Nodes are targets.*there is no Node/],
  [
    'has Nodes that are excluded only',
    { nodes: [{ node: node({ spec: { providerID: undefined } }), instance: instance() }] },
    'bad',
    /0 of 1 Nodes.*no providerID yet/,
    /explain node/,
  ],
  ['has no address', { loadBalancer: loadBalancer({ status: { ingress: undefined } }) }, 'waiting', /no address yet/],
])('a CloudLoadBalancer that %s', (_, change, ...expected) => {
  expectFinding(explainLoadBalancer({ ...WELL, ...change }), expected);
});

test.each<[string, Partial<RouteFacts>, ...Expected]>([
  ['is there', {}, 'good', /Node n1 is the next hop/],
  ['has no Node', { node: undefined }, 'bad', /its Node n1 is not there/],
  ['has a Node without a machine', { node: node({ spec: { providerID: undefined } }) }, 'waiting', /no providerID yet/],
  [
    'has a Node that waits',
    { node: node({ status: { conditions: [{ type: 'NetworkUnavailable', status: 'True', message: 'no route' }] } }) },
    'waiting',
    /waits for its network: no route/,
  ],
  [
    'is paused',
    { route: route({ metadata: { annotations: { 'cloud-operator.dev/pause': 'Updates' } } }) },
    'waiting',
    /paused by annotation/,
  ],
])('a CloudRoute that %s', (_, change, ...expected) => {
  expectFinding(explainRoute({ route: route(), node: node(), provider: provider(), stack: undefined, ...change }), expected);
});

const NOW = Date.parse('2026-01-02T03:04:05Z');
const lease = (spec: object): Lease => ({ spec }) as Lease;
test.each<[string, Lease | undefined, ...Expected]>([
  ['leads', lease({ holderIdentity: 'a_1', renewTime: '2026-01-02T03:04:01.000000Z' }), 'good', /a_1 leads/],
  ['has never run', undefined, 'note', /no operator has ever led/],
  ['gave its Lease back', lease({ holderIdentity: '', renewTime: '2026-01-02T03:04:01Z' }), 'bad', /given back/],
  ['has died', lease({ holderIdentity: 'a_1', renewTime: '2026-01-02T03:00:00Z' }), 'bad', /a_1 has not renewed/],
  ['has a Lease without a time', lease({ holderIdentity: 'a_1' }), 'bad', /has not renewed/],
])('an operator that %s', (_, found, ...expected) => {
  expectFinding([operatorRuns(found, NOW)], expected);
});
