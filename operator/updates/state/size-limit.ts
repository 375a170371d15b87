import { gzipSync } from 'node:zlib';
import { OperatorError } from '../../base/errors';
import type { JsonObject } from '../../base/json';
import { type Deployment, resourcesOf } from '../checkpoint';
import { kilobytes } from './state-secret';
import type { StoredStack } from './state-store';

/** A first state holds the inputs (encrypted, so never smaller than compressed), and each resource's inputs and outputs, which repeat them. */
const STATE_PER_INPUTS = 3;
/** Type of the engine's pending operations that make something. */
const CREATING = 'creating';

/**
 * How large the state will be, in bytes: from what is stored, in proportion to the inputs; from the inputs alone where no update has succeeded. What an update
 * that did not end has left may be another spec's, and is not held against this one. Pure.
 */
export function expectedBytes(inputs: JsonObject, stored: StoredStack | undefined): number {
  const wanted = compressedBytes(inputs);
  const before = stored?.record.inputs ?? null;
  if (stored === undefined || before === null) return wanted * STATE_PER_INPUTS;
  const inProportion = Math.round(stored.bytes * (wanted / compressedBytes(before)));
  return stored.record.open ? Math.min(inProportion, wanted * STATE_PER_INPUTS) : inProportion;
}

/**
 * @param limitBytes the store's; undefined = none
 * @throws OperatorError Quota before anything is done, since an update that can't store its state would have to stop in the middle
 */
export function assertFits(stack: string, inputs: JsonObject | undefined, stored: StoredStack | undefined, limitBytes?: number): void {
  if (inputs === undefined || limitBytes === undefined) return;
  const bytes = expectedBytes(inputs, stored);
  if (bytes <= limitBytes || asksForNoMore(inputs, stored)) return;
  const message = `stack ${stack} is too large: its state would have about ${kilobytes(bytes)}, and ${kilobytes(limitBytes)} is the limit`;
  throw new OperatorError('Quota', message, {
    reason: 'StateTooLarge',
    remedy: 'split it: give some of its CloudLoadBalancers a placement of their own (spec.placement); nothing was changed',
  });
}

/** True when the checkpoint has, or is about to make, more resources than the one that its update began with. Pure. */
export function isGrowth(now: Deployment | null, before: Deployment | null): boolean {
  return resourcesOf(now).length + creating(now) > resourcesOf(before).length;
}

function creating(deployment: Deployment | null): number {
  return (deployment?.deployment?.pending_operations ?? []).filter(({ type }) => type === CREATING).length;
}

/** The way back from an update that has grown too large, and a smaller spec, are what helps. */
function asksForNoMore(inputs: JsonObject, stored: StoredStack | undefined): boolean {
  const before = stored?.record.inputs ?? null;
  return before !== null && compressedBytes(inputs) <= compressedBytes(before);
}

function compressedBytes(inputs: JsonObject): number {
  return gzipSync(JSON.stringify(inputs)).length;
}
