import type { Address, Family, Instance } from '../api';
import type { AddressPool } from './address-plan';
import type { View } from './collections/rules';
import type { Change, Entry } from './entry';

const FAMILIES: readonly Family[] = ['IPv4', 'IPv6'];

/**
 * Addresses stay what they were as long as the tier is the same. In another tier the same indexes mean other addresses, and an index that it does not
 * have is exchanged for a free one. What came with addresses of its own keeps them. Pure.
 * @throws ApiFailure QuotaExceeded when the tier has too few addresses
 */
export function readdress(view: View): Change[] {
  const { state, loadBalancerAddresses } = view;
  const ofFamily = (family: Family): Entry<Address>[] => state.all('addresses').filter(({ resource }) => resource.family === family);
  return [
    ...readdressInstances(view),
    ...FAMILIES.flatMap((family) => {
      const placed = indexed(ofFamily(family), loadBalancerAddresses[family]);
      return placed.flatMap(({ entry, index }): Change[] => {
        const ip = loadBalancerAddresses[family].at(index) ?? '';
        return ip === entry.resource.ip ? [] : [put('addresses', { ...entry, index, resource: { ...entry.resource, ip } })];
      });
    }),
  ];
}

/** A family that the tier has no machines of falls away. */
function readdressInstances({ state, instanceAddresses: pools }: View): Change[] {
  const main = pools.IPv4;
  if (main === undefined) return [];
  const made = state.all('instances').filter(({ index }) => index !== undefined);
  return indexed(made, main).flatMap(({ entry, index }): Change[] => {
    const addresses = entry.resource.addresses.flatMap(({ family }) => {
      const ip = pools[family]?.at(index);
      return ip === undefined ? [] : [{ family, ip }];
    });
    if (JSON.stringify(addresses) === JSON.stringify(entry.resource.addresses)) return [];
    return [put('instances', { ...entry, index, resource: { ...entry.resource, addresses } })];
  });
}

/** Each entry with an index that the pool has. */
function indexed<R extends Instance | Address>(entries: Entry<R>[], pool: AddressPool): { entry: Entry<R>; index: number }[] {
  const used = new Set(entries.map(({ index }) => index ?? 0));
  return entries.map((entry) => {
    let index = entry.index ?? 0;
    if (pool.at(index) === undefined) {
      index = pool.allocate(used);
      used.add(index);
    }
    return { entry, index };
  });
}

function put(collection: 'instances' | 'addresses', entry: Entry<Instance> | Entry<Address>): Change {
  return { kind: 'put', collection, entry };
}
