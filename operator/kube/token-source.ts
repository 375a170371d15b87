import { sleep, type Clock } from '../base/clock';
import { OperatorError, toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { KubeClient } from './client';
import { SERVICE_ACCOUNTS } from './object';
import { objectPath } from './resource-url';
import { isAlreadyExists } from './status';

/** Bearer tokens for a connection, in place of the kubeconfig's user. */
export interface TokenSource {
  /** One that is valid now. @throws OperatorError when there is none to be had */
  token(): Promise<string>;
  /** The API server refused it: the next one is asked for anew. */
  forget(): void;
}

export interface ServiceAccountTokensOptions {
  /** Of somebody who may get and create ServiceAccounts and their tokens. */
  api: Pick<KubeClient, 'get' | 'create' | 'raw'>;
  /** `<namespace>/<name>`. */
  account: string;
  clock: Clock;
  random: () => number;
  logger: Logger;
}

/** Contract 7.8: asked for, in seconds; the API server may grant less. */
const LIFETIME_S = 3_600;
/** Renewed when so much of its time is over, less up to a tenth of that, so that not all operators of a cluster come at once. */
const RENEW_AFTER = 0.8;
const JITTER = 0.1;
const TRIES = 4;
const FIRST_WAIT_MS = 500;
const RENEW_AGAIN_MS = 10_000;

interface HeldToken {
  token: string;
  renewAt: number;
  expiresAt: number;
}

interface TokenRequest {
  spec: { expirationSeconds: number };
  status: { token: string };
}

/** Tokens of one ServiceAccount from the TokenRequest API; it is made where it is absent. A token that is still valid is used while its successor is asked for. */
export class ServiceAccountTokens implements TokenSource {
  private held: HeldToken | undefined;
  private requesting: Promise<string> | undefined;

  constructor(private readonly options: ServiceAccountTokensOptions) {}

  async token(): Promise<string> {
    const { held } = this;
    const now = this.options.clock.monotonic();
    if (held === undefined || now >= held.expiresAt) return this.request();
    if (now >= held.renewAt) this.renew(held);
    return held.token;
  }

  forget(): void {
    this.held = undefined;
  }

  private renew(held: HeldToken): void {
    const { account, clock, logger } = this.options;
    this.request().catch((thrown: unknown) => {
      held.renewAt = clock.monotonic() + RENEW_AGAIN_MS;
      logger.warn({ err: toOperatorError(thrown), account }, 'the token of a ServiceAccount could not be renewed yet');
    });
  }

  private request(): Promise<string> {
    this.requesting ??= this.tryToRequest().finally(() => (this.requesting = undefined));
    return this.requesting;
  }

  private async tryToRequest(): Promise<string> {
    const { account, clock } = this.options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.requestOnce();
      } catch (thrown) {
        const { code, message, retryAfterMs } = toOperatorError(thrown);
        if (attempt === TRIES || code === 'Canceled') {
          const detail = { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
          throw new OperatorError(code, `there is no token for the ServiceAccount ${account}: ${message}`, detail);
        }
        await sleep(clock, FIRST_WAIT_MS * 2 ** (attempt - 1));
      }
    }
  }

  private async requestOnce(): Promise<string> {
    const { api, account, clock, random } = this.options;
    await this.makeAccount();
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: LIFETIME_S } };
    const askedAt = clock.monotonic();
    const { spec, status } = (await api.raw('POST', objectPath(SERVICE_ACCOUNTS, account, 'token'), { body })) as TokenRequest;
    // Counted from before the request, and by our own clock: the API server's may show another time.
    const lifetimeMs = spec.expirationSeconds * 1_000;
    const renewAt = askedAt + lifetimeMs * RENEW_AFTER * (1 - JITTER * random());
    this.held = { token: status.token, renewAt, expiresAt: askedAt + lifetimeMs };
    return status.token;
  }

  private async makeAccount(): Promise<void> {
    const { api, account } = this.options;
    if ((await api.get(SERVICE_ACCOUNTS, account)) !== undefined) return;
    const [namespace = '', name = ''] = account.split('/');
    try {
      await api.create(SERVICE_ACCOUNTS, namespace, { metadata: { namespace, name } });
    } catch (thrown) {
      if (!isAlreadyExists(thrown)) throw thrown;
    }
  }
}
