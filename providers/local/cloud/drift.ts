import { z } from 'zod';
import { ApiFailure } from './api-failure';
import type { Cloud } from './cloud';
import type { DataPlane } from './data-plane';
import type { AnyResource } from './entry';
import { id, network, parse } from './schema';

const collection = z.enum(['instances', 'addresses', 'loadbalancers', 'pools', 'routetables', 'routes']);

const requests = [
  z.strictObject({ kind: z.literal('deleteRoute'), destinationCIDR: network }),
  z.strictObject({ kind: z.literal('deleteKernelRoute'), destinationCIDR: network }),
  z.strictObject({ kind: z.literal('patch'), collection, id, fields: z.record(z.string(), z.unknown()) }),
  z.strictObject({ kind: z.literal('delete'), collection, id }),
  z.strictObject({ kind: z.literal('setTargets'), id, targets: z.array(z.unknown()) }),
  z.strictObject({ kind: z.literal('power'), id, power: z.enum(['running', 'stopped', 'terminated']) }),
] as const;
const kinds = requests.map(({ shape }) => shape.kind.value);
const request = z.discriminatedUnion('kind', requests, {
  error: ({ code }) =>
    code === 'invalid_union' ? `must be one of ${kinds.join(', ')}` : `must be an object with the field "kind", one of ${kinds.join(', ')}`,
});

/**
 * Changes something behind the operator's back: the cloud's own verbs, without counting and fault rules.
 * @throws ApiFailure as the verbs do
 */
export async function drift(body: unknown, cloud: Cloud, plane: DataPlane): Promise<{ resource?: AnyResource }> {
  const wanted = parse(request, body);
  switch (wanted.kind) {
    case 'deleteKernelRoute':
      routeTo(wanted.destinationCIDR, cloud);
      await plane.breakRoute(wanted.destinationCIDR);
      return {};
    case 'deleteRoute':
      await cloud.remove('routes', routeTo(wanted.destinationCIDR, cloud));
      return {};
    case 'delete':
      await cloud.remove(wanted.collection, wanted.id);
      return {};
    case 'patch':
      return { resource: (await cloud.update(wanted.collection, wanted.id, wanted.fields)).resource };
    case 'setTargets':
      return { resource: (await cloud.setTargets(wanted.id, { targets: wanted.targets })).resource };
    case 'power':
      return { resource: (await cloud.update('instances', wanted.id, { power: wanted.power })).resource };
  }
}

function routeTo(destinationCIDR: string, cloud: Cloud): string {
  const route = cloud.view.state.all('routes').find(({ resource }) => resource.destinationCIDR === destinationCIDR);
  if (route === undefined) throw new ApiFailure('NotFound', `there is no route to ${destinationCIDR}`);
  return route.resource.id;
}
