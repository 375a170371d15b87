import type { LocalProviderSettings } from '../../crds';
import { OperatorError, toOperatorError } from '../../operator/base/errors';
import { readSmallFile } from '../../operator/base/small-file';
import type { ConnectContext } from '../provider';

const MAX_KIB = 64;
const REMEDY = 'The local cloud writes it when it starts; name that file.';

/**
 * Reads the API token from where the settings say.
 * @throws OperatorError Invalid naming the field, when there is no token there
 */
export async function readToken({ tokenFile, tokenSecretRef }: LocalProviderSettings, context: ConnectContext): Promise<string> {
  const [field, text] =
    tokenFile !== undefined
      ? ['spec.local.tokenFile', readTokenFile(tokenFile)]
      : ['spec.local.tokenSecretRef', await readTokenSecret(tokenSecretRef, context)];
  const token = text.trim();
  if (token === '') throw new OperatorError('Invalid', `${field}: the token is empty`, { field });
  // What is no token may be somebody's secret: it is neither sent nor told.
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new OperatorError('Invalid', `${field}: a token is one line of printable characters without spaces; what is there is no token`, {
      field,
    });
  }
  return token;
}

/** Anyone who may write a CloudProvider chooses the path. */
function readTokenFile(path: string): string {
  try {
    return readSmallFile(path, { maxKiB: MAX_KIB, regular: true });
  } catch (cause) {
    const field = 'spec.local.tokenFile';
    throw new OperatorError('Invalid', `${field}: ${toOperatorError(cause).message}. ${REMEDY}`, { field, remedy: REMEDY, cause });
  }
}

async function readTokenSecret(ref: LocalProviderSettings['tokenSecretRef'], context: ConnectContext): Promise<string> {
  if (ref !== undefined) return (await context.readSecret(ref.name, [ref.key]))[0] ?? '';
  const field = 'spec.local';
  throw new OperatorError('Invalid', `CloudProvider ${context.providerName} says nowhere where the API token is`, {
    field,
    remedy: 'Set spec.local.tokenSecretRef or spec.local.tokenFile.',
  });
}
