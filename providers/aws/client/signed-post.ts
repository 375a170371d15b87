import type { EC2ClientConfig } from '@aws-sdk/client-ec2';
import type { CredentialChain } from '../config/account';
import { REQUEST_HANDLER } from './aws-client';

const TIMEOUT_MS = 20_000;

/** One POST to an API of AWS's for which no client of its SDK is there. */
export interface Post {
  url: string;
  /** In lower case, without `host`. */
  headers: Record<string, string>;
  body: string;
}

/** How one is signed. */
export interface Signature {
  /** What the request is signed for. */
  region: string;
  name: string;
  /** Of whom; absent = what the SDK's default chain finds. */
  credentials?: CredentialChain;
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

/** @throws what `post` throws, or what the search for credentials has failed with */
export async function signedPost(request: Post, { region, name, credentials }: Signature): Promise<string> {
  const { EC2Client } = await import('@aws-sdk/client-ec2');
  const client = new EC2Client({
    region,
    requestHandler: REQUEST_HANDLER,
    ...(credentials !== undefined && { credentials: credentials as NonNullable<EC2ClientConfig['credentials']> }),
  });
  try {
    const signing = client.config as unknown as Signing;
    const signer = await signing.signer({ name: 'sigv4', signingName: name, signingRegion: region, properties: {} });
    const url = new URL(request.url);
    const { headers } = await signer.sign({
      method: 'POST',
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== '' && { port: Number(url.port) }),
      path: '/',
      query: {},
      headers: { host: url.host, ...request.headers },
      body: request.body,
    });
    return await post({ ...request, headers });
  } finally {
    client.destroy();
  }
}

/**
 * @returns the text of the answer
 * @throws what the request failed with, or an error that bears AWS's code as its name
 */
export async function post({ url, headers, body }: Post): Promise<string> {
  const { EnvHttpProxyAgent, fetch } = await import('undici');
  // As the SDK's clients, by the proxies that the environment names.
  const dispatcher = new EnvHttpProxyAgent();
  const sent = { method: 'POST', headers, body, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS), dispatcher } as const;
  const { answer, text } = await fetch(new URL(url), sent)
    .then(async (answer) => ({ answer, text: await answer.text() }))
    .finally(() => dispatcher.close());
  if (answer.ok) return text;
  const { name, message } = errorIn(text);
  throw Object.assign(new Error(message), { name, $metadata: { httpStatusCode: answer.status } });
}

/** STS answers with XML, ECR with JSON. */
function errorIn(text: string): { name: string; message: string } {
  const json = jsonIn(text);
  // Some put a namespace before the code.
  const name = json?.__type?.split('#').at(-1) ?? elementOf(text, 'Code') ?? 'Unknown';
  return { name, message: json?.message ?? json?.Message ?? elementOf(text, 'Message') ?? '' };
}

function jsonIn(text: string): { __type?: string; message?: string; Message?: string } | undefined {
  try {
    return JSON.parse(text) as { __type?: string; message?: string; Message?: string };
  } catch {
    return undefined;
  }
}

/** The text of the first element of that name: STS answers with flat XML, whose values are of a few plain characters. Pure. */
export function elementOf(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.trim();
  return text?.replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
