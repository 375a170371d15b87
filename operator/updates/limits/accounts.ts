import type { CallOutcome } from '../../../providers/call-gate';
import type { Clock } from '../../base/clock';
import type { OperatorError } from '../../base/errors';
import { Account, type CredentialsRefused } from './account';
import { type AccountLimits, DEFAULT_LIMITS } from './account-limits';
import { SharedLimits } from './shared-limits';

/** Told how each call ended, and after how many milliseconds. */
export type OnCall = (...call: [provider: string, verb: string, outcome: CallOutcome, tookMs: number]) => void;

/** Every CloudProvider's account, by the CloudProvider's name. */
export class Accounts {
  private readonly accounts = new Map<string, Account>();
  /** By what the cloud knows the account by. */
  private readonly shared = new Map<string, SharedLimits>();
  private readonly listeners = new Set<(provider: string) => void>();
  private ending: OperatorError | undefined;

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
    if (this.ending !== undefined) account.end(this.ending);
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

  /**
   * The CloudProvider's spec is new: its limits hold from now on, and its credentials are tried again.
   * @param sameAs equal for CloudProviders that are one account to their cloud; absent = it is by itself
   */
  configure(provider: string, limits: Partial<AccountLimits> = {}, sameAs = `CloudProvider ${provider}`): void {
    const account = this.of(provider);
    account.configure({ ...DEFAULT_LIMITS, ...limits });
    const shared = this.shared.get(sameAs) ?? new SharedLimits(this.clock);
    this.shared.set(sameAs, shared);
    account.join(shared);
    account.repaired();
    this.forgetUnused();
  }

  remove(provider: string): void {
    this.accounts.get(provider)?.close();
    this.accounts.delete(provider);
    this.forgetUnused();
  }

  /** The operator ends. @see Account.end */
  end(why: OperatorError): void {
    this.ending = why;
    this.accounts.forEach((account) => account.end(why));
  }

  private forgetUnused(): void {
    for (const [sameAs, { isUsed }] of this.shared) if (!isUsed) this.shared.delete(sameAs);
  }

  /** Called when an account's credentials were refused, were accepted again, or are tried next at another time; and when its cloud no longer answers, or does again. */
  onChange(listener: (provider: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
