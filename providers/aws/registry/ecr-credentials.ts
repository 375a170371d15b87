import { systemClock, type Clock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { cacheMsOf, registryOf, type ImageRequest, type RegistryCredentials } from '../../registry-credentials';
import { retry } from '../../retry';
import { awsFailure } from '../client/aws-error';
import { signedPost } from '../client/signed-post';
import type { CredentialChain } from '../config/account';
import { assumeRoleWithWebIdentity } from '../config/assume-role';
import { ecrRegistryOf, type EcrRegistry } from './ecr-registry';

/** Names the role by which the images of a ServiceAccount's Pods are pulled, as upstream's plugin knows it. */
export const ROLE_ANNOTATION = 'eks.amazonaws.com/ecr-role-arn';
/** The kubelet waits for a minute. */
const BUDGET_MS = 30_000;

const TARGETS: Readonly<Record<EcrRegistry['service'], string>> = {
  ecr: 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken',
  'ecr-public': 'SpencerFrontendService.GetAuthorizationToken',
};

interface AuthorizationData {
  /** `user:password` in base 64. */
  authorizationToken?: string;
  /** Seconds since 1970. */
  expiresAt?: number;
}

export interface EcrOptions {
  /** The SDK's variables; `AWS_ECR_ROLE_ARN` is the role of ServiceAccounts that name none. */
  environment: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
}

/**
 * What lets a kubelet pull an image from ECR: by the role of its machine, or by the role of the Pod's ServiceAccount, where the kubelet sends its token.
 * @returns undefined for an image that is of another registry
 * @throws OperatorError Credentials when AWS refuses, Transient when nobody answers
 */
export async function ecrCredentials(request: ImageRequest, options: EcrOptions): Promise<RegistryCredentials | undefined> {
  const host = registryOf(request.image);
  const registry = ecrRegistryOf(host);
  if (registry === undefined) return undefined;
  const { clock = systemClock } = options;
  return retry(
    { clock, random: Math.random, budgetMs: BUDGET_MS },
    async () => ({ registries: [host], ...(await authorized(registry, request, options)) }),
    ({ code }) => code === 'Transient' || code === 'Throttled',
  );
}

async function authorized(
  registry: EcrRegistry,
  request: ImageRequest,
  { environment, clock = systemClock }: EcrOptions,
): Promise<Omit<RegistryCredentials, 'registries'>> {
  const { service, region: home } = registry;
  const url = endpointOf(service, environment) ?? registry.url;
  const action = `${service}:GetAuthorizationToken`;
  const credentials = roleOf(request, registry, environment);
  try {
    const text = await signedPost(
      { url, headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': TARGETS[service] }, body: '{}' },
      { region: home, name: service, ...(credentials !== undefined && { credentials }) },
    );
    return loginIn(text, action, clock.now());
  } catch (thrown) {
    throw awsFailure(thrown, { action, endpoint: url, caller: credentials === undefined ? 'the machine' : 'the ServiceAccount' });
  }
}

/** Undefined = the machine's own. */
function roleOf(
  { serviceAccountToken: token, serviceAccountAnnotations }: ImageRequest,
  { stsURL }: EcrRegistry,
  environment: EcrOptions['environment'],
): CredentialChain | undefined {
  const roleARN = serviceAccountAnnotations[ROLE_ANNOTATION] ?? environment.AWS_ECR_ROLE_ARN;
  if (token === undefined || roleARN === undefined) return undefined;
  return () => assumeRoleWithWebIdentity({ roleARN, token, url: endpointOf('sts', environment) ?? stsURL });
}

/** As the SDK reads them (docs.aws.amazon.com, "Service-specific endpoints"). */
function endpointOf(service: string, environment: EcrOptions['environment']): string | undefined {
  return environment[`AWS_ENDPOINT_URL_${service.toUpperCase().replace('-', '_')}`] ?? environment.AWS_ENDPOINT_URL;
}

/** Private registries are told in a list, public ones by themselves. */
function loginIn(text: string, action: string, now: number): Omit<RegistryCredentials, 'registries'> {
  const { authorizationData } = JSON.parse(text) as { authorizationData?: AuthorizationData | AuthorizationData[] };
  const { authorizationToken = '', expiresAt } = [authorizationData ?? []].flat()[0] ?? {};
  const [, username, password] = /^([^:]+):(.+)$/s.exec(Buffer.from(authorizationToken, 'base64').toString()) ?? [];
  if (username === undefined || password === undefined) throw new OperatorError('Unknown', `AWS, ${action}: the answer has no token`);
  return { username, password, cacheMs: expiresAt === undefined ? 0 : cacheMsOf(expiresAt * 1000, now) };
}
