import { request as send, type Dispatcher } from 'undici';
import { systemClock, type Clock } from '../../../operator/base/clock';
import { codeOfHttpStatus, OperatorError, toOperatorError } from '../../../operator/base/errors';
import { cacheMsOf, registryOf, type ImageRequest, type RegistryCredentials } from '../../registry-credentials';
import { retry } from '../../retry';
import { retryAfterMs } from '../client/arm-answer';
import { AzureTokens } from '../client/tokens';
import type { AzureJson } from '../config/azure-json';
import { findEndpoints } from '../config/endpoints';
import { type NodeVariables, pullIdentity } from './pull-identity';
import { isAcr } from './acr-registry';

/** For whom tokens are made out that registries take, in every cloud. */
const RESOURCE = 'https://containerregistry.azure.net';
/** Who comes with a token in place of a password (learn.microsoft.com, "Authenticate with an Azure container registry"). */
const TOKEN_USER = '00000000-0000-0000-0000-000000000000';
/** Of a token that does not say when it ends. */
const SHORT_MS = 5 * 60_000;
/** The kubelet waits for a minute, and the token of Microsoft Entra ID takes its time too. */
const BUDGET_MS = 20_000;
const TIMEOUT_MS = 10_000;

export interface AcrOptions {
  /** Of the node. */
  config: AzureJson;
  environment: NodeVariables;
  /** mirrorsIn. */
  mirrors?: ReadonlyMap<string, string>;
  clock?: Clock;
  dispatcher?: Dispatcher;
}

/**
 * What lets a kubelet pull an image from a registry of Azure's: a token for the registry, by the identity of the machine, of the azure.json, or of the
 * Pod's ServiceAccount, where the kubelet sends its token.
 * @returns undefined for an image that is of another registry
 * @throws OperatorError Credentials when Azure refuses, Transient when nobody answers
 */
export async function acrCredentials(request: ImageRequest, options: AcrOptions): Promise<RegistryCredentials | undefined> {
  const { config, environment, mirrors = new Map<string, string>(), clock = systemClock, dispatcher } = options;
  const host = registryOf(request.image);
  const registry = mirrors.get(host) ?? host;
  const { login, audience, registrySuffix } = await findEndpoints(config, dispatcher);
  if (!isAcr(registry, registrySuffix)) return undefined;
  const credentials = await pullIdentity(request, config, environment);
  const { AZURE_POD_IDENTITY_AUTHORITY_HOST: metadataService } = environment;
  const tokens = new AzureTokens({
    credentials,
    endpoints: { login, audience, resource: RESOURCE },
    clock,
    ...(metadataService !== undefined && metadataService !== '' && { metadataService: metadataService.replace(/\/+$/, '') }),
    ...(dispatcher !== undefined && { dispatcher }),
  });
  const { value } = await tokens.token();
  const tenant = 'tenantID' in credentials ? credentials.tenantID : config.tenantId;
  const password = await retry(
    { clock, random: Math.random, budgetMs: BUDGET_MS },
    () => exchanged(value, { registry, tenant, now: clock.now(), dispatcher }),
    ({ code }) => code === 'Transient' || code === 'Throttled',
  );
  const registries = registry === host ? [host] : [registry, host];
  return { registries, username: TOKEN_USER, password, cacheMs: cacheMsOf(endOf(password) ?? clock.now() + 2 * SHORT_MS, clock.now()) };
}

/** The registry's own token for one of Microsoft Entra ID's (github.com/Azure/acr, docs/AAD-OAuth.md). */
async function exchanged(
  token: string,
  { registry, tenant, now, dispatcher }: { registry: string; tenant: string | undefined; now: number; dispatcher: Dispatcher | undefined },
): Promise<string> {
  const form = new URLSearchParams({ grant_type: 'access_token', service: registry, access_token: token });
  if (tenant !== undefined) form.set('tenant', tenant);
  const answer = await send(`https://${registry}/oauth2/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: form.toString(),
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    ...(dispatcher !== undefined && { dispatcher }),
  }).catch((cause: unknown) => {
    const { code, message } = toOperatorError(cause);
    throw failure(registry, code, message, { cause, remedy: 'Check its name, and the way to it.' });
  });
  const body = (await answer.body.json().catch(() => ({}))) as { refresh_token?: unknown; errors?: { code?: string; message?: string }[] };
  if (answer.statusCode < 300 && typeof body.refresh_token === 'string') return body.refresh_token;
  const { code = `HTTP status ${answer.statusCode}`, message } = body.errors?.[0] ?? {};
  const wait = retryAfterMs(answer, now);
  throw failure(registry, codeOfHttpStatus(answer.statusCode), [code, message].filter(Boolean).join(': '), {
    ...(wait !== undefined && { retryAfterMs: wait }),
    remedy: 'Give the identity the role AcrPull on the registry, and check that both are of the same tenant.',
  });
}

function failure(
  registry: string,
  code: OperatorError['code'],
  what: string,
  detail: { remedy: string; cause?: unknown; retryAfterMs?: number },
): OperatorError {
  return new OperatorError(code, `Azure, a token of the registry ${registry}: ${what}. ${detail.remedy}`, detail);
}

/** When a token of a registry ends, in milliseconds since 1970; undefined where it doesn't say. */
function endOf(token: string): number | undefined {
  try {
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { exp?: unknown };
    return typeof exp === 'number' ? exp * 1000 : undefined;
  } catch {
    return undefined;
  }
}
