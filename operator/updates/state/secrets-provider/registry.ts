import { OperatorError } from '../../../base/errors';
import { AWSKMS } from './awskms';
import type { KeyEncryptionKey, SecretsProvider } from './secrets-provider';

/** No KMS: the data keys are stored as they are. */
export const DEFAULT_SECRETS_PROVIDER = 'default';

const PROVIDERS: readonly SecretsProvider[] = [AWSKMS];

/**
 * The key that wraps the data keys.
 * @param url as `--secrets-provider` takes it: `default`, or a URL in Pulumi's syntax
 * @returns undefined for `default`
 * @throws OperatorError Invalid for an unknown scheme, naming those that are known, and for a URL that names no key
 */
export function keyEncryptionKey(url: string): KeyEncryptionKey | undefined {
  if (url === DEFAULT_SECRETS_PROVIDER) return undefined;
  const provider = PROVIDERS.find(({ scheme }) => url.startsWith(`${scheme}://`));
  if (provider !== undefined) return provider.key(url);
  const known = [DEFAULT_SECRETS_PROVIDER, ...PROVIDERS.map(({ syntax }) => syntax)].join(', ');
  throw new OperatorError('Invalid', `secrets provider "${url}" is unknown`, { remedy: `known are ${known}` });
}

/** @returns `url` @throws OperatorError as keyEncryptionKey does */
export function knownSecretsProvider(url: string): string {
  keyEncryptionKey(url);
  return url;
}
