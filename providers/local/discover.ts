import type { DiscoveredResource } from '../provider';
import type { LocalCloudClient, ResourceCollection, Resources } from './client';
import { address } from './resources/address';
import { inputsOf, outputsOf, RELEASED, type CommonInputs, type ResourceDescription } from './resources/description';
import { loadBalancer } from './resources/load-balancer';
import { route } from './resources/route';
import { targetPool } from './resources/target-pool';

/**
 * Everything that carries this cluster's tag, by stack, in four bulk lists.
 * @param stacks only these; absent = all
 */
export async function discover(client: LocalCloudClient, clusterID: string, stacks?: string[]): Promise<Map<string, DiscoveredResource[]>> {
  const only = stacks?.length === 1 ? stacks[0] : undefined;
  const filter = { cluster: clusterID, view: 'digest' as const, ...(only !== undefined && { stack: only }) };
  const find = async <C extends ResourceCollection, I extends CommonInputs>(description: ResourceDescription<C, I>): Promise<Found[]> =>
    (await client.list(description.collection, filter)).flatMap((resource) => describe(description, resource));
  const found = (await Promise.all([find(address), find(targetPool), find(loadBalancer), find(route)])).flat();
  return group(found.filter(({ stack }) => stacks?.includes(stack) ?? true));
}

interface Found {
  stack: string;
  resource: DiscoveredResource;
}

/** Nothing for what is on its way out, was released, or carries no tag that leads back to a program. */
function describe<C extends ResourceCollection, I extends CommonInputs>(
  description: ResourceDescription<C, I>,
  found: Resources[C],
): Found[] {
  const { stack, resource: name } = found.tags;
  if (stack === undefined || name === undefined || found.state === 'deleting' || found.tags[RELEASED] !== undefined) return [];
  const { token: type } = description;
  const failure = found.state === 'error' ? { failure: found.message ?? 'its state is error' } : {};
  const resource = { type, name, id: found.id, inputs: inputsOf(description, found), outputs: outputsOf(description, found), ...failure };
  return [{ stack, resource }];
}

function group(found: Found[]): Map<string, DiscoveredResource[]> {
  const stacks = new Map<string, DiscoveredResource[]>();
  for (const { stack, resource } of found) {
    const resources = stacks.get(stack) ?? [];
    resources.push(resource);
    stacks.set(stack, resources);
  }
  return stacks;
}
