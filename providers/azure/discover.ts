import type { JsonObject } from '../../operator/base/json';
import type { DiscoveredResource } from '../provider';
import { retry } from '../retry';
import type { ArmClient } from './client/arm-client';
import { isWorthReadingAgain } from './client/arm-error';
import { hasFailed } from './client/provisioning';
import { ID_PREFIX, nameInID, sameID } from './client/resource-id';
import type { CommonInputs, Found, OwnedDescription } from './resources/owned-resource';
import { outputsOf } from './resources/owned-resource';
import { TAG, type Tags } from './tags';

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
 * Marks everything of a stack as released: it is not discovered any more, and nothing of ours adopts or deletes it. Tags are written as a whole, so under
 * the etag: those that somebody sets meanwhile stay.
 * @param assertValid throws when we may not write any more: asked before each write
 */
export async function release(arm: ArmClient, scope: DiscoveryScope, stack: string, assertValid: () => void): Promise<void> {
  const isOfStack = (tags: Tags): boolean => isMarked(tags, scope) && tags[TAG.stack] === stack;
  for (const { resource } of await marked(arm, scope)) {
    if (isOfStack(resource.tags ?? {})) await releaseOne(arm, resource, isOfStack, assertValid);
  }
}

/** @param listed as it was when all were read */
async function releaseOne(arm: ArmClient, listed: Found, isOfStack: (tags: Tags) => boolean, assertValid: () => void): Promise<void> {
  let known: Found | undefined = listed;
  const attempt = async (): Promise<void> => {
    const found = known ?? (await arm.get<Found>(listed.id));
    known = undefined;
    const { etag = '', tags = {} } = found ?? {};
    if (isOfStack(tags)) await arm.patch(listed.id, { tags: { ...tags, [TAG.released]: 'true' } }, { assertValid, only: { etag } });
  };
  await retry(arm.retryPolicy, attempt, (error) => error.code === 'NotFound' || isWorthReadingAgain(error));
}

/** With its id as programs write it: Azure may do so in another letter case. @param path of the list */
function spelled(found: Found, path: string): Found {
  const [is, wanted = is] = [nameInID(found.id), found.tags?.[TAG.resource]];
  return { ...found, id: `${path}/${sameID(is, wanted) ? wanted : is}` };
}

/** Everything that bears this cluster's mark. */
async function marked(arm: ArmClient, scope: DiscoveryScope): Promise<{ description: DiscoveredType['description']; resource: Found }[]> {
  const { subscriptionID, types } = scope;
  const lists = types.flatMap(({ description, armType, resourceGroups }) =>
    resourceGroups.map(async (group) => {
      const path = `/subscriptions/${subscriptionID}/resourceGroups/${group}/providers/${armType}`;
      return (await arm.list<Found>(path, armType)).map((resource) => ({ description, resource: spelled(resource, path) }));
    }),
  );
  const all = (await Promise.all(lists)).flat();
  return all.filter(({ resource: { tags = {} } }) => isMarked(tags, scope));
}

function isMarked(tags: Tags, { clusterID }: DiscoveryScope): boolean {
  return tags[TAG.clusterID] === clusterID && tags[TAG.released] === undefined;
}
