import { busy, refusal, type Answer } from '../request';
import { isSameOrPart, partsOf, referencesOf, type Resource } from '../resource';
import { parseResourceID, resourceID } from '../../../../providers/azure/client/resource-id';
import { wholeOf } from '../resource';
import type { CloudView, Rule } from '../rule';

/** What a resource names must be there, also where it is a part of the resource itself: InvalidResourceReference. */
export const referencesExist: Rule = ({ after }, cloud) => {
  if (after === undefined) return undefined;
  const own = idsOf(after);
  for (const { from, to } of referencesOf(after)) {
    if (isSameOrPart(to, after.id) ? own.has(to.toLowerCase()) : isThere(to, cloud)) continue;
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

function isThere(to: string, cloud: CloudView): boolean {
  const whole = wholeIn(cloud, to);
  return whole !== undefined && idsOf(whole).has(to.toLowerCase());
}

/** In lower case, of a resource and its parts. */
function idsOf(whole: Resource): Set<string> {
  return new Set([whole, ...partsOf(whole)].map(({ id }) => id.toLowerCase()));
}

function wholeIn(cloud: CloudView, id: string): Resource | undefined {
  return cloud.find(resourceID(wholeOf(parseResourceID(id)).whole));
}
