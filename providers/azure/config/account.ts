import { request } from 'undici';
import type { AzureProviderSettings } from '../../../crds';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import { readSmallFile } from '../../../operator/base/small-file';
import type { ConnectContext } from '../../provider';
import type { ArmClientOptions } from '../client/arm-client';
import { endpointsIn, endpointsOf, metadataURL, type CloudEndpoints } from '../client/clouds';
import type { AzureCredentials } from '../client/credentials';
import { AzureTokens } from '../client/tokens';
import { parseAzureJson } from './azure-json';
import { identityOf, type IdentityVariables } from './identity';

/** What is left of a token for an update to begin with it: more than an update may take. */
const ENOUGH_MS = 20 * 60_000;
const TIMEOUT_MS = 10_000;

/** Who the operator is to one subscription, and where that is. */
export class AzureAccount {
  /** The token of today; workers get it. */
  private known: string | undefined;

  private constructor(
    private readonly settings: AzureProviderSettings,
    private readonly context: ConnectContext,
    private readonly variables: IdentityVariables,
    private readonly endpoints: CloudEndpoints,
    private tokens: AzureTokens,
  ) {}

  /**
   * Finds out where the cloud is, if only its resource manager is known, and reads the credentials. No token is asked for.
   * @throws OperatorError Invalid or Credentials naming what is wrong with them
   */
  static async open(
    settings: AzureProviderSettings,
    context: ConnectContext,
    variables: IdentityVariables = process.env as IdentityVariables,
  ): Promise<AzureAccount> {
    const { resourceManagerEndpoint } = settings;
    const endpoints = resourceManagerEndpoint === undefined ? endpointsOf(settings.cloud) : await endpointsAt(resourceManagerEndpoint);
    const credentials = await credentialsOf(settings, context, variables);
    return new AzureAccount(settings, context, variables, endpoints, new AzureTokens({ credentials, endpoints }));
  }

  get resourceManager(): string {
    return this.endpoints.resourceManager;
  }

  /** The token that workers get; undefined before the first update. */
  get token(): string | undefined {
    return this.known;
  }

  clientOptions(): ArmClientOptions {
    const { calls } = this.context;
    return {
      resourceManager: this.endpoints.resourceManager,
      token: async () => (await this.tokens.token()).value,
      refused: (token) => this.tokens.forget(token),
      ...(calls !== undefined && { calls }),
    };
  }

  /** Workers ask for no token themselves, so what they get must last as long as they work. */
  async ensure(): Promise<void> {
    this.known = (await this.tokens.token(ENOUGH_MS)).value;
  }

  /** Reads the credentials anew from where the settings say. */
  async renew(): Promise<void> {
    const credentials = await credentialsOf(this.settings, this.context, this.variables);
    this.tokens = new AzureTokens({ credentials, endpoints: this.endpoints });
  }
}

async function endpointsAt(resourceManager: string): Promise<CloudEndpoints> {
  const url = metadataURL(resourceManager);
  try {
    const answer = await request(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    return endpointsIn(await answer.body.json().catch(() => undefined), resourceManager);
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (thrown instanceof OperatorError) throw error;
    throw new OperatorError(error.code, `Azure, ${url}: ${error.message}`, { cause: thrown });
  }
}

async function credentialsOf(
  { tenantID, credentials = {} }: AzureProviderSettings,
  { readSecret }: ConnectContext,
  variables: IdentityVariables,
): Promise<AzureCredentials> {
  const { clientID, clientSecretRef, clientCertificateRef, managedIdentity, workloadIdentity, cloudConfigFile, cloudConfigRef } =
    credentials;
  const valueOf = async ({ name, key }: { name: string; key: string }): Promise<string> => (await readSecret(name, [key]))[0] ?? '';
  if (cloudConfigFile !== undefined) return identityOf(parseAzureJson(readSmallFile(cloudConfigFile)).config, variables);
  if (cloudConfigRef !== undefined) return identityOf(parseAzureJson(await valueOf(cloudConfigRef)).config, variables);
  if (managedIdentity !== undefined) {
    const id = managedIdentity.clientID ?? managedIdentity.resourceID;
    return identityOf({ useManagedIdentityExtension: true, ...(id !== undefined && { userAssignedIdentityID: id }) });
  }
  const tenant = tenantID ?? variables.AZURE_TENANT_ID;
  const client = clientID ?? variables.AZURE_CLIENT_ID;
  const who = { ...(tenant !== undefined && { tenantId: tenant }), ...(client !== undefined && { aadClientId: client }) };
  if (clientCertificateRef !== undefined) {
    if (tenant === undefined || client === undefined) {
      throw new OperatorError('Invalid', 'a client certificate needs spec.azure.tenantID and spec.azure.credentials.clientID', {
        field: 'spec.azure.credentials',
      });
    }
    return { kind: 'ClientCertificate', tenantID: tenant, clientID: client, certificate: await valueOf(clientCertificateRef) };
  }
  if (clientSecretRef !== undefined) return identityOf({ ...who, aadClientSecret: (await valueOf(clientSecretRef)).trim() });
  if (workloadIdentity !== undefined) {
    const file = workloadIdentity.tokenFile ?? variables.AZURE_FEDERATED_TOKEN_FILE;
    return identityOf({ ...who, useFederatedWorkloadIdentityExtension: true, ...(file !== undefined && { aadFederatedTokenFile: file }) });
  }
  return identityOf(who, variables);
}
