import type { AzureProviderSettings, CloudLoadBalancerSpec, IPFamily } from '../../../crds';
import type { Neighbor } from '../../provider';
import { sameID } from '../client/resource-id';
import type { AzureInput } from './arguments';
import { type Entry, entriesOf, placesOf } from './entries';
import { publicIPNameOf } from './names';
import { configurationOf } from './placement';

/** What a Service asks for, as far as it decides which address it has. */
export type Asking = Pick<CloudLoadBalancerSpec, 'scheme' | 'ipFamilies' | 'addresses' | 'azure'>;

/** Who has an address that another one asks for, and where that is. */
export interface Holder {
  /** The address, in words. */
  place: string;
  /** namespace/name; absent = itself. */
  key?: string;
  /** One of `loadBalancers`. */
  configuration: string;
}

/**
 * Who has what is asked for: an address is on one load balancer, and who shares it goes there (cloud-provider-azure#9867). One that is served has it; else
 * itself, where it asked for it before, so that it stays; else the oldest of those that ask for it. Pure; the order of the neighbors does not matter.
 * @param current what it has been given so far
 */
export function holderOf(
  asking: Asking,
  { neighbors, current }: { neighbors: readonly Neighbor[]; current?: CloudLoadBalancerSpec | undefined },
  settings: AzureProviderSettings,
): Holder | undefined {
  const beside = neighbors
    .filter(({ spec }) => spec.scheme === asking.scheme)
    .flatMap((neighbor) => {
      const place = placeIn(asking, neighbor, settings);
      return place === undefined ? [] : [{ place, neighbor }];
    })
    .sort((a, b) => (rankOf(a.neighbor) < rankOf(b.neighbor) ? -1 : 1));
  const [first] = beside;
  if (first === undefined || first.neighbor.addresses.length === 0) {
    const places = placesOf(asking);
    const kept = current?.scheme === asking.scheme ? placesOf(current).find((place) => places.includes(place)) : undefined;
    if (kept !== undefined && current !== undefined)
      return { place: kept, configuration: configurationOf({ uid: '', spec: current }, settings) };
  }
  if (first === undefined) return undefined;
  const { place, neighbor } = first;
  return { place, key: neighbor.key, configuration: configurationOf(neighbor, settings) };
}

/** Those that are served come first, then the older ones. */
function rankOf({ addresses, createdAt, key }: Neighbor): string {
  return `${addresses.length > 0 ? 0 : 1} ${createdAt} ${key}`;
}

/** What both have, in words; undefined = nothing. */
function placeIn(asking: Asking, neighbor: Neighbor, settings: AzureProviderSettings): string | undefined {
  const theirs = entriesOf(inputOf(neighbor), { settings });
  const asked = entriesOf(inputOf({ uid: '', ownerUID: '', key: '', spec: asking }), { settings }).find((entry) =>
    isTheirs(entry, theirs, neighbor, settings),
  );
  return asked && placesOf({ ...asking, ipFamilies: [asked.family] })[0];
}

function isTheirs(asked: Entry, theirs: readonly Entry[], neighbor: Neighbor, settings: AzureProviderSettings): boolean {
  const address = addressIn(asked);
  if (address !== undefined) {
    // Behind those of its families are others that only its rules open.
    const served = neighbor.addresses.slice(0, theirs.length);
    return [...served, ...theirs.map(addressIn)].some((one) => one !== undefined && sameID(one, address));
  }
  if (asked.kind !== 'Named' || !('name' in asked.by)) return false;
  const { resourceGroup, by } = asked;
  return theirs.some((entry) => {
    if (entry.kind === 'Made') return sameID(resourceGroup, settings.resourceGroup) && isMadeFor(neighbor, entry.family, by.name, settings);
    return entry.kind === 'Named' && 'name' in entry.by && sameID(entry.resourceGroup, resourceGroup) && sameID(entry.by.name, by.name);
  });
}

/** The address that a frontend is to have; undefined where it has one by its name, or any. */
function addressIn(entry: Entry): string | undefined {
  if (entry.kind === 'Private') return entry.address;
  return entry.kind === 'Named' && 'address' in entry.by ? entry.by.address : undefined;
}

/** Of whichever generation. */
function isMadeFor(neighbor: Neighbor, family: IPFamily, name: string, { clusterName }: AzureProviderSettings): boolean {
  const generation = Number(/-g([0-9]+)(-|$)/.exec(name)?.[1] ?? 0);
  return sameID(publicIPNameOf({ ...inputOf(neighbor), generation }, clusterName, family), name);
}

function inputOf({ uid, ownerUID, key, spec }: Pick<Neighbor, 'uid' | 'ownerUID' | 'key'> & { spec: Asking }): AzureInput {
  return { uid, ownerUID, name: key, namespace: '', spec: spec as CloudLoadBalancerSpec };
}
