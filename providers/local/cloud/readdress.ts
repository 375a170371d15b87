import type { Address, Instance } from '../api';
import type { AddressPool } from './address-plan';
import type { View } from './collections/rules';
import type { Change, Entry } from './entry';

/**
 * Addresses stay what they were as long as the tier is the same. In another tier the same indexes mean other addresses, and an index that it does not
 * have is exchanged for a free one. Pure.
 * @throws ApiFailure QuotaExceeded when the tier has too few addresses
 */
export function readdress(view: View): Change[] {
  return [
    ...moved(view.state.all('instances'), view.instanceAddresses, (instance) => instance.addresses[0]?.ip).map(({ entry, ip }): Change =>
      put('instances', { ...entry, resource: { ...entry.resource, addresses: [{ family: 'IPv4', ip }] } }),
    ),
    ...moved(view.state.all('addresses'), view.loadBalancerAddresses, (address) => address.ip).map(({ entry, ip }): Change =>
      put('addresses', { ...entry, resource: { ...entry.resource, ip } }),
    ),
  ];
}

function moved<R extends Instance | Address>(
  entries: Entry<R>[],
  pool: AddressPool,
  current: (resource: R) => string | undefined,
): { entry: Entry<R>; ip: string }[] {
  const used = new Set(entries.map(({ index }) => index ?? 0));
  return entries.flatMap((entry) => {
    let index = entry.index ?? 0;
    let ip = pool.at(index);
    if (ip === undefined) {
      index = pool.allocate(used);
      used.add(index);
      ip = pool.at(index) ?? '';
    }
    return ip === current(entry.resource) ? [] : [{ entry: { ...entry, index }, ip }];
  });
}

function put(collection: 'instances' | 'addresses', entry: Entry<Instance> | Entry<Address>): Change {
  return { kind: 'put', collection, entry };
}
