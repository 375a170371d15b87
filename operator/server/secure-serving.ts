import { createServer, type Server } from 'node:https';
import { sleep, type Clock } from '../base/clock';
import { toOperatorError } from '../base/errors';
import type { Logger } from '../base/log';
import type { KubeClient } from '../kube/client';
import { Authenticator } from './authentication';
import { Authorizer } from './authorization';
import { Certificates } from './certificates';
import { readClientTrust, type ClientTrust } from './client-cas';
import { Guard } from './guard';
import type { ServingOptions } from './options';

/** How often certificates and CAs are read again, in milliseconds. */
const RELOAD_MS = 60_000;

export interface SecureServingOptions {
  serving: ServingOptions;
  /** Clients for TokenReviews and the look-up of CAs, and for SubjectAccessReviews; absent = not asked. */
  clients: { authentication?: KubeClient | undefined; authorization?: KubeClient | undefined };
  clock: Clock;
  logger: Logger;
}

/** What makes a server one with TLS, authentication and authorization. */
export class SecureServing {
  readonly guard: Guard;
  readonly server: Server;
  private readonly authenticator: Authenticator;
  private readonly certificates: Certificates;
  private trust: ClientTrust | undefined;

  /** @throws OperatorError Invalid when a certificate can't be used */
  constructor(private readonly options: SecureServingOptions) {
    const { serving, clients, clock, logger } = options;
    const { bindAddress, tls, authentication, authorization } = serving;
    this.certificates = new Certificates({ tls, bindAddress, pairName: 'cloud-controller-manager' });
    this.authenticator = new Authenticator({ api: clients.authentication, tokenTtlMs: authentication.tokenTtlMs, clock });
    this.guard = new Guard(this.authenticator, new Authorizer({ ...authorization, api: clients.authorization, clock }), logger);
    this.server = createServer(this.certificates.options(''));
  }

  /** Reads the CAs of clients, before the first request. @throws OperatorError when that fails and is not tolerated */
  async prepare(): Promise<void> {
    this.use(await this.readTrust());
  }

  /** Reads files and CAs again, now and then, until the signal is aborted; what fails is logged and the last ones stay. */
  async follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(this.options.clock, RELOAD_MS, signal).catch(() => undefined);
      if (!signal.aborted) await this.reload();
    }
  }

  /** Public for tests, which don't wait a minute. */
  async reload(): Promise<void> {
    try {
      const trust = await this.readTrust();
      if (this.certificates.reload() || JSON.stringify(trust) !== JSON.stringify(this.trust)) this.use(trust);
    } catch (thrown) {
      const error = toOperatorError(thrown);
      this.options.logger.warn({ err: error }, `certificates of the server can't be read again: ${error.message}`);
    }
  }

  private readTrust(): Promise<ClientTrust> {
    return readClientTrust(this.options.serving.authentication, this.options.clients.authentication);
  }

  private use(trust: ClientTrust): void {
    this.trust = trust;
    this.authenticator.trust(trust);
    this.server.setSecureContext(this.certificates.options(`${trust.clientCA}\n${trust.proxyCA}`.trim()));
  }
}
