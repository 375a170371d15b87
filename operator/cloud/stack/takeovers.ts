import type { Adoption, DiscoveredResource } from '../../../providers/provider';
import type { Json, JsonObject } from '../../base/json';
import type { OperatorError } from '../../base/errors';
import type { MemberInput } from './member-input';

/** What members of a stack take over, and why others of them can't, by UID. */
export interface Takeovers {
  taken: ReadonlyMap<string, Adoption>;
  refused: ReadonlyMap<string, OperatorError>;
}

/** What an update of these members takes over: what several of them have in one resource is there once; undefined = nothing. Pure. */
export function togetherOf(
  takeovers: Takeovers | undefined,
  inputs: readonly Pick<MemberInput, 'uid'>[],
): DiscoveredResource[] | undefined {
  const uids = inputs.map(({ uid }) => uid).sort();
  const adoptions = uids.flatMap((uid) => takeovers?.taken.get(uid) ?? []);
  return adoptions.length === 0 ? undefined : merged(adoptions.flatMap(({ resources }) => resources));
}

/** Each resource once, by type and id, with the items of all in its shared lists. Pure. */
export function merged(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  const all = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const key = `${resource.type} ${resource.id}`;
    const other = all.get(key);
    all.set(key, other === undefined ? resource : union(other, resource));
  }
  return [...all.values()];
}

function union(one: DiscoveredResource, other: DiscoveredResource): DiscoveredResource {
  const { sharedLists = {} } = other;
  return {
    ...other,
    inputs: { ...other.inputs, ...itemsOfBoth(one.inputs, other.inputs, sharedLists) },
    outputs: { ...other.outputs, ...itemsOfBoth(one.outputs, other.outputs, sharedLists) },
  };
}

function itemsOfBoth(one: JsonObject, other: JsonObject, sharedLists: NonNullable<DiscoveredResource['sharedLists']>): JsonObject {
  const lists = Object.entries(sharedLists).map(([list, shared]): [string, Json] => {
    const key = typeof shared === 'string' ? shared : shared.key;
    const items = [one, other].flatMap((properties) => (properties[list] ?? []) as JsonObject[]);
    return [list, [...new Map(items.map((item) => [item[key], item])).values()]];
  });
  return Object.fromEntries(lists);
}
