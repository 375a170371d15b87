import { gzipSync } from 'node:zlib';
import { OperatorError } from '../../base/errors';
import type { JsonObject } from '../../base/json';
import { kilobytes } from './state-secret';
import type { StoredStack } from './state-store';

/** A first state holds the inputs (encrypted, so never smaller than compressed), and each resource's inputs and outputs, which repeat them. */
const STATE_PER_INPUTS = 3;

/** How large the state will be, in bytes: from what is stored, in proportion to the inputs; for a new stack, from the inputs alone. Pure. */
export function expectedBytes(inputs: JsonObject, stored: StoredStack | undefined): number {
  const wanted = gzipSync(JSON.stringify(inputs)).length;
  if (stored === undefined || stored.record.inputs === null) return Math.max(stored?.bytes ?? 0, wanted * STATE_PER_INPUTS);
  const before = gzipSync(JSON.stringify(stored.record.inputs)).length;
  return Math.round(stored.bytes * (wanted / before));
}

/**
 * @param limitBytes the store's; undefined = none
 * @throws OperatorError Quota before anything is done, since an update that can't store its state would have to stop in the middle
 */
export function assertFits(stack: string, inputs: JsonObject | undefined, stored: StoredStack | undefined, limitBytes?: number): void {
  if (inputs === undefined || limitBytes === undefined) return;
  const bytes = expectedBytes(inputs, stored);
  if (bytes <= limitBytes) return;
  const message = `stack ${stack} is too large: its state would have about ${kilobytes(bytes)}, and ${kilobytes(limitBytes)} is the limit`;
  throw new OperatorError('Quota', message, {
    reason: 'StateTooLarge',
    remedy: 'split it: give some of its CloudLoadBalancers a placement of their own (spec.placement); nothing was changed',
  });
}
