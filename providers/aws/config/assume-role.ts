import type { AWSProviderSettings } from '../../../crds';
import type { CredentialChain, FoundCredentials } from './account';
import { AwsError, awsFailure } from '../client/aws-error';
import { elementOf, post, signedPost, type Post } from '../client/signed-post';
import { stsURLOf, type HostKind } from './sts-endpoint';

const SESSION_SECONDS = '3600';

export interface RoleToAssume {
  role: NonNullable<AWSProviderSettings['assumeRole']>;
  region: string;
  /** What the request is signed for. */
  signing: { region: string; name: string };
  /** Of STS, if not that of the region. */
  endpoint?: string;
  /** Which of the region's; the usual one where nothing is said. */
  host?: HostKind;
}

/** A role that a token of the cluster's own stands for. */
export interface WebIdentity {
  roleARN: string;
  token: string;
  /** Of STS. */
  url: string;
}

/**
 * The credentials of a role, by the credentials that `base` gives.
 * @throws OperatorError Credentials with AWS's own words where the role can't be assumed; none holds a secret
 */
export async function assumeRole(of: RoleToAssume, base: CredentialChain): Promise<FoundCredentials> {
  const { role, region, endpoint, signing, host = { fips: false, dualStack: false } } = of;
  const url = endpoint ?? stsURLOf(region, host);
  const request = requestOf(url, parametersOf(role), sourceOf(role));
  return credentialsBy('AssumeRole', endpoint, () => signedPost(request, { ...signing, credentials: base }));
}

/**
 * The credentials of a role, by a token of the cluster's own; such a request is not signed.
 * @throws OperatorError as assumeRole
 */
export async function assumeRoleWithWebIdentity({ roleARN, token, url }: WebIdentity): Promise<FoundCredentials> {
  const parameters = { ...session('AssumeRoleWithWebIdentity', roleARN, 'cloud-operator'), WebIdentityToken: token };
  return credentialsBy('AssumeRoleWithWebIdentity', url, () => post(requestOf(url, parameters, {})));
}

async function credentialsBy(operation: string, endpoint: string | undefined, ask: () => Promise<string>): Promise<FoundCredentials> {
  const action = `sts:${operation}`;
  try {
    return credentialsIn(await ask(), action);
  } catch (thrown) {
    throw awsFailure(thrown, { action, ...(endpoint !== undefined && { endpoint }) });
  }
}

function requestOf(url: string, parameters: Record<string, string>, headers: Record<string, string>): Post {
  const body = new URLSearchParams(parameters).toString();
  return { url, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body };
}

function parametersOf({ roleARN, externalID, sessionName = 'cloud-operator' }: RoleToAssume['role']): Record<string, string> {
  return { ...session('AssumeRole', roleARN, sessionName), ...(externalID !== undefined && { ExternalId: externalID }) };
}

function session(Action: string, RoleArn: string, RoleSessionName: string): Record<string, string> {
  return { Action, Version: '2011-06-15', RoleArn, RoleSessionName, DurationSeconds: SESSION_SECONDS };
}

/** What trust policies ask for as aws:SourceArn and aws:SourceAccount. */
function sourceOf({ sourceARN }: RoleToAssume['role']): Record<string, string> {
  if (sourceARN === undefined) return {};
  return { 'x-amz-source-arn': sourceARN, 'x-amz-source-account': sourceARN.split(':')[4] ?? '' };
}

function credentialsIn(text: string, action: string): FoundCredentials {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'].map(
    (name) => elementOf(text, name),
  );
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new AwsError('Transient', `AWS, ${action}: the answer has no credentials`, 'Unknown', {});
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiration !== undefined && { expiration: new Date(expiration) }),
  };
}
