import { OperatorError } from '../../../operator/base/errors';
import type { ImageRequest } from '../../registry-credentials';
import type { AzureCredentials } from '../client/credentials';
import type { AzureJson } from '../config/azure-json';
import { identityOf, type IdentityVariables } from '../config/identity';

/** Annotations of ServiceAccounts that name an application, as upstream's plugin knows them. */
export const CLIENT_ANNOTATION = 'kubernetes.azure.com/acr-client-id';
export const TENANT_ANNOTATION = 'kubernetes.azure.com/acr-tenant-id';

/** What a kubelet's environment can say. */
export interface NodeVariables extends IdentityVariables {
  /** Where the machine's metadata service is, if not where Azure has it. */
  AZURE_POD_IDENTITY_AUTHORITY_HOST?: string;
}

/**
 * By whom an image is pulled: the application that the Pod's ServiceAccount names, where its token was sent; else who the node is.
 * @throws OperatorError Invalid where a token was sent, and the ServiceAccount names no application: it must not get what the node may
 */
export async function pullIdentity(
  { serviceAccountToken: token, serviceAccountAnnotations }: Omit<ImageRequest, 'image'>,
  config: AzureJson,
  environment: NodeVariables,
): Promise<AzureCredentials> {
  if (token === undefined) return identityOf(config, environment);
  const clientID = serviceAccountAnnotations[CLIENT_ANNOTATION];
  const tenantID = serviceAccountAnnotations[TENANT_ANNOTATION] ?? config.tenantId;
  if (clientID === undefined || tenantID === undefined) {
    const missing = clientID === undefined ? CLIENT_ANNOTATION : TENANT_ANNOTATION;
    const remedy = `Annotate it, and name ${missing} in the kubelet's tokenAttributes.`;
    throw new OperatorError('Invalid', `the kubelet says no ${missing} of the Pod's ServiceAccount. ${remedy}`, { remedy });
  }
  return { kind: 'WorkloadIdentity', tenantID, clientID, token };
}
