import { busy, refusal, type Answer } from '../request';
import { isSameOrPart, partsOf, referencesOf, type Resource } from '../resource';
import { parseResourceID, resourceID } from '../../../../providers/azure/client/resource-id';
import { wholeOf } from '../resource';
import type { CloudView, Rule } from '../rule';

/** What a resource names must be there, also where it is a part of the resource itself: InvalidResourceReference. */
export const referencesExist: Rule = ({ after }, cloud) => {
  if (after === undefined) return undefined;
  for (const { from, to } of referencesOf(after)) {
    if (isThere(to, after, cloud)) continue;
    const text = `Resource ${to} referenced by resource ${from} was not found. Please make sure that the referenced resource exists, and that both resources are in the same region.`;
    return refusal(400, 'InvalidResourceReference', text);
  }
  return undefined;
};

/** What a resource newly names must have been provisioned: ReferencedResourceNotProvisioned (hashicorp/terraform#7986). */
export const referencesProvisioned: Rule = ({ before, after }, cloud): Answer | undefined => {
  if (after === undefined) return undefined;
  const had = new Set(before === undefined ? [] : referencesOf(before).map(({ to }) => to.toLowerCase()));
  for (const { from, to } of referencesOf(after).filter((one) => !had.has(one.to.toLowerCase()))) {
    const state = isSameOrPart(to, after.id) ? undefined : wholeIn(cloud, to)?.properties.provisioningState;
    if (state !== 'Updating' && state !== 'Deleting') continue;
    const text = `Cannot proceed with operation because resource ${to} used by resource ${from} is not in Succeeded state. Resource is in ${state} state.`;
    return busy('ReferencedResourceNotProvisioned', text);
  }
  return undefined;
};

function isThere(to: string, after: Resource, cloud: CloudView): boolean {
  const whole = isSameOrPart(to, after.id) ? after : wholeIn(cloud, to);
  if (whole === undefined) return false;
  return to.toLowerCase() === whole.id.toLowerCase() || partsOf(whole).some(({ id }) => id.toLowerCase() === to.toLowerCase());
}

function wholeIn(cloud: CloudView, id: string): Resource | undefined {
  return cloud.find(resourceID(wholeOf(parseResourceID(id)).whole));
}
