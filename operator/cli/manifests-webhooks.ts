import { X509Certificate } from 'node:crypto';
import type { ManifestOptions, Webhooks } from '../../synth/manifests';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { unknownNames } from '../flags/controllers';
import { parseFlags } from '../flags/parse';
import { FLAGS, type FlagValues } from '../flags/table';
import { selectedWebhooks, WEBHOOK_NAMES } from '../flags/webhooks';

/** As commander reads them. */
export interface WebhookFlags {
  webhooks?: string;
  webhookCaBundle?: string;
  certManager?: boolean;
}

/**
 * Which webhooks the manifests set up, and by what their certificate is believed.
 * @param operatorFlags those that are passed on to the operator; they may say another port
 * @throws OperatorError Invalid for a name that there is not, or a CA that can't be read
 */
export function webhooksOf(
  { webhooks, webhookCaBundle, certManager }: WebhookFlags,
  operatorFlags: readonly string[],
): Pick<ManifestOptions, 'webhooks'> {
  if (webhooks === undefined) {
    const other = webhookCaBundle === undefined ? certManager && '--cert-manager' : '--webhook-ca-bundle';
    if (other === undefined || other === false) return {};
    throw invalid(`${other} is for --webhooks: say which ones`);
  }
  const list = webhooks.split(',').map((name) => name.trim());
  const [unknown] = unknownNames(list, WEBHOOK_NAMES, 'webhooks');
  if (unknown !== undefined) throw invalid(`--webhooks: ${unknown.message}; there are ${WEBHOOK_NAMES.join(', ')}`);
  const names = selectedWebhooks(list);
  if (names.length === 0) throw invalid(`--webhooks ${webhooks} selects none of ${WEBHOOK_NAMES.join(', ')}`);
  const { values } = parseFlags(FLAGS, operatorFlags);
  return { webhooks: { names, trust: trustOf(webhookCaBundle, certManager), port: (values as FlagValues)['webhook-secure-port'] } };
}

function trustOf(file: string | undefined, certManager: boolean | undefined): Webhooks['trust'] {
  if (certManager === true) return 'cert-manager';
  if (file === undefined)
    throw invalid('--webhooks needs --webhook-ca-bundle or --cert-manager: the API server believes no other certificate');
  try {
    const caBundle = readSmallFile(file);
    new X509Certificate(caBundle);
    return { caBundle };
  } catch (thrown) {
    throw invalid(`--webhook-ca-bundle ${file} is no certificate in PEM: ${toOperatorError(thrown).message}`, thrown);
  }
}

function invalid(message: string, cause?: unknown): OperatorError {
  return new OperatorError('Invalid', message, cause === undefined ? {} : { cause });
}
