import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { OperatorError, toOperatorError } from '../base/errors';
import type { KubeApi } from '../kube/api';
import type { KubeObject, ResourcePath } from '../kube/object';
import type { AuthenticationOptions, RequestHeaderOptions } from './options';

const CONFIG_MAPS: ResourcePath = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const LOOKUP = 'kube-system/extension-apiserver-authentication';

/** Whose certificates count for what. */
export interface ClientTrust {
  /** PEM of the CAs whose certificates name users. */
  clientCA: string;
  /** PEM of the CAs of proxies that name users in headers. */
  proxyCA: string;
  requestHeader: RequestHeaderOptions;
}

/**
 * The CAs of clients from the flags' files, and what they leave open from the ConfigMap extension-apiserver-authentication (as every
 * server of Kubernetes that delegates authentication has it).
 * @param api absent = nothing is looked up
 * @throws OperatorError Invalid for a file that can't be used; what the look-up throws, unless it is tolerated
 */
export async function readClientTrust(options: AuthenticationOptions, api: KubeApi | undefined): Promise<ClientTrust> {
  const { requestHeader, clientCAFile } = options;
  const own: ClientTrust = {
    clientCA: clientCAFile === undefined ? '' : readBundle(clientCAFile, 'unable to load client CA provider'),
    proxyCA: requestHeader.caFile === undefined ? '' : readBundle(requestHeader.caFile, 'unable to load requestheader CA'),
    requestHeader,
  };
  if (api === undefined || !looksUpCAs(options)) return own;
  const found = await lookUp(api, options.tolerateLookupFailure);
  return {
    ...(own.proxyCA === '' && found['requestheader-client-ca-file'] !== undefined
      ? { proxyCA: found['requestheader-client-ca-file'], requestHeader: requestHeaderOf(found) }
      : { proxyCA: own.proxyCA, requestHeader }),
    clientCA: own.clientCA === '' ? (found['client-ca-file'] ?? '') : own.clientCA,
  };
}

/** Whether anything is left open that the ConfigMap may say. */
export function looksUpCAs({ skipLookup, clientCAFile, requestHeader }: AuthenticationOptions): boolean {
  return !skipLookup && (clientCAFile === undefined || requestHeader.caFile === undefined);
}

type Data = Record<string, string | undefined>;

async function lookUp(api: KubeApi, tolerate: boolean): Promise<Data> {
  try {
    return (await api.get<KubeObject & { data?: Data }>(CONFIG_MAPS, LOOKUP))?.data ?? {};
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (tolerate) return {};
    throw new OperatorError(error.code, `unable to load the ConfigMap ${LOOKUP}: ${error.message}`, {
      cause: error,
      remedy:
        'Bind the Role extension-apiserver-authentication-reader in kube-system, or set --authentication-tolerate-lookup-failure or --authentication-skip-lookup.',
    });
  }
}

function requestHeaderOf(data: Data): RequestHeaderOptions {
  return {
    allowedNames: listOf(data['requestheader-allowed-names']),
    usernameHeaders: listOf(data['requestheader-username-headers']),
    groupHeaders: listOf(data['requestheader-group-headers']),
    extraHeaderPrefixes: listOf(data['requestheader-extra-headers-prefix']),
    uidHeaders: listOf(data['requestheader-uid-headers']),
  };
}

/** The ConfigMap holds its lists as JSON. */
function listOf(json: string | undefined): string[] {
  if (json === undefined || json === '') return [];
  const list: unknown = JSON.parse(json);
  return Array.isArray(list) ? list.map(String) : [];
}

function readBundle(file: string, what: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    certificatesIn(text);
    return text;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem = code === 'ENOENT' ? 'no such file or directory' : message;
    throw new OperatorError('Invalid', `${what}: open ${file}: ${problem}`, { cause });
  }
}

/** The certificates of a PEM text. @throws Error when one can't be read */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
