import { z } from 'zod';
import type { ImageRequest, RegistryCredentials } from '../../providers/registry-credentials';
import { OperatorError } from '../base/errors';
import { formatGoDuration } from '../base/go-duration';

/** The kubelet's protocol with its plugins (kubernetes.io, "Kubelet CredentialProvider (v1)"). */
const API_VERSION = 'credentialprovider.kubelet.k8s.io/v1';

const requestSchema = z.object({
  image: z.string().min(1),
  serviceAccountToken: z.string().optional(),
  serviceAccountAnnotations: z.record(z.string(), z.string()).nullish(),
});

/**
 * What the kubelet asks on standard input. Pure.
 * @throws OperatorError Invalid where it is something else, such as another version
 */
export function readRequest(text: string): ImageRequest {
  const request = jsonIn(text);
  const { kind, apiVersion } = request as { kind?: unknown; apiVersion?: unknown };
  if (kind !== 'CredentialProviderRequest')
    throw invalid('standard input is no CredentialProviderRequest', 'It is for the kubelet; see --help.');
  if (apiVersion !== API_VERSION) {
    throw invalid(
      `the kubelet asks in version ${JSON.stringify(apiVersion)}`,
      `Set apiVersion: ${API_VERSION} in its CredentialProviderConfig.`,
    );
  }
  const { data, error } = requestSchema.safeParse(request);
  if (data === undefined)
    throw invalid(`the kubelet's request: ${error.issues[0]?.path.join('.')} can't be read`, 'It is for the kubelet; see --help.');
  const { image, serviceAccountToken: token, serviceAccountAnnotations } = data;
  return {
    image,
    ...(token !== undefined && token !== '' && { serviceAccountToken: token }),
    serviceAccountAnnotations: serviceAccountAnnotations ?? {},
  };
}

/**
 * The answer on standard output. Pure.
 * @param credentials undefined = the image is not of a registry of this cloud's; the kubelet keeps that as long as it was told to
 */
export function responseOf(credentials: RegistryCredentials | undefined): string {
  const { registries = [], username, password, cacheMs } = credentials ?? {};
  return JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion: API_VERSION,
    cacheKeyType: 'Registry',
    ...(cacheMs !== undefined && { cacheDuration: formatGoDuration(cacheMs) }),
    auth: Object.fromEntries(registries.map((registry) => [registry, { username, password }])),
  });
}

function jsonIn(text: string): object {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}

function invalid(what: string, remedy: string): OperatorError {
  return new OperatorError('Invalid', `${what}. ${remedy}`, { remedy });
}
