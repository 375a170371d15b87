import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import type { Address, Family } from '../../api';
import { ApiFailure, invalid } from '../api-failure';
import { ip, ipFamily, name, tags } from '../schema';
import type { CollectionRules, Made, View } from './rules';

const spec = z.strictObject({
  name,
  tags: tags.exactOptional(),
  family: ipFamily.exactOptional(),
  requestedIP: ip.exactOptional(),
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
  const { family = 'IPv4', requestedIP } = wanted;
  const index = chooseIndex(family, requestedIP, view);
  const address = view.loadBalancerAddresses[family].at(index);
  if (address === undefined) throw new ApiFailure('Internal', `address index ${index} has no address`);
  return { index, fields: { family, ip: address, ...(requestedIP !== undefined && { requestedIP }) } };
}

function chooseIndex(family: Family, requestedIP: string | undefined, view: View): number {
  const pool = view.loadBalancerAddresses[family];
  const ofFamily = view.state.all('addresses').filter(({ resource }) => resource.family === family);
  const used = new Set(ofFamily.map((entry) => entry.index ?? 0));
  if (requestedIP === undefined) return pool.allocate(used);
  const found = pool.find(ipaddr.parse(requestedIP).toString(), used);
  if (found === 'outside') throw invalid('requestedIP', `${requestedIP} is outside the pool; choose one from ${pool.range}`);
  if (found !== 'taken') return found;
  const holder = view.state.all('addresses').find(({ resource }) => resource.ip === requestedIP)?.resource;
  const owner = holder?.tags.owner === undefined ? '' : ` of ${holder.tags.owner}`;
  throw new ApiFailure('AddressInUse', `${requestedIP} is address ${holder?.name} (${holder?.id})${owner}`, { field: 'requestedIP' });
}
