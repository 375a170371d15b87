import type { Resource } from '../../../providers/local/api';
import type { LocalCloudClient } from '../../../providers/local/client';
import { discover } from '../../../providers/local/discover';

/** A client whose route table has one route of the stack `s`, in this state. */
function clientWith(route: Partial<Resource>): LocalCloudClient {
  const tags = { stack: 's', resource: 'r', ownerUID: 'u', owner: 'o' };
  const whole = { id: 'route-1', name: 'r', tags, routeTableID: 'rtb-main', destinationCIDR: '10.244.1.0/24', instanceID: 'i-1', ...route };
  return { list: (collection: string) => Promise.resolve(collection === 'routes' ? [whole] : []) } as unknown as LocalCloudClient;
}

test.each<[string, Partial<Resource>, string | undefined]>([
  ['works', { state: 'active' }, undefined],
  ['is being changed', { state: 'updating' }, undefined],
  ['does not work', { state: 'error', message: 'the data plane failed' }, 'the data plane failed'],
])('a route that %s', async (_what, route, failure) => {
  const [found] = (await discover(clientWith(route), 'c')).get('s') ?? [];
  expect(found).toMatchObject({ id: 'route-1', type: 'local:index:Route' });
  expect(found?.failure).toBe(failure);
});
