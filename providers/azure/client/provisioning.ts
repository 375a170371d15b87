import type { JsonObject } from '../../../operator/base/json';

/** What says how far Azure is with it (learn.microsoft.com, "Track asynchronous Azure operations": provisioningState). */
export interface Provisioned {
  properties: JsonObject;
}

/** Properties of every resource, and of parts of one, that Azure alone writes. */
export const READ_ONLY: readonly string[] = ['provisioningState', 'resourceGuid'];

/** True while an operation goes on: what it comes to is not known yet. Pure. */
export function isChanging({ properties: { provisioningState: state } }: Provisioned): boolean {
  return state === 'Updating' || state === 'Deleting';
}

/** True for what says what was asked for, and does not do it: its last operation has failed, and the same write again begins another one. Pure. */
export function hasFailed({ properties: { provisioningState: state } }: Provisioned): boolean {
  return state === 'Failed';
}
