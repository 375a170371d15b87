import { isDeepStrictEqual } from 'node:util';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { AzureProviderSettings } from '../../../crds';
import { openGate } from '../../call-gate';
import type { ConnectContext } from '../../provider';
import type { ArmClientOptions } from '../client/arm-client';
import type { CloudEndpoints } from '../client/clouds';
import type { AccessToken, AzureCredentials } from '../client/credentials';
import { AzureTokens } from '../client/tokens';
import { networkSubscriptionOf } from '../load-balancers/scope';
import { credentialsOf, type CredentialSources } from './credentials';
import { findEndpoints } from './endpoints';

/** What is left of a token for an update to begin with it: more than an update may take. */
const ENOUGH_MS = 20 * 60_000;

interface Opened {
  credentials: AzureCredentials;
  endpoints: CloudEndpoints;
  tokens: AzureTokens;
  /** Of the network's subscription: others, where that is of another tenant. */
  network: AzureTokens;
  sources: CredentialSources & { settings: AzureProviderSettings };
  calls: ConnectContext['calls'];
}

/** Who the operator is to one subscription, and where that is. */
export class AzureAccount {
  /** The token of today; workers get it. */
  private known: AccessToken | undefined;

  private constructor(private readonly opened: Opened) {}

  /**
   * Finds out where the cloud is, if only its resource manager is known, and reads the credentials. No token is asked for.
   * @throws OperatorError Invalid or Credentials naming what is wrong with them
   */
  static async open(settings: AzureProviderSettings, context: ConnectContext, variables = process.env): Promise<AzureAccount> {
    const endpoints = await findEndpoints(settings);
    const sources: Opened['sources'] = { settings, secrets: context, variables };
    const credentials = await credentialsOf(sources);
    return new AzureAccount({ credentials, endpoints, ...tokensOf(credentials, endpoints, settings), sources, calls: context.calls });
  }

  get resourceManager(): string {
    return this.opened.endpoints.resourceManager;
  }

  /** For whom its tokens are made out. */
  get audience(): string {
    return this.opened.endpoints.audience;
  }

  /** The token that workers get, for the network; undefined before the first update. */
  get token(): AccessToken | undefined {
    return this.known;
  }

  clientOptions(): ArmClientOptions {
    const { calls } = this.opened;
    return {
      resourceManager: this.resourceManager,
      token: async (path) => (await this.tokensFor(path).token()).value,
      refused: (token) => [this.opened.tokens, this.opened.network].forEach((tokens) => tokens.forget(token)),
      ...(calls !== undefined && { calls }),
    };
  }

  /**
   * Workers ask for no token themselves, so what they get must last as long as they work. Credentials that Entra refuses are refused for the whole account,
   * though the token of before may hold for calls for a while.
   */
  async ensure(): Promise<void> {
    const { network: tokens, calls = openGate } = this.opened;
    if (tokens.holds(ENOUGH_MS)) return void (this.known = await tokens.token(ENOUGH_MS));
    const settle = await calls.acquire('get');
    try {
      this.known = await tokens.token(ENOUGH_MS);
      settle({ kind: 'Answered' });
    } catch (thrown) {
      const error = toOperatorError(thrown);
      settle(error.code === 'Credentials' ? { kind: 'Refused', message: error.message } : { kind: 'Unanswered' });
      throw error;
    }
  }

  /**
   * Reads the credentials anew from where the settings say. Where they are the same, Entra is asked once why a worker's token was refused.
   * @returns true when they are others
   * @throws OperatorError Credentials with what Entra says of them
   */
  async renew(): Promise<boolean> {
    const { sources, endpoints } = this.opened;
    const credentials = await credentialsOf(sources);
    if (!isDeepStrictEqual(credentials, this.opened.credentials)) {
      Object.assign(this.opened, { credentials, ...tokensOf(credentials, endpoints, sources.settings) });
      return true;
    }
    const refused = this.known;
    if (refused === undefined) return false;
    this.known = undefined;
    this.opened.network.forget(refused.value);
    await this.opened.network.token();
    return false;
  }

  private tokensFor(path: string): AzureTokens {
    const { tokens, network, sources } = this.opened;
    const isOfNetwork = path.toLowerCase().startsWith(`/subscriptions/${networkSubscriptionOf(sources.settings).toLowerCase()}/`);
    return isOfNetwork ? network : tokens;
  }
}

/** @throws OperatorError Invalid where the machine's own identity would have to be known to another tenant */
function tokensOf(
  credentials: AzureCredentials,
  endpoints: CloudEndpoints,
  { networkTenantID }: AzureProviderSettings,
): Pick<Opened, 'tokens' | 'network'> {
  const tokens = new AzureTokens({ credentials, endpoints });
  if (networkTenantID === undefined) return { tokens, network: tokens };
  if (credentials.kind === 'ManagedIdentity') {
    const remedy = 'Use an application that both tenants know: clientSecretRef, clientCertificateRef or workloadIdentity.';
    throw new OperatorError('Invalid', `spec.azure.networkTenantID: a managed identity is of one tenant. ${remedy}`, {
      field: 'spec.azure.networkTenantID',
      remedy,
    });
  }
  return { tokens, network: new AzureTokens({ credentials: { ...credentials, tenantID: networkTenantID }, endpoints }) };
}
