import { readFile } from 'node:fs/promises';
import { OperatorError } from '../../../operator/base/errors';
import type { AzureCredentials } from '../client/credentials';
import type { AzureJson } from './azure-json';
import { certificateIn, type ClientCertificate, unreadable } from './certificate';

/** Variables that Azure's workload identity webhook sets; they go before the file, as upstream has it. */
export interface IdentityVariables {
  AZURE_TENANT_ID?: string;
  AZURE_CLIENT_ID?: string;
  AZURE_CLIENT_SECRET?: string;
  AZURE_FEDERATED_TOKEN_FILE?: string;
}

const REMEDY =
  'Set useManagedIdentityExtension or useFederatedWorkloadIdentityExtension, or aadClientId with aadClientSecret or aadClientCertPath.';

/**
 * Who the operator is to Azure by an azure.json, in upstream's order: workload identity, the machine's identity, a secret, a certificate.
 * Reads the certificate's file.
 * @throws OperatorError Invalid when it says nothing, or not all that is needed; Credentials when the file can't be read
 */
export async function identityOf(config: AzureJson, variables: IdentityVariables = {}): Promise<AzureCredentials> {
  const tenantID = nonEmpty(variables.AZURE_TENANT_ID) ?? config.tenantId;
  const clientID = nonEmpty(variables.AZURE_CLIENT_ID) ?? config.aadClientId;
  const clientSecret = nonEmpty(variables.AZURE_CLIENT_SECRET) ?? config.aadClientSecret;
  const tokenFile = tokenFileOf(config, variables);
  if (tokenFile === undefined && config.useManagedIdentityExtension === true) return machineOf(config);
  if (tokenFile === undefined && clientSecret === undefined && config.aadClientCertPath === undefined) {
    throw new OperatorError('Invalid', `it says no credentials. ${REMEDY}`, { remedy: REMEDY });
  }
  const who = { tenantID: needed(tenantID, 'tenantId'), clientID: needed(clientID, 'aadClientId') };
  if (tokenFile !== undefined) return { kind: 'WorkloadIdentity', ...who, tokenFile };
  if (clientSecret !== undefined) return { kind: 'ClientSecret', ...who, clientSecret };
  return { kind: 'ClientCertificate', ...who, ...(await certificateOf(config)) };
}

function tokenFileOf(
  { useFederatedWorkloadIdentityExtension, aadFederatedTokenFile }: AzureJson,
  variables: IdentityVariables,
): string | undefined {
  const mounted = nonEmpty(variables.AZURE_FEDERATED_TOKEN_FILE);
  if (mounted !== undefined || useFederatedWorkloadIdentityExtension !== true) return mounted;
  return needed(aadFederatedTokenFile, 'aadFederatedTokenFile');
}

function machineOf({ userAssignedIdentityID: id }: AzureJson): AzureCredentials {
  if (id === undefined) return { kind: 'ManagedIdentity' };
  return { kind: 'ManagedIdentity', identity: /\/subscriptions\//i.test(id) ? { resourceID: id } : { clientID: id } };
}

async function certificateOf({ aadClientCertPath: path = '', aadClientCertPassword: password }: AzureJson): Promise<ClientCertificate> {
  const file = await readFile(path).catch((cause: unknown) =>
    Promise.reject(unreadable(cause, 'Mount it there, or correct aadClientCertPath.')),
  );
  return certificateIn(file, password, 'aadClientCertPassword');
}

function needed(value: string | undefined, field: string): string {
  if (value !== undefined) return value;
  throw new OperatorError('Invalid', `${field} must be set for these credentials`, { field });
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
