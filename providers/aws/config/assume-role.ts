import type { EC2ClientConfig } from '@aws-sdk/client-ec2';
import type { AWSProviderSettings } from '../../../crds';
import type { CredentialChain, FoundCredentials } from './account';
import { AwsError, awsFailure } from '../client/aws-error';

const SESSION_SECONDS = '3600';
const TIMEOUT_MS = 20_000;
const ACTION = 'sts:AssumeRole';

export interface RoleToAssume {
  role: NonNullable<AWSProviderSettings['assumeRole']>;
  region: string;
  /** What the request is signed for. */
  signing: { region: string; name: string };
  /** Of STS, if not that of the region. */
  endpoint?: string;
}

/** Parts of the SDK's signer that are used here: any client's configuration makes one for any service. */
interface Signing {
  signer(scheme: object): Promise<{ sign(request: SignableRequest): Promise<{ headers: Record<string, string> }> }>;
}

interface SignableRequest {
  method: 'POST';
  protocol: string;
  hostname: string;
  port?: number;
  path: string;
  query: Record<string, never>;
  headers: Record<string, string>;
  body: string;
}

/**
 * The credentials of a role, by the credentials that `base` gives.
 * @throws OperatorError Credentials with AWS's own words where the role can't be assumed; none holds a secret
 */
export async function assumeRole(of: RoleToAssume, base: CredentialChain): Promise<FoundCredentials> {
  const { EC2Client } = await import('@aws-sdk/client-ec2');
  const client = new EC2Client({ region: of.region, credentials: base as NonNullable<EC2ClientConfig['credentials']> });
  try {
    const text = await post(of, client.config as unknown as Signing);
    return credentialsIn(text);
  } catch (thrown) {
    throw awsFailure(thrown, { action: ACTION, ...(of.endpoint !== undefined && { endpoint: of.endpoint }) });
  } finally {
    client.destroy();
  }
}

/** @throws what the request failed with, or an error that bears AWS's code as its name */
async function post({ role, region, signing, endpoint }: RoleToAssume, config: Signing): Promise<string> {
  const url = new URL(endpoint ?? `https://sts.${region}.${region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'}`);
  const body = new URLSearchParams(parametersOf(role)).toString();
  const signer = await config.signer({ name: 'sigv4', signingName: signing.name, signingRegion: signing.region, properties: {} });
  const { headers } = await signer.sign({
    method: 'POST',
    protocol: url.protocol,
    hostname: url.hostname,
    ...(url.port !== '' && { port: Number(url.port) }),
    path: '/',
    query: {},
    headers: { host: url.host, 'content-type': 'application/x-www-form-urlencoded', ...sourceOf(role) },
    body,
  });
  const answer = await fetch(url, { method: 'POST', headers, body, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const text = await answer.text();
  if (answer.ok) return text;
  const [name, message] = [elementOf(text, 'Code') ?? 'Unknown', elementOf(text, 'Message') ?? ''];
  throw Object.assign(new Error(message), { name, $metadata: { httpStatusCode: answer.status } });
}

function parametersOf({ roleARN, externalID, sessionName = 'cloud-operator' }: RoleToAssume['role']): Record<string, string> {
  return {
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: roleARN,
    RoleSessionName: sessionName,
    DurationSeconds: SESSION_SECONDS,
    ...(externalID !== undefined && { ExternalId: externalID }),
  };
}

/** What trust policies ask for as aws:SourceArn and aws:SourceAccount. */
function sourceOf({ sourceARN }: RoleToAssume['role']): Record<string, string> {
  if (sourceARN === undefined) return {};
  return { 'x-amz-source-arn': sourceARN, 'x-amz-source-account': sourceARN.split(':')[4] ?? '' };
}

function credentialsIn(text: string): FoundCredentials {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'].map(
    (name) => elementOf(text, name),
  );
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw new AwsError('Transient', `AWS, ${ACTION}: the answer has no credentials`, 'Unknown', {});
  }
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    ...(expiration !== undefined && { expiration: new Date(expiration) }),
  };
}

/** The text of the first element of that name: STS answers with flat XML, whose values are of a few plain characters. */
function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim();
  return text?.replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
