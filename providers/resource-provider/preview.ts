import type { JsonObject } from '../../operator/base/json';
import { conceal, hasUnknown, reveal, UNKNOWN } from './properties';
import type { ResourceContext, ResourceType } from './resource-provider';

/** One write that a preview asks about: properties as they are on the wire, with their marks. */
export interface Foreseen {
  inputs: JsonObject;
  /** Outputs of before; absent = it would be made. */
  olds?: JsonObject;
}

/**
 * The outputs that a write would give. What only the write can tell is unknown, also where there was something before: the engine holds the update of an
 * approved plan to every value that its preview knew (Pulumi's `up --plan`), and refuses it halfway where it becomes another one.
 */
export async function foreseen({ inputs, olds }: Foreseen, type: ResourceType, context: ResourceContext): Promise<JsonObject> {
  const told = Object.fromEntries((type.computed ?? []).map((property) => [property, UNKNOWN]));
  const given = { ...olds, ...inputs, ...told };
  if (type.foresee === undefined || Object.values(inputs).some(hasUnknown)) return given;
  const more = await type.foresee(reveal(inputs), context, olds === undefined ? undefined : reveal(olds));
  return { ...given, ...conceal(more, inputs) };
}
