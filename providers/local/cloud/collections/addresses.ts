import { z } from 'zod';
import type { Address } from '../../api';
import { ApiFailure, invalid } from '../api-failure';
import { ipv4, name, tags } from '../schema';
import type { CollectionRules, Made, View } from './rules';

const spec = z.strictObject({
  name,
  tags: tags.exactOptional(),
  family: z.enum(['IPv4', 'IPv6']).exactOptional(),
  requestedIP: ipv4.exactOptional(),
});

type Spec = z.infer<typeof spec>;

/** Fixed IPs of the pool; they outlive the load balancers that use them. */
export const addressRules: CollectionRules<'addresses', Spec> = {
  collection: 'addresses',
  idPrefix: 'addr',
  createSchema: spec,
  patchSchema: z.strictObject({ tags: tags.exactOptional() }),
  create: makeAddress,
  effects: () => ({ changes: [], parts: [] }),
  inUseBy: ({ resource }, { state }) => {
    const holder = resource.loadBalancerID === undefined ? undefined : state.get('loadbalancers', resource.loadBalancerID);
    return holder === undefined ? undefined : `load balancer ${holder.resource.name} (${holder.resource.id})`;
  },
};

function makeAddress(wanted: Spec, _id: string, view: View): Made<Address> {
  if (wanted.family === 'IPv6') throw invalid('family', 'this cloud has only IPv4 addresses');
  const used = new Set(view.state.all('addresses').map((entry) => entry.index ?? 0));
  const index = chooseIndex(wanted.requestedIP, used, view);
  const ip = view.loadBalancerAddresses.at(index);
  if (ip === undefined) throw new ApiFailure('Internal', `address index ${index} has no address`);
  const requested = wanted.requestedIP === undefined ? {} : { requestedIP: wanted.requestedIP };
  return { index, fields: { family: 'IPv4', ip, ...requested } };
}

function chooseIndex(requestedIP: string | undefined, used: ReadonlySet<number>, view: View): number {
  const pool = view.loadBalancerAddresses;
  if (requestedIP === undefined) return pool.allocate(used);
  const found = pool.find(requestedIP, used);
  if (found === 'outside') throw invalid('requestedIP', `${requestedIP} is outside the pool; choose one from ${pool.range}`);
  if (found !== 'taken') return found;
  const holder = view.state.all('addresses').find(({ resource }) => resource.ip === requestedIP)?.resource;
  const owner = holder?.tags.owner === undefined ? '' : ` of ${holder.tags.owner}`;
  throw new ApiFailure('AddressInUse', `${requestedIP} is address ${holder?.name} (${holder?.id})${owner}`, { field: 'requestedIP' });
}
