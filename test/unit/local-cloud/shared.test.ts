import type { LoadBalancer } from '../../../providers/local/api';
import { containing, dispose, makeLoadBalancer, openCloud, refusal, type Fixture } from './cloud-fixture';

let fixture: Fixture;

beforeEach(async () => {
  fixture = await openCloud();
});

afterEach(() => dispose(fixture));

/** A load balancer with two addresses, and listeners of two owners. */
async function makeShared() {
  const { cloud } = fixture;
  const { address, pool, balancer } = await makeLoadBalancer(cloud);
  const second = (await cloud.create('addresses', { name: 'second' })).resource;
  const other = (await cloud.create('pools', { name: 'other', protocol: 'TCP' })).resource;
  const mine = { name: 'a/http', protocol: 'TCP', port: 80, poolID: pool.id, addressIDs: [address.id], ownerUID: 'uid-a', owner: 'demo/a' };
  const theirs = {
    name: 'b/http',
    protocol: 'TCP',
    port: 81,
    poolID: other.id,
    sourceRanges: ['10.0.0.0/8'],
    ownerUID: 'uid-b',
    owner: 'demo/b',
  };
  const addressIDs = [address.id, second.id];
  const shared = (await cloud.update('loadbalancers', balancer.id, { addressIDs, listeners: [mine, theirs] })).resource as LoadBalancer;
  return { address, second, shared, mine, theirs, addressIDs };
}

test('listeners of several owners keep owner, addresses and source ranges of their own', async () => {
  const { address, second, shared, mine, theirs } = await makeShared();
  expect(shared.listeners).toEqual([mine, theirs]);
  const ip = (id: string) => fixture.cloud.entry('addresses', id).resource as { ip: string };
  expect(fixture.plane.plans.get(shared.id)).toMatchObject({
    ips: [ip(address.id).ip, ip(second.id).ip],
    listeners: [
      { name: 'a/http', ips: [ip(address.id).ip] },
      { name: 'b/http', sourceRanges: ['10.0.0.0/8'] },
    ],
  });
  expect(shared.hostPorts.map(({ listener }) => listener)).toEqual(['a/http', 'b/http', 'b/http']);
});

test('a port of an address has one listener for each protocol; the refusal names whose it is', async () => {
  const { second, shared, mine, theirs } = await makeShared();
  const apart = { ...theirs, port: 80, addressIDs: [second.id] };
  await fixture.cloud.update('loadbalancers', shared.id, { listeners: [mine, apart] });
  expect(await refusal(fixture.cloud.update('loadbalancers', shared.id, { listeners: [mine, { ...theirs, port: 80 }] }))).toMatchObject({
    code: 'InvalidArgument',
    field: 'listeners[1].port',
    message: containing('"a/http" of demo/a'),
  });
});

test.each([
  ['an address that the load balancer does not have', { addressIDs: ['addr-none'] }, 'listeners[0].addressIDs[0]'],
  ['no address', { addressIDs: [] }, 'listeners[0].addressIDs'],
  ['a range that is none', { sourceRanges: ['10.0.0.0/40'] }, 'listeners[0].sourceRanges[0]'],
])('a listener with %s is refused', async (_what, fields, field) => {
  const { shared, mine } = await makeShared();
  const refused = await refusal(fixture.cloud.update('loadbalancers', shared.id, { listeners: [{ ...mine, ...fields }] }));
  expect(refused).toMatchObject({ code: 'InvalidArgument', field });
});
