import type { CallOutcome } from '../../../providers/call-gate';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import { Account, type CredentialsRefused } from './account';
import { type AccountLimits, DEFAULT_LIMITS } from './account-limits';

/** Told how each call ended, and after how many milliseconds. */
export type OnCall = (...call: [provider: string, verb: string, outcome: CallOutcome, tookMs: number]) => void;

/** Every CloudProvider's account, by the CloudProvider's name. */
export class Accounts {
  private readonly accounts = new Map<string, Account>();
  private readonly listeners = new Set<(provider: string) => void>();

  /** @param onCall told how each call ended */
  constructor(
    private readonly clock: Clock,
    private readonly onCall: OnCall = () => undefined,
  ) {}

  /** The account of a CloudProvider, made with the default limits when it is first asked for. */
  of(provider: string): Account {
    const known = this.accounts.get(provider);
    if (known !== undefined) return known;
    const account = new Account(provider, DEFAULT_LIMITS, this.clock, {
      changed: () => this.listeners.forEach((listener) => listener(provider)),
      called: (verb, outcome, tookMs) => this.onCall(provider, verb, outcome, tookMs),
    });
    this.accounts.set(provider, account);
    return account;
  }

  /** Why the cloud of a CloudProvider can't be used now; undefined while it can. */
  refusal(provider: string): CredentialsRefused | undefined {
    return this.accounts.get(provider)?.refusal;
  }

  /** That the cloud of a CloudProvider no longer answers; undefined while it does. */
  outage(provider: string): OperatorError | undefined {
    return this.accounts.get(provider)?.outage;
  }

  /** The CloudProvider's spec is new: its limits hold from now on, and its credentials are tried again. */
  configure(provider: string, limits: Partial<AccountLimits> = {}): void {
    const account = this.of(provider);
    account.configure({ ...DEFAULT_LIMITS, ...limits });
    account.repaired();
  }

  remove(provider: string): void {
    this.accounts.get(provider)?.close();
    this.accounts.delete(provider);
  }

  /** Called when an account's credentials were refused, were accepted again, or are tried next at another time; and when its cloud no longer answers, or does again. */
  onChange(listener: (provider: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
