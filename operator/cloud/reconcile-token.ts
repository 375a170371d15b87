import { createHash } from 'node:crypto';
import { RECONCILE_TOKEN_LENGTH } from '../../crds';

/** What a reconcile token is echoed as: an annotation may hold far more than a status should repeat, or its schema allows. */
export function echoOf(token: string | undefined): string | undefined {
  if (token === undefined || token.length <= RECONCILE_TOKEN_LENGTH) return token;
  return `sha256:${createHash('sha256').update(token).digest('hex')}`;
}
