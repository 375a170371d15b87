import type { AzureProviderSettings } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { readSmallFile } from '../../../operator/base/small-file';
import type { ConnectContext } from '../../provider';
import type { AzureCredentials } from '../client/credentials';
import { parseAzureJson, type AzureJson } from './azure-json';
import { certificateIn } from './certificate';
import { identityOf, type IdentityVariables } from './identity';
import { isPkcs12 } from './pkcs12';

type Given = NonNullable<AzureProviderSettings['credentials']>;

/** What credentials are looked for in. */
export interface CredentialSources {
  settings: Pick<AzureProviderSettings, 'tenantID' | 'credentials'>;
  /** Of the operator's own namespace. */
  secrets: Pick<ConnectContext, 'readSecret'>;
  /** Of the environment. */
  variables: IdentityVariables;
}

/**
 * Who the operator is, as a CloudProvider says: by an azure.json, a Secret, the machine or the cluster; by the environment where it says nothing.
 * @throws OperatorError Invalid or Credentials naming what is missing
 */
export async function credentialsOf(sources: CredentialSources): Promise<AzureCredentials> {
  const { credentials = {} } = sources.settings;
  const json = await azureJsonOf(credentials, sources);
  if (json !== undefined) return identityOf(json, sources.variables);
  if (credentials.managedIdentity !== undefined) return identityOf(machine(credentials.managedIdentity));
  const who = applicationOf(credentials, sources);
  if (credentials.clientCertificateRef !== undefined) return certificateOf(who, credentials.clientCertificateRef, sources);
  if (credentials.clientSecretRef !== undefined) {
    return identityOf({ ...who, aadClientSecret: (await valueOf(credentials.clientSecretRef, sources)).trim() });
  }
  if (credentials.workloadIdentity === undefined) return identityOf(who, sources.variables);
  const file = credentials.workloadIdentity.tokenFile ?? sources.variables.AZURE_FEDERATED_TOKEN_FILE;
  return identityOf({ ...who, useFederatedWorkloadIdentityExtension: true, ...(file !== undefined && { aadFederatedTokenFile: file }) });
}

async function azureJsonOf({ cloudConfigFile, cloudConfigRef }: Given, sources: CredentialSources): Promise<AzureJson | undefined> {
  if (cloudConfigFile !== undefined) return parseAzureJson(readSmallFile(cloudConfigFile)).config;
  return cloudConfigRef === undefined ? undefined : parseAzureJson(await valueOf(cloudConfigRef, sources)).config;
}

function machine({ clientID, resourceID }: NonNullable<Given['managedIdentity']>): AzureJson {
  const id = clientID ?? resourceID;
  return { useManagedIdentityExtension: true, ...(id !== undefined && { userAssignedIdentityID: id }) };
}

/** The settings go before the environment. */
function applicationOf({ clientID }: Given, { settings, variables }: CredentialSources): AzureJson {
  const tenant = settings.tenantID ?? variables.AZURE_TENANT_ID;
  const client = clientID ?? variables.AZURE_CLIENT_ID;
  return { ...(tenant !== undefined && { tenantId: tenant }), ...(client !== undefined && { aadClientId: client }) };
}

/** @throws OperatorError Invalid when it is nobody's, Credentials when it can't be read */
async function certificateOf(
  { tenantId: tenantID, aadClientId: clientID }: AzureJson,
  { name, key, passwordKey }: NonNullable<Given['clientCertificateRef']>,
  { secrets }: CredentialSources,
): Promise<AzureCredentials> {
  if (tenantID === undefined || clientID === undefined) {
    const remedy = 'Set spec.azure.tenantID and spec.azure.credentials.clientID.';
    throw new OperatorError('Invalid', `a client certificate is nobody's without tenant and application. ${remedy}`, {
      field: 'spec.azure.credentials',
      remedy,
    });
  }
  const [value = '', password] = await secrets.readSecret(name, [key, ...(passwordKey === undefined ? [] : [passwordKey])]);
  const where = passwordKey === undefined ? 'passwordKey, which names its password' : `the key ${passwordKey} of Secret ${name}`;
  return { kind: 'ClientCertificate', tenantID, clientID, ...(await certificateIn(bytesOf(value), password?.trim(), where)) };
}

/** PKCS #12 is no text (ConnectContext.readSecret). */
function bytesOf(value: string): Buffer {
  const bytes = Buffer.from(value, 'latin1');
  return isPkcs12(bytes) ? bytes : Buffer.from(value);
}

async function valueOf({ name, key }: { name: string; key: string }, { secrets }: CredentialSources): Promise<string> {
  return (await secrets.readSecret(name, [key]))[0] ?? '';
}
