import type { JsonObject } from '../../operator/base/json';
import type { DiscoveredResource } from '../provider';
import type { ArmClient } from './client/arm-client';
import { hasFailed } from './client/provisioning';
import { ID_PREFIX, nameInID, sameID } from './client/resource-id';
import type { CommonInputs, Found, OwnedDescription } from './resources/owned-resource';
import { outputsOf } from './resources/owned-resource';
import { TAG } from './tags';

/** What the official plugin adds to the inputs of every resource: which version of the API it speaks. */
const FILLED_IN = ['azureApiVersion'];

/** A type of which we make resources, and the groups in which they are. */
export interface DiscoveredType {
  description: OwnedDescription<CommonInputs>;
  /** `Microsoft.Network/publicIPAddresses`. */
  armType: string;
  resourceGroups: readonly string[];
}

/** What is discovered of: one subscription, and one cluster in it. */
export interface DiscoveryScope {
  subscriptionID: string;
  clusterID: string;
  types: readonly DiscoveredType[];
}

/**
 * What exists for the named stacks of this cluster, by its tags: one list for each type and resource group, however many there are. What was released is
 * not there any more. A list that fails fails all.
 * @param stacks absent = all
 */
export async function discover(
  arm: ArmClient,
  scope: DiscoveryScope,
  stacks?: readonly string[],
): Promise<Map<string, DiscoveredResource[]>> {
  const found = new Map<string, DiscoveredResource[]>();
  for (const { description, resource } of await marked(arm, scope)) {
    const { [TAG.stack]: stack = '', [TAG.resource]: name = '' } = resource.tags ?? {};
    if (stacks !== undefined && !stacks.includes(stack)) continue;
    const { inputs, observed } = description.describe(resource);
    const one = {
      type: description.token,
      name,
      id: resource.id,
      inputs: inputs as unknown as JsonObject,
      outputs: outputsOf(inputs, observed),
      ...(hasFailed(resource) && { failure: 'the last operation on it has failed (provisioningState Failed)' }),
      ...(description.sharedLists !== undefined && { sharedLists: description.sharedLists }),
      filledIn: FILLED_IN,
      caselessIDs: { prefix: ID_PREFIX, properties: description.idProperties },
    };
    found.set(stack, [...(found.get(stack) ?? []), one]);
  }
  return found;
}

/**
 * Marks everything of a stack as released: it is not discovered any more, and nothing of ours adopts or deletes it.
 * @param assertValid throws when we may not write any more: asked before each write
 */
export async function release(arm: ArmClient, scope: DiscoveryScope, stack: string, assertValid: () => void): Promise<void> {
  for (const { resource } of await marked(arm, scope)) {
    const { tags = {}, id } = resource;
    if (tags[TAG.stack] === stack) await arm.patch(id, { tags: { ...tags, [TAG.released]: 'true' } }, { assertValid });
  }
}

/** With its id as programs write it: Azure may do so in another letter case. @param path of the list */
function spelled(found: Found, path: string): Found {
  const [is, wanted = is] = [nameInID(found.id), found.tags?.[TAG.resource]];
  return { ...found, id: `${path}/${sameID(is, wanted) ? wanted : is}` };
}

/** Everything that bears this cluster's mark. */
async function marked(arm: ArmClient, scope: DiscoveryScope): Promise<{ description: DiscoveredType['description']; resource: Found }[]> {
  const { subscriptionID, clusterID, types } = scope;
  const lists = types.flatMap(({ description, armType, resourceGroups }) =>
    resourceGroups.map(async (group) => {
      const path = `/subscriptions/${subscriptionID}/resourceGroups/${group}/providers/${armType}`;
      return (await arm.list<Found>(path, armType)).map((resource) => ({ description, resource: spelled(resource, path) }));
    }),
  );
  const all = (await Promise.all(lists)).flat();
  return all.filter(({ resource: { tags = {} } }) => tags[TAG.clusterID] === clusterID && tags[TAG.released] === undefined);
}
