import type { ErrorCode, OperatorError } from '../../base/errors';
import type { Accounts } from '../../updates/limits/accounts';
import { isOfTheStore } from './state-reads';

/** Failures that one member can be the cause of; the others (cloud away, throttled, credentials, stopped) are nobody's. @see isPermission */
const BLAMABLE: readonly ErrorCode[] = ['Invalid', 'Taken', 'Conflict', 'Quota', 'Unknown'];

/** One member of a stack can be the cause of the failure. Pure. */
export function isBlamable(error: OperatorError): boolean {
  return BLAMABLE.includes(error.code) && !isOfTheStore(error) && !isRace(error);
}

/** A lost race for the state, and none for something in the cloud. Pure. */
export function isRace({ code, resource }: OperatorError): boolean {
  return code === 'Conflict' && resource === undefined;
}

/** The cloud takes the credentials as such, and refuses something that is done for one: a role that is missing where its address is, a lock there. */
export function isPermission({ code, resource }: OperatorError, provider: string, accounts: Pick<Accounts, 'refusal'>): boolean {
  return code === 'Credentials' && resource !== undefined && accounts.refusal(provider) === undefined;
}
