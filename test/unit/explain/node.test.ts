import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../../operator/entry';
import { explainNode, OWN_EVENTS, type NodeFacts } from '../../../operator/explain/node';
import type { KubeEvent } from '../../../operator/explain/kinds';
import { condition, expectFinding, instance, loadBalancer, node, provider, route, slice, type Expected } from './objects';

const WELL: NodeFacts = {
  name: 'n1',
  node: node(),
  instance: instance(),
  providers: [provider()],
  loadBalancers: [{ loadBalancer: loadBalancer(), slices: [] }],
  routes: [route()],
  events: [],
};
const UNINITIALIZED = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' };
const local = loadBalancer({ spec: { trafficPolicy: 'Local' } });
const event = (reason: string, message: string): KubeEvent => ({ reason, message }) as KubeEvent;

test('a Node that is as it should be', () => {
  const findings = explainNode(WELL);
  expect(findings.map(({ state }) => state)).toEqual(findings.map(() => 'good'));
  expect(findings.at(-1)?.says).toBe('it is a target of shop/web (Cluster)');
});

test.each<[string, Partial<NodeFacts>, ...Expected]>([
  ['is not registered', { node: undefined }, 'bad', /there is no Node n1: .* machine i-1 is Running/, /kubelet/],
  ['is not registered and has no machine', { node: undefined, instance: undefined }, 'bad', /kubelet has not registered it$/],
  ['is being deleted', { node: node({ metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' } }) }, 'waiting', /is being deleted since/],
  [
    'is not ready',
    { node: node({ status: { conditions: [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'no CNI' }] } }) },
    'bad',
    /Ready=False, KubeletNotReady: no CNI/,
    /network plugin/,
  ],
  [
    'does not report',
    { node: node({ status: { conditions: [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown' }] } }) },
    'bad',
    /Ready=Unknown/,
    /does the machine run/,
  ],
  [
    'is not initialized',
    { node: node({ spec: { taints: [UNINITIALIZED], providerID: undefined } }) },
    'bad',
    /has the taint node\.cloudprovider\.kubernetes\.io\/uninitialized/,
    /whether the operator runs/,
  ],
  [
    'is not initialized, and the operator has said why',
    {
      node: node({ spec: { taints: [UNINITIALIZED] } }),
      events: [event('InstanceUnclaimed', 'no cloud has a machine n1'), event('Starting', 'kubelet')],
    },
    'bad',
    /uninitialized.*InstanceUnclaimed: no cloud has a machine n1/,
  ],
  [
    'never waited for a cloud provider',
    { node: node({ spec: { providerID: undefined } }), instance: undefined },
    'bad',
    /no providerID and no taint/,
    /--cloud-provider=external/,
  ],
  ['has no CloudProvider', { providers: [] }, 'bad', /there is no CloudProvider/],
  ['is claimed by nobody', { instance: undefined }, 'bad', /no CloudProvider claims it; there are local/, /nodeSelector/],
  ['has a machine that is gone', { instance: instance({ status: { state: 'Missing' } }) }, 'bad', /machine i-1 is Missing/],
  [
    'has a CloudProvider whose credentials are refused',
    {
      providers: [
        provider({
          status: { conditions: [condition('Ready', 'False', 'CredentialsRefused'), condition('Stalled', 'True', 'CredentialsRefused')] },
        }),
      ],
    },
    'bad',
    /CloudProvider local is Stalled \(CredentialsRefused\)/,
    /repair the Secret/,
  ],
  [
    'has no zone',
    { node: node({ metadata: { labels: { 'topology.kubernetes.io/zone': undefined } } }) },
    'note',
    /lacks topology\.kubernetes\.io\/zone/,
  ],
  [
    'has no address',
    { node: node({ status: { addresses: [{ type: 'Hostname', address: 'n1' }] } }) },
    'bad',
    /no address of type InternalIP/,
  ],
  [
    'was shut down',
    { node: node({ spec: { taints: [{ key: 'node.cloudprovider.kubernetes.io/shutdown', effect: 'NoSchedule' }] } }) },
    'bad',
    /its machine is stopped/,
  ],
  ['is kept for now', { events: [event('DeletingNodeHeldBack', 'too many at once')] }, 'note', /DeletingNodeHeldBack: too many at once/],
  [
    'has no network',
    { node: node({ status: { conditions: [{ type: 'NetworkUnavailable', status: 'True', reason: 'NoRouteCreated' }] } }), routes: [] },
    'bad',
    /network is unavailable \(NoRouteCreated\)/,
    /cloudroute/,
  ],
  [
    'has no podCIDR',
    {
      node: node({ spec: { podCIDR: '', taints: [{ key: 'node.kubernetes.io/network-unavailable', effect: 'NoSchedule' }] } }),
      routes: [],
    },
    'bad',
    /It has no podCIDR/,
    /--allocate-node-cidrs/,
  ],
  [
    'has a route that fails',
    {
      routes: [
        route({ status: { conditions: [condition('Ready', 'False', 'RouteConflict'), condition('Stalled', 'True', 'RouteConflict')] } }),
      ],
    },
    'bad',
    /CloudRoute n1-10\.244\.1\.0-24 is Stalled \(RouteConflict\)/,
  ],
  ['is cordoned', { node: node({ spec: { unschedulable: true } }) }, 'note', /cordoned; load balancers go on/],
  [
    'is excluded',
    { node: node({ metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } } }) },
    'bad',
    /a target of no load balancer, since it has the label node\.kubernetes\.io\/exclude-from-external-load-balancers/,
  ],
  [
    'goes with the autoscaler',
    { node: node({ spec: { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', effect: 'NoSchedule' }] } }) },
    'bad',
    /cluster autoscaler is about to remove it/,
  ],
  [
    'is of another cloud than the load balancer',
    { loadBalancers: [{ loadBalancer: loadBalancer({ spec: { provider: 'aws' } }), slices: [] }] },
    'note',
    /no target of shop\/web \(Cluster\): it belongs to CloudProvider local, not aws/,
  ],
  [
    'has not the labels that the load balancer wants',
    {
      loadBalancers: [
        { loadBalancer: loadBalancer({ spec: { aws: { type: 'Network', targetNodeLabels: { pool: 'edge' } } } }), slices: [] },
      ],
    },
    'note',
    /it lacks the label pool=edge/,
  ],
  [
    'has no endpoint of a Local one',
    { loadBalancers: [{ loadBalancer: local, slices: [slice('n2')] }] },
    'note',
    /a target of shop\/web \(Local\), but gets none of its traffic: no ready endpoint/,
  ],
  [
    'has an endpoint of a Local one',
    { loadBalancers: [{ loadBalancer: local, slices: [slice('n1')] }] },
    'good',
    /it is a target of shop\/web \(Local\)/,
  ],
  ['has nothing to do', { loadBalancers: [] }, 'note', /no load balancer that it could be a target of/],
])('a Node that %s', (_, change, ...expected) => {
  expectFinding(explainNode({ ...WELL, ...change }), expected);
});

test('every Event with which the node loop says why a Node keeps its taint is known', () => {
  const folder = join(PROJECT_ROOT, 'operator/loops/node');
  const source = readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('\n');
  const written = [...source.matchAll(/(?:keepTaint\(|'Warning', |reason: )\s*'(\w+)'/g)].map(([, reason]) => reason);
  expect(written.length).toBeGreaterThanOrEqual(5);
  expect(written.filter((reason) => !OWN_EVENTS.includes(reason ?? ''))).toEqual([]);
});
