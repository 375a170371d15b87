import * as pulumi from '@pulumi/pulumi';
import type { Json, JsonObject } from '../../operator/base/json';
import { UNKNOWN } from '../../providers/resource-provider/properties';

/** What a program comes to: the inputs of each of its resources, by type and name, and the stack's outputs. In a preview some of it is unknown. */
export interface ProgramPlan {
  inputs: Record<string, JsonObject>;
  outputs: JsonObject;
}

/** Where an update became something else than its preview knew, as the engine compares them (`up --plan`): what was unknown may be anything. Pure. */
export function departuresOf(planned: ProgramPlan, made: ProgramPlan): string[] {
  const [before, after] = [planned, made].map(({ inputs, outputs }): JsonObject => ({ ...inputs, 'the stack’s outputs': outputs }));
  return Object.keys({ ...before, ...after }).flatMap((resource) => {
    const [expected, actual] = [before, after].map((plan) => (plan?.[resource] ?? {}) as JsonObject);
    return Object.keys({ ...expected, ...actual })
      .filter((property) => !fits(expected?.[property], actual?.[property]))
      .map((property) => `${resource}: ${property}`);
  });
}

/** The outputs of a program, in which those that nobody can tell yet are unknown. */
export async function outputsKnown(outputs: Record<string, unknown>): Promise<JsonObject> {
  const entries = Object.entries(outputs).map(async ([key, value]): Promise<[string, Json]> => {
    const output = pulumi.output(value) as unknown as { isKnown: Promise<boolean>; promise(): Promise<Json> };
    return [key, (await output.isKnown) ? await output.promise() : UNKNOWN];
  });
  return Object.fromEntries(await Promise.all(entries));
}

function fits(planned: Json | undefined, made: Json | undefined): boolean {
  if (planned === UNKNOWN) return true;
  if (Array.isArray(planned) && Array.isArray(made)) {
    return planned.length === made.length && planned.every((item, index) => fits(item, made[index]));
  }
  if (isObject(planned) && isObject(made)) return Object.keys({ ...planned, ...made }).every((key) => fits(planned[key], made[key]));
  return (planned ?? undefined) === (made ?? undefined);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
