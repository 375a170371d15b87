import { readFile } from 'node:fs/promises';
import { OperatorError } from '../../../operator/base/errors';
import { clientAssertion } from './client-assertion';
import type { CloudEndpoints } from './clouds';
import type { AzureCredentials } from './credentials';

/** Where a machine's own identity is asked for (learn.microsoft.com, "How to use managed identities on an Azure VM to acquire an access token"). */
export const METADATA_SERVICE = 'http://169.254.169.254';
const METADATA_VERSION = '2018-02-01';
const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** One HTTP request that gives a token. */
export interface TokenRequest {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** A form. */
  body?: string;
}

/** Who makes tokens out, and for which API: that of the cloud's resource manager, or `resource`, exactly as the API is known. */
export type TokenEndpoints = Pick<CloudEndpoints, 'login' | 'audience'> & { resource?: string };

/** What a token is asked for with. */
export interface TokenRequestOptions {
  endpoints: TokenEndpoints;
  metadataService: string;
  /** Wall clock, milliseconds. */
  now: number;
}

/**
 * The request for a token of the client credentials flow, or of the machine's metadata service. Reads the file of a workload identity anew.
 * @throws OperatorError Credentials when a certificate or that file can't be read
 */
export async function tokenRequest(credentials: AzureCredentials, options: TokenRequestOptions): Promise<TokenRequest> {
  if (credentials.kind === 'ManagedIdentity') return metadataRequest(credentials.identity, options);
  const { endpoints, now } = options;
  const url = `${endpoints.login}/${credentials.tenantID}/oauth2/v2.0/token`;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: credentials.clientID,
    scope: `${endpoints.resource ?? endpoints.audience}/.default`,
    ...(await proofOf(credentials, url, now)),
  });
  return { url, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: body.toString() };
}

function metadataRequest(
  identity: Extract<AzureCredentials, { kind: 'ManagedIdentity' }>['identity'],
  { endpoints, metadataService }: TokenRequestOptions,
): TokenRequest {
  const query = new URLSearchParams({
    'api-version': METADATA_VERSION,
    resource: endpoints.resource ?? `${endpoints.audience}/`,
    ...(identity !== undefined && ('clientID' in identity ? { client_id: identity.clientID } : { msi_res_id: identity.resourceID })),
  });
  // The header keeps requests out that something has forwarded.
  return { url: `${metadataService}/metadata/identity/oauth2/token?${query.toString()}`, method: 'GET', headers: { metadata: 'true' } };
}

async function proofOf(
  credentials: Exclude<AzureCredentials, { kind: 'ManagedIdentity' }>,
  audience: string,
  now: number,
): Promise<Record<string, string>> {
  if (credentials.kind === 'ClientSecret') return { client_secret: credentials.clientSecret };
  const assertion =
    credentials.kind === 'WorkloadIdentity' ? await federatedToken(credentials) : clientAssertion({ ...credentials, audience, now });
  return { client_assertion_type: JWT_BEARER, client_assertion: assertion };
}

async function federatedToken(of: { tokenFile: string } | { token: string }): Promise<string> {
  if ('token' in of) return of.token;
  try {
    return (await readFile(of.tokenFile, 'utf8')).trim();
  } catch (cause) {
    const remedy = 'Let the workload identity webhook mount it: label the Pod azure.workload.identity/use: "true".';
    throw new OperatorError('Credentials', `the token of the workload identity can't be read: ${(cause as Error).message}. ${remedy}`, {
      cause,
      remedy,
    });
  }
}
