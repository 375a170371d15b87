import { cloudLoadBalancerSpec, cloudProviderSpec } from '../../../crds';
import { silentLogger } from '../../../operator/base/log';
import { InServiceWatch } from '../../../operator/cloud/stack/in-service-watch';
import type { StoredLoadBalancer } from '../../../operator/cloud/stack/load-balancer-stacks';
import { MemoryStore } from '../../../operator/kube/store';
import type { NotInService } from '../../../providers/provider';
import { FakeClock } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const PROVISIONING: NotInService = { reason: 'Provisioning', message: 'some minutes' };

let version = 0;

function objectOf(name: string, hostname?: string): StoredLoadBalancer {
  const spec = cloudLoadBalancerSpec.parse({ provider: 'alpha', listeners: [{ name: 'http', port: 80 }] });
  const status = hostname === undefined ? {} : { status: { ingress: [{ hostname }] } };
  return { metadata: { namespace: 'shop', name, uid: name, resourceVersion: String(++version) }, spec, ...status } as StoredLoadBalancer;
}

/** A cloud, what it does not have in service, and how often it was asked. */
async function made() {
  const cloud = { states: new Map<string, NotInService>(), looks: 0, fails: false };
  const notInService = (): Promise<Map<string, NotInService>> => {
    cloud.looks++;
    return cloud.fails ? Promise.reject(new Error('not now')) : Promise.resolve(new Map(cloud.states));
  };
  const registry = fakeRegistry({ notInService });
  await registry.set('alpha', cloudProviderSpec.parse({ custom: { kind: 'alpha' } }));
  const loadBalancers = new MemoryStore<StoredLoadBalancer>({}, silentLogger);
  loadBalancers.replace([objectOf('old', 'old.elb'), objectOf('web')]);
  const [clock, told, stop] = [new FakeClock(), [] as string[], new AbortController()];
  const options = { registry, clock, random: () => 0.5, logger: silentLogger };
  const watch = new InServiceWatch({ ...options, loadBalancers, told: (key) => void told.push(key) });
  const ended = watch.run(stop.signal);
  const pass = async (ms: number): Promise<void> => {
    for (let at = 0; at < ms; at += 1_000) await clock.advance(1_000);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await pass(2_000);
    await ended;
  };
  await pass(2_000);
  return { cloud, loadBalancers, watch, told, pass, end };
}

test('nobody is asked until a load balancer gets its point of entry, and again until all are in service', async () => {
  const { cloud, loadBalancers, watch, told, pass, end } = await made();
  await pass(120_000);
  expect(cloud.looks).toBe(0);
  const web = objectOf('web', 'web.elb');
  cloud.states.set('web.elb', PROVISIONING).set('somebody-else.elb', { reason: 'Failed', message: 'no' });
  loadBalancers.set(web);
  await pass(32_000);
  expect([cloud.looks, told]).toEqual([1, ['shop/web']]);
  expect(watch.warningOf(web)).toEqual({ type: 'NotInService', ...PROVISIONING });
  expect(watch.warningOf(objectOf('old', 'old.elb'))).toBeUndefined();
  const said = {
    ...objectOf('web'),
    status: { ...web.status, conditions: [{ type: 'NotInService', ...PROVISIONING }] },
  } as StoredLoadBalancer;
  loadBalancers.set(said);
  await pass(32_000);
  expect([cloud.looks, told]).toEqual([2, ['shop/web']]);
  cloud.states.delete('web.elb');
  await pass(32_000);
  expect([cloud.looks, told]).toEqual([3, ['shop/web', 'shop/web']]);
  expect(watch.warningOf(said)).toBeUndefined();
  // What failed does not change by itself; the looks for drift are enough.
  await pass(120_000);
  expect(cloud.looks).toBe(3);
  await end();
});

test('what an object said before a restart stays until the first look, which comes by itself', async () => {
  const { cloud, loadBalancers, watch, told, end, pass } = await made();
  const condition = { type: 'NotInService', reason: 'Failed', message: 'no' };
  const status = { ingress: [{ hostname: 'web.elb' }], conditions: [condition] };
  const web = { ...objectOf('web'), status } as StoredLoadBalancer;
  expect(watch.warningOf(web)).toEqual(condition);
  loadBalancers.set(web);
  await pass(32_000);
  expect([cloud.looks, told, watch.warningOf(web)]).toEqual([1, ['shop/web'], undefined]);
  await end();
});

test('a look that failed is taken again; a look for drift finds what fell out of service', async () => {
  const { cloud, loadBalancers, watch, told, pass, end } = await made();
  cloud.fails = true;
  loadBalancers.set(objectOf('web', 'web.elb'));
  await pass(32_000);
  cloud.fails = false;
  await pass(32_000);
  expect([cloud.looks, told]).toEqual([2, []]);
  cloud.states.set('old.elb', { reason: 'Impaired', message: 'no addresses' });
  await watch.look('alpha');
  expect(told).toEqual(['shop/old']);
  await end();
});
