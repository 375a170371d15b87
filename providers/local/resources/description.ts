import type { z } from 'zod';
import type { JsonObject } from '../../../operator/base/json';
import type { Resource, Tags } from '../api';
import type { ResourceCollection, Resources } from '../client';

/** Properties that every resource of a program has beside its own. */
export interface CommonInputs {
  /** Name in the cloud: deterministic, so that a second create finds the first one's result. */
  name: string;
  /** UID of the owner in Kubernetes. */
  ownerUID: string;
  /** namespace/name of the owner, for people who look at the cloud. */
  owner: string;
  /** It was taken over from another owner: what can't be changed in place stays as it is; false = it takes the place of such a one. */
  adopted?: boolean | undefined;
}

/** One type of resource: how its program inputs and the cloud's fields map onto each other. All functions are pure. */
export interface ResourceDescription<C extends ResourceCollection = ResourceCollection, Inputs extends CommonInputs = CommonInputs> {
  readonly token: string;
  readonly collection: C;
  /** Properties that the cloud can't change in place. */
  readonly replaceOn: readonly string[];
  readonly schema: z.ZodType<Inputs>;
  /** Fields of the API that the author of the Cloud* object knows under another name. */
  readonly specFields?: Readonly<Record<string, string>>;
  /** The API's fields, without name and tags. */
  fields(inputs: Inputs): Record<string, unknown>;
  /** The inverse of `fields`: the inputs that give what is in the cloud, without the common ones. */
  properties(resource: Resources[C]): JsonObject;
  /** What the cloud adds: outputs that are no inputs. Nothing that changes by itself. */
  observed(resource: Resources[C]): JsonObject;
}

/** All inputs as a program would have to give them for the cloud to look as it does. */
export function inputsOf<C extends ResourceCollection, I extends CommonInputs>(
  description: ResourceDescription<C, I>,
  resource: Resources[C],
): JsonObject {
  return { ...commonInputs(resource), ...description.properties(resource) };
}

/** All outputs, as create, update and refresh record them. */
export function outputsOf<C extends ResourceCollection, I extends CommonInputs>(
  description: ResourceDescription<C, I>,
  resource: Resources[C],
): JsonObject {
  return { ...inputsOf(description, resource), ...description.observed(resource) };
}

/** Who made a resource: where its stack and its place in the program are found again. */
export interface Maker {
  clusterID: string;
  stack: string;
  /** Name of the resource in the program. */
  resource: string;
}

export function tagsOf(maker: Maker, inputs: CommonInputs): Tags {
  const { clusterID, stack, resource } = maker;
  const { ownerUID, owner, adopted } = inputs;
  return { clusterID, stack, resource, ownerUID, owner, ...(adopted !== undefined && { [ADOPTED]: String(adopted) }) };
}

/** Tag of what was taken over from another owner (`true`), or takes the place of such a one (`false`). */
export const ADOPTED = 'adopted';

/** Tag of what the operator has given up. */
export const RELEASED = 'released';

/** True when `maker` made the resource, by its tags, and it was not released since. */
export function madeBy(maker: Maker, resource: Resource): boolean {
  const { clusterID, stack, resource: name } = resource.tags;
  if (resource.tags[RELEASED] !== undefined) return false;
  return clusterID === maker.clusterID && stack === maker.stack && name === maker.resource;
}

/** True for what nobody has marked as a cluster's: made by a person, or with another tool. */
export function isUnowned({ tags }: Resource): boolean {
  return tags.clusterID === undefined && tags[RELEASED] === undefined;
}

/** The holder of a resource, in words. */
export function holderOf(resource: Resource): string {
  const { clusterID, stack, owner } = resource.tags;
  if (clusterID === undefined) return 'somebody who left no tags';
  const released = resource.tags[RELEASED] === undefined ? '' : 'nobody: it was released by ';
  return `${released}${owner ?? 'an unnamed owner'} (stack ${stack ?? 'unknown'}, cluster ${clusterID})`;
}

function commonInputs({ name, tags }: Resource): JsonObject {
  return {
    name,
    ...(tags.ownerUID !== undefined && { ownerUID: tags.ownerUID }),
    ...(tags.owner !== undefined && { owner: tags.owner }),
    ...(tags[ADOPTED] !== undefined && { adopted: tags[ADOPTED] === 'true' }),
  };
}
