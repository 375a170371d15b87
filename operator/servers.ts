import { systemClock } from './base/clock';
import { toOperatorError } from './base/errors';
import type { IdentityRights } from './bootstrap';
import { KubeClient } from './kube/client';
import { loadKubeConfig } from './kube/kube-config';
import type { OperatorOptions } from './options';
import { authenticationPermissions, authorizationPermissions } from './permissions';
import { looksUpCAs } from './server/client-cas';
import type { HealthChecks } from './server/health';
import type { ServedPage } from './server/served-page';
import { OperatorServer } from './server/http-server';
import { SecureServing } from './server/secure-serving';
import { Webhooks, type WebhooksParts } from './webhooks';

export interface ServedParts extends WebhooksParts {
  health: HealthChecks;
  /** Served over HTTPS only; absent = none. */
  page: ServedPage | undefined;
}

/** The webhooks, and the servers for health, metrics and configuration: HTTPS for the cluster, plain HTTP for this machine. */
export class Servers {
  private readonly open: OperatorServer[] = [];
  private readonly delegates: IdentityRights[] = [];
  private readonly webhooks: Webhooks;

  constructor(
    private readonly options: OperatorOptions,
    private readonly parts: ServedParts,
  ) {
    this.webhooks = new Webhooks(options, parts);
  }

  /** Listens. @throws OperatorError when a certificate, the look-up of CAs or an address can't be had */
  async start(signal: AbortSignal): Promise<void> {
    const { serving, port } = this.options;
    await this.webhooks.start(signal);
    if (serving !== undefined) {
      const secure = this.secureServing(serving);
      await secure.prepare();
      await this.listen({ bindAddress: serving.bindAddress, port: serving.port, secure, page: this.parts.page }, 'serving HTTPS');
      void secure.follow(signal);
    }
    if (port !== undefined) await this.listen({ bindAddress: '127.0.0.1', port }, 'serving health and metrics');
  }

  /** What the HTTPS server's clients need to be allowed; known once it has been started. */
  rights(): readonly IdentityRights[] {
    return this.delegates;
  }

  async stop(): Promise<void> {
    await Promise.all([this.webhooks.stop(), ...this.open.map((server) => server.stop())]);
    await Promise.all(this.delegates.map(({ api }) => api.close()));
  }

  private async listen(
    where: Pick<ConstructorParameters<typeof OperatorServer>[0], 'bindAddress' | 'port' | 'secure' | 'page'>,
    what: string,
  ): Promise<void> {
    const { health, metrics, logger } = this.parts;
    const server = new OperatorServer({ ...where, health, metrics, logger, configuration: this.options.configuration });
    this.open.push(server);
    logger.info(await server.start(), what);
  }

  private secureServing(serving: NonNullable<OperatorOptions['serving']>): SecureServing {
    const { authentication, authorization } = serving;
    const clients = {
      authentication: this.delegate(
        'authentication',
        authentication.kubeconfig,
        authenticationPermissions({ looksUpCAs: looksUpCAs(authentication) }),
      ),
      authorization: this.delegate('authorization', authorization.kubeconfig, authorizationPermissions()),
    };
    return new SecureServing({ serving, clients, clock: systemClock, logger: this.parts.logger });
  }

  /** A kubeconfig of its own, else the Pod's ServiceAccount, else nobody is asked (contract 7.3). */
  private delegate(
    what: 'authentication' | 'authorization',
    kubeconfig: string | undefined,
    permissions: IdentityRights['permissions'],
  ): KubeClient | undefined {
    const { logger } = this.parts;
    try {
      const config = loadKubeConfig(kubeconfig === undefined ? { inCluster: true } : { kubeconfig });
      const client = new KubeClient(config, { ...this.options.kubeApi, userAgent: `cloud-operator/${this.options.version}`, logger });
      this.delegates.push({ api: client, permissions, ...(kubeconfig === undefined ? {} : { holder: `--${what}-kubeconfig` }) });
      return client;
    } catch (thrown) {
      if (kubeconfig !== undefined) throw thrown;
      logger.warn({ reason: toOperatorError(thrown).message }, `no ${what}-kubeconfig was given and this is no Pod: nobody is asked`);
      return undefined;
    }
  }
}
