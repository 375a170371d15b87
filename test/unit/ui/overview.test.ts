import { overviewOf } from '../../../operator/ui/overview';
import { condition, instance, loadBalancer, node, provider, route, service } from '../explain/objects';
import { cachesOf, stack } from './caches';

const OPERATOR = { version: '1.2.3', identity: 'host_1', leads: true };

const named = (name: string, part: object = {}): object => ({ metadata: { name, uid: `${name}-uid` }, ...part });

test('a Service is joined to its load balancer, that to its targets, and a route to its Node', () => {
  const overview = overviewOf(
    cachesOf({
      services: [service(), service({ metadata: { name: 'db' }, spec: { type: 'ClusterIP' } })],
      loadBalancers: [loadBalancer()],
      providers: [provider({ status: { kind: 'local' } })],
      nodes: [node(), node(named('n2', { status: { conditions: [] } })), node(named('n3'))],
      instances: [instance(), instance(named('n2', { spec: { nodeName: 'n2' } }))],
      routes: [route({ spec: { destinationCIDR: '10.244.1.0/24' } })],
      stacks: [stack()],
    }),
    OPERATOR,
  );
  expect(overview).toMatchObject({
    schema: 1,
    operator: OPERATOR,
    services: [{ name: 'shop/web', addresses: ['203.0.113.7'], made: true, state: { word: 'Ready', tone: 'good' } }],
    loadBalancers: [{ name: 'shop/web', provider: 'local', stack: 'lb-shop-web', ports: '80/TCP', service: true, targets: 0 }],
    // n3 is on no machine that is known: it is no target
    targetSets: [{ busy: ['n1'], quiet: ['n2'] }],
    nodes: [
      { name: 'n1', provider: 'local', state: { word: 'Ready' } },
      { name: 'n2', state: { word: 'NotReady', tone: 'waiting' } },
      { name: 'n3', state: { word: 'Ready' } },
    ],
    routes: [{ name: 'n1-10.244.1.0-24', destination: '10.244.1.0/24', node: 'n1', state: { word: 'Ready' } }],
    stacks: [{ name: 'lb-shop-web', members: 1, resources: 3, differences: 0 }],
    providers: [{ name: 'local', kind: 'local', frozen: false }],
  });
});

test('load balancers that ask for the same Nodes have one target set', () => {
  const labelled = (name: string): object => ({ metadata: { name }, spec: { aws: { targetNodeLabels: { role: 'edge' } } } });
  const { loadBalancers, targetSets } = overviewOf(
    cachesOf({
      loadBalancers: [loadBalancer(), loadBalancer({ metadata: { name: 'a' } }), loadBalancer(labelled('b')), loadBalancer(labelled('c'))],
      nodes: [node()],
      instances: [instance()],
    }),
    OPERATOR,
  );
  const places = Object.fromEntries(loadBalancers.map(({ name, targets }) => [name, targetSets[targets]?.busy]));
  expect(places).toEqual({ 'shop/a': ['n1'], 'shop/b': [], 'shop/c': [], 'shop/web': ['n1'] });
  expect(targetSets).toHaveLength(2);
});

test('what waits is told with the reason and the next step, what needs somebody first', () => {
  const stalled = [condition('Ready', 'False', 'Paused'), condition('Reconciling', 'True', 'Paused', 'paused by annotation')];
  const plan = { member: 'shop/web', hash: 'aa11', reason: 'approval is Manual', summary: '1 to update', operations: [] };
  const { waiting } = overviewOf(
    cachesOf({
      loadBalancers: [loadBalancer({ status: { conditions: stalled } })],
      nodes: [node({ spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' }] } })],
      services: [
        service({
          metadata: { name: 'alone' },
          status: { loadBalancer: {}, conditions: [condition('cloud-operator.dev/Ready', 'False', 'NoDefaultProvider')] },
        }),
      ],
      providers: [
        provider({
          status: { conditions: [condition('Ready', 'False', 'CredentialsRefused'), condition('Stalled', 'True', 'CredentialsRefused')] },
        }),
      ],
      stacks: [stack({ plans: [plan] })],
      routes: [route()],
    }),
    OPERATOR,
  );
  expect(waiting.map(({ kind, name, state, next }) => [kind, name, state.word, state.reason, next])).toEqual([
    ['CloudProvider', 'local', 'Stalled', 'CredentialsRefused', 'repair the Secret or the permissions; it is tried again'],
    ['Node', 'n1', 'Uninitialized', undefined, 'kubectl cloud explain node/n1'],
    ['CloudLoadBalancer', 'shop/web', 'Reconciling', 'Paused', 'remove the annotation (operate/levers.md)'],
    ['Service', 'shop/alone', 'NotReady', 'NoDefaultProvider', expect.stringContaining('cloud-operator.dev/provider')],
    ['CloudStack', 'lb-shop-web', 'Planned', 'AwaitingApproval', 'kubectl cloud approve aa11'],
  ]);
});

test('the last updates of all stacks, the newest first, and no more than fifty', () => {
  const attempts = (from: number): { kind: 'Update'; startedAt: string; result: 'Succeeded' }[] =>
    Array.from({ length: 40 }, (_, at) => ({
      kind: 'Update',
      startedAt: new Date(Date.UTC(2026, 0, 1, 0, from + at * 2)).toISOString(),
      result: 'Succeeded',
    }));
  const did = { op: 'update', type: 't', name: 'n', urn: 'u' } as const;
  const other = {
    ...stack({ attempts: attempts(1).map((one) => ({ ...one, operations: [did], omitted: 1 })) }),
    metadata: { ...stack().metadata, name: 'lb-other' },
  };
  const { updates } = overviewOf(cachesOf({ stacks: [stack({ attempts: attempts(0) }), other] }), OPERATOR);
  expect(updates).toHaveLength(50);
  expect(updates[0]).toMatchObject({ stack: 'lb-other', startedAt: '2026-01-01T01:19:00.000Z' });
  expect(updates[0]).not.toHaveProperty('operations');
  expect(updates.map(({ startedAt }) => startedAt)).toEqual(
    updates
      .map(({ startedAt }) => startedAt)
      .toSorted()
      .reverse(),
  );
});
