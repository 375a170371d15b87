import { loadProvider } from '../../providers/registry';
import type { ManifestOptions } from '../../synth/manifests';
import { OperatorError, toOperatorError } from '../base/errors';
import { providerInFile, textOf } from './default-provider';

/**
 * The default CloudProvider that the manifests bring along: its file as it is, for the operator to read. Warnings go to standard error.
 * @throws OperatorError Invalid for whatever the operator would refuse: a kind that there is not, a file that is no configuration of it
 */
export async function flagProviderOf(kind: string, path: string): Promise<NonNullable<ManifestOptions['provider']>> {
  await loadProvider(kind).catch((thrown: unknown) => {
    const { message } = toOperatorError(thrown);
    throw new OperatorError('Invalid', `--provider: ${message}`, { cause: thrown });
  });
  const file = textOf(path);
  for (const warning of providerInFile(kind, file).warnings) process.stderr.write(`cloud-operator: --cloud-config ${path}: ${warning}\n`);
  return { kind, config: file.text };
}
