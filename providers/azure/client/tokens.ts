import { request, type Dispatcher } from 'undici';
import { systemClock, type Clock } from '../../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { retry } from '../../retry';
import type { AccessToken, AzureCredentials } from './credentials';
import { wordsOf } from './no-answer';
import { METADATA_SERVICE, tokenRequest, type TokenEndpoints } from './token-request';
import { tokenFailure } from './token-error';

/** What is left of a token for a call to begin with it. */
const LEAST_MS = 60_000;
/** Everything that one search for a token takes, tries and waits together. */
const BUDGET_MS = 30_000;
const TIMEOUT_MS = 10_000;

export interface TokenOptions {
  credentials: AzureCredentials;
  endpoints: TokenEndpoints;
  /** Absent = that of Azure's machines. */
  metadataService?: string;
  clock?: Clock;
  random?: () => number;
  dispatcher?: Dispatcher;
}

/** Tokens for one API, kept as long as they hold. One request at a time, however many calls wait for it. */
export class AzureTokens {
  private readonly clock: Clock;
  private known: AccessToken | undefined;
  private asking: Promise<AccessToken> | undefined;

  constructor(private readonly options: TokenOptions) {
    this.clock = options.clock ?? systemClock;
  }

  /**
   * A token that holds for at least `leastMs`; the one that is known, if it does.
   * @throws OperatorError Credentials when Azure refuses, Transient when nobody answers
   */
  async token(leastMs: number = LEAST_MS): Promise<AccessToken> {
    if (this.known !== undefined && this.holds(leastMs)) return this.known;
    this.asking ??= this.ask().finally(() => (this.asking = undefined));
    return this.asking;
  }

  /** True where no token need be asked for. */
  holds(leastMs: number): boolean {
    return this.known !== undefined && this.known.expiresAt - this.clock.now() >= leastMs;
  }

  /** Azure has refused what is known: the next call asks anew. @param value the token that was refused; another one stays */
  forget(value: string): void {
    if (this.known?.value === value) this.known = undefined;
  }

  private async ask(): Promise<AccessToken> {
    const { random = Math.random } = this.options;
    const policy = { clock: this.clock, random, budgetMs: BUDGET_MS };
    this.known = await retry(
      policy,
      () => this.once(),
      ({ code }) => code === 'Transient' || code === 'Throttled',
    );
    return this.known;
  }

  private async once(): Promise<AccessToken> {
    const { credentials, endpoints, metadataService = METADATA_SERVICE, dispatcher } = this.options;
    const now = this.clock.now();
    const { url, ...asked } = await tokenRequest(credentials, { endpoints, metadataService, now });
    const from = new URL(url).origin;
    try {
      const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
      const answer = await request(url, { ...asked, ...timeouts, ...(dispatcher !== undefined && { dispatcher }) });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw tokenFailure(answer.statusCode, text, { kind: credentials.kind, from });
      return tokenIn(text, now);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      if (error.code !== 'Transient' || thrown instanceof OperatorError) throw error;
      const remedy = `Check the way to ${from}.`;
      throw new OperatorError('Transient', `Azure, a token from ${from}: ${wordsOf(thrown, error)}. ${remedy}`, { cause: thrown, remedy });
    }
  }
}

/** The metadata service gives its figures as text, Microsoft Entra ID as numbers. */
function tokenIn(text: string, now: number): AccessToken {
  const { access_token: value, expires_in: seconds } = parse(text);
  if (typeof value !== 'string' || !Number.isFinite(Number(seconds))) {
    throw new OperatorError('Unknown', 'Azure, a token: the answer has no access_token with expires_in');
  }
  return { value, expiresAt: now + Number(seconds) * 1000 };
}

function parse(text: string): { access_token?: unknown; expires_in?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
