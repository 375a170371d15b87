import type { Collection, FaultRule } from '../../../providers/local/api';
import { kstatusOf } from '../../harness/kstatus';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, serviceOf, withScene } from './scene';

/** Made for one load balancer, in this order. */
const KINDS: Collection[] = ['addresses', 'pools', 'loadbalancers'];
const WORKER = { caller: 'cloud-operator-update' };

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

test('a cloud that throttles everything gets what it can take, and exactly one of each', async () => {
  await scene.faults({ match: {}, act: { throttle: { rps: 20, burst: 2 } } });
  await cluster.apply(serviceOf('t1'), serviceOf('t2'), serviceOf('t3'));
  await scene.until('three load balancers', async () => (await scene.counts()).loadbalancers === 3);
  const { calls } = await cluster.operatorCalls();
  expect(calls.some(({ code }) => code === 429)).toBe(true);
  await scene.faults();
  await scene.expectOneOfEach('t1', 't2', 't3');
});

test.each(KINDS)('the answer to the create of one of %s is lost', async (collection) => {
  await scene.faults({ match: { verb: 'create', collection, ...WORKER }, times: 1, act: { loseResponse: true } });
  await cluster.apply(serviceOf('lost'));
  await scene.acted(0);
  await scene.expectOneOfEach('lost');
});

test.each<[string, FaultRule['match']]>([
  ['the registration of targets', { verb: 'targets' }],
  ['the update of a load balancer', { verb: 'update', collection: 'loadbalancers' }],
  ['the delete of a load balancer', { verb: 'delete', collection: 'loadbalancers' }],
  ['the delete of an address', { verb: 'delete', collection: 'addresses' }],
])('the answer to %s is lost', async (_what, match) => {
  await scene.faults({ match, times: 1, act: { loseResponse: true } });
  await cluster.apply(serviceOf('lost'));
  await scene.published('lost');
  await cluster.apply(serviceOf('lost', { spec: { loadBalancerSourceRanges: ['10.0.0.0/8'] } }));
  await scene.until('the source ranges in the cloud', async () => (await scene.inCloud('lost')).sourceRanges.length === 1);
  await scene.expectOneOfEach('lost');
  await scene.acted(0);
});

test.each(KINDS)('the cloud answers 500 to the first creates of %s', async (collection) => {
  await scene.faults({ match: { verb: 'create', collection, ...WORKER }, times: 2, act: { status: 500, code: 'Internal' } });
  await cluster.apply(serviceOf('broken'));
  await scene.acted(0, 2);
  await scene.expectOneOfEach('broken');
});

test('while the cloud takes its time, the object says so; and a second change is not lost', async () => {
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, times: 1, act: { latencyMs: { min: 2000, max: 2000 } } });
  await cluster.apply(serviceOf('slow'));
  await scene.acted(0);
  await scene.condition('slow', 'Reconciling', 'Updating');
  const held = await scene.loadBalancer('slow');
  expect(held && kstatusOf(held)).toBe('InProgress');
  await cluster.apply(serviceOf('slow', { spec: { loadBalancerSourceRanges: ['10.1.0.0/16'] } }));
  await scene.published('slow');
  expect((await scene.inCloud('slow')).sourceRanges).toEqual(['10.1.0.0/16']);
  await scene.expectOneOfEach('slow');
});
