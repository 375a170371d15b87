import { parse } from 'yaml';
import { CloudProviderKind, validateSpec, type CloudProviderSpec } from '../../crds';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { kindOf } from '../cloud/registry';

/** The CloudProvider from the command line. */
export interface DefaultProvider {
  name: string;
  spec: CloudProviderSpec;
}

/**
 * The CloudProvider that `--cloud-provider` and `--cloud-config` make, named like its kind; empty texts count as absent.
 * @throws OperatorError Invalid when there is no file, it can't be read, or is no CloudProvider.spec of that kind
 */
export function defaultProviderOf(kind: string, file: string, routePeriod: string | undefined): DefaultProvider | undefined {
  if (kind === '') {
    if (file !== '') throw invalid('--cloud-config needs --cloud-provider: it is the configuration of that cloud');
    return undefined;
  }
  if (file === '')
    throw invalid(
      `--cloud-provider=${kind} needs --cloud-config: a file with the spec of a CloudProvider, such as "${kind}: {endpoint: …}"`,
    );
  const settings = readConfig(file);
  const period = routePeriod === undefined ? {} : { routePeriod };
  const checked = validateSpec(CloudProviderKind, { default: true, ...period, ...settings });
  if (!checked.ok) {
    const problems = checked.problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw invalid(`--cloud-config ${file}: ${problems}`);
  }
  const unknown = unknownFields(settings, checked.value, 'spec');
  if (unknown.length > 0) throw invalid(`--cloud-config ${file}: there is no field ${unknown.join(', ')}; remove it, or correct its name`);
  const configured = kindOf(checked.value);
  if (configured !== kind)
    throw invalid(`--cloud-provider=${kind}: the configuration is one of a ${configured} cloud; write --cloud-provider=${configured}`);
  return { name: kind, spec: checked.value };
}

/** Paths of what was given and is not in the checked value: the schema drops what it does not know. */
function unknownFields(given: unknown, checked: unknown, path: string): string[] {
  if (typeof given !== 'object' || given === null || typeof checked !== 'object' || checked === null) return [];
  return Object.entries(given).flatMap(([key, value]) => {
    const at = Array.isArray(given) ? `${path}[${key}]` : `${path}.${key}`;
    return key in checked ? unknownFields(value, (checked as Record<string, unknown>)[key], at) : [at];
  });
}

function readConfig(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readSmallFile(file);
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${toOperatorError(cause).message}`, { cause });
  }
  try {
    const content: unknown = parse(text);
    if (content !== null && typeof content === 'object' && !Array.isArray(content)) return content as Record<string, unknown>;
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${file}: not YAML or JSON: ${(cause as Error).message.split('\n')[0] ?? ''}`, {
      cause,
    });
  }
  throw invalid(`--cloud-config ${file}: must be a map of CloudProvider.spec fields, for example "local: {endpoint: …}"`);
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
