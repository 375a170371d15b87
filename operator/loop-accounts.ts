import type { Clock } from './base/clock';
import type { Logger } from './base/log';
import { ACCOUNT_NAMESPACE, type LoopAccount } from './flags/controllers';
import type { KubeClient } from './kube/client';
import { ServiceAccountTokens } from './kube/token-source';

export interface LoopAccountsOptions {
  /** The leader's own client, which asks for tokens. */
  api: KubeClient;
  clock: Clock;
  random: () => number;
  logger: Logger;
}

/** Clients of the loops under `--use-service-account-credentials`: each works as upstream's ServiceAccount for it (contract 7.8). */
export class LoopAccounts {
  private readonly tokens = new Map<LoopAccount, ServiceAccountTokens>();
  private readonly clients: KubeClient[] = [];

  constructor(private readonly options: LoopAccountsOptions) {}

  /** What `api` is, as the account. The connections are its own: a client certificate of the kubeconfig would go before the token. */
  as(account: LoopAccount, api: KubeClient): KubeClient {
    const client = api.withTokens(this.tokensOf(account));
    this.clients.push(client);
    return client;
  }

  async close(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close()));
  }

  private tokensOf(account: LoopAccount): ServiceAccountTokens {
    const known = this.tokens.get(account);
    if (known !== undefined) return known;
    const made = new ServiceAccountTokens({ ...this.options, account: `${ACCOUNT_NAMESPACE}/${account}` });
    this.tokens.set(account, made);
    return made;
  }
}
