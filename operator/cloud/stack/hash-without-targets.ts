import type { JsonObject } from '../../base/json';
import type { StackUpdate } from '../../updates/update';
import { updateHash } from '../../updates/update-hash';

/** Takes out of rendered inputs what comes of the Nodes. */
export type WithoutTargets = (inputs: JsonObject) => JsonObject;

/** Hash of an update that stays the same while Nodes come and go. Pure. */
export function hashWithoutTargets(update: StackUpdate, withoutTargets: WithoutTargets): string {
  const { inputs } = update;
  return updateHash({ ...update, inputs: inputs === undefined ? undefined : withoutTargets(inputs) });
}
