import { parse } from 'yaml';
import { CloudProviderKind, validateSpec, type CloudProviderSpec } from '../../crds';
import { OperatorError, toOperatorError } from '../base/errors';
import { readSmallFile } from '../base/small-file';
import { isCloudConfig, parseCloudConfig } from '../../providers/aws/config/cloud-config';
import { isAzureJson, parseAzureJson } from '../../providers/azure/config/azure-json';
import { settingsOf } from '../../providers/azure/config/settings';
import { kindOf } from '../cloud/providers/registry';

/** The CloudProvider from the command line. */
export interface DefaultProvider {
  name: string;
  spec: CloudProviderSpec;
  /** What the file says without effect, in words. */
  warnings: string[];
}

/** What other flags say of it; absent = what the kind has by default. */
export interface ProviderFlags {
  routePeriod?: string | undefined;
  /** Upstream's name of the cluster, for clouds that name things by it. */
  clusterName?: string | undefined;
}

/**
 * The CloudProvider that `--cloud-provider` and `--cloud-config` make, named like its kind; empty texts count as absent.
 * @throws OperatorError Invalid when there is no file, it can't be read, or is no CloudProvider.spec of that kind
 */
export function defaultProviderOf(kind: string, file: string, flags: ProviderFlags = {}): DefaultProvider | undefined {
  if (kind === '') {
    if (file !== '') throw invalid('--cloud-config needs --cloud-provider: it is the configuration of that cloud');
    return undefined;
  }
  const format = Object.hasOwn(FORMATS, kind) ? FORMATS[kind] : undefined;
  if (file === '' && format?.withoutFile !== true)
    throw invalid(
      `--cloud-provider=${kind} needs --cloud-config: a file with the spec of a CloudProvider, such as "${kind}: {endpoint: …}"`,
    );
  return file === '' ? checked(kind, '', { settings: { [kind]: {} }, warnings: [] }, flags) : providerInFile(kind, textOf(file), flags);
}

/** A configuration file that was read. */
export interface ConfigFile {
  path: string;
  text: string;
}

/** @throws OperatorError Invalid when it can't be read */
export function textOf(path: string): ConfigFile {
  try {
    return { path, text: readSmallFile(path) };
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${toOperatorError(cause).message}`, { cause });
  }
}

/**
 * The same from a file that was read already.
 * @throws OperatorError Invalid when it is no CloudProvider.spec of that kind
 */
export function providerInFile(kind: string, file: ConfigFile, flags: ProviderFlags = {}): DefaultProvider {
  const format = Object.hasOwn(FORMATS, kind) ? FORMATS[kind] : undefined;
  return checked(kind, file.path, readConfig(file, format), flags);
}

function checked(kind: string, file: string, { settings, warnings }: Config, { routePeriod, clusterName }: ProviderFlags): DefaultProvider {
  const period = routePeriod === undefined ? {} : { routePeriod };
  const named = clusterName !== undefined && isMap(settings.azure) ? { azure: { clusterName, ...settings.azure } } : {};
  const validated = validateSpec(CloudProviderKind, { default: true, ...period, ...settings, ...named });
  if (!validated.ok) {
    const problems = validated.problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw invalid(`--cloud-config ${file}: ${problems}`);
  }
  const unknown = unknownFields(settings, validated.value, 'spec');
  if (unknown.length > 0) throw invalid(`--cloud-config ${file}: there is no field ${unknown.join(', ')}; remove it, or correct its name`);
  const configured = kindOf(validated.value);
  if (configured !== kind)
    throw invalid(
      `--cloud-config ${file}: is the configuration of a cloud of kind ${configured}, but the provider is to be ${kind}; name that one`,
    );
  return { name: kind, spec: validated.value, warnings };
}

/** Paths of what was given and is not in the checked value: the schema drops what it does not know. */
function unknownFields(given: unknown, checked: unknown, path: string): string[] {
  if (typeof given !== 'object' || given === null || typeof checked !== 'object' || checked === null) return [];
  return Object.entries(given).flatMap(([key, value]) => {
    const at = Array.isArray(given) ? `${path}[${key}]` : `${path}.${key}`;
    return key in checked ? unknownFields(value, (checked as Record<string, unknown>)[key], at) : [at];
  });
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a file says: fields of CloudProvider.spec, not checked yet. */
interface Config {
  settings: Record<string, unknown>;
  warnings: string[];
}

/** A file in the form that upstream's provider of the same cloud reads. */
interface ConfigFormat {
  /** Its cloud can do without any file, as upstream can. */
  withoutFile?: true;
  isOf(text: string): boolean;
  /** @throws OperatorError Invalid */
  read(file: ConfigFile): Config;
}

/** Clouds that take upstream's file too. */
const FORMATS: Readonly<Record<string, ConfigFormat>> = {
  aws: { withoutFile: true, isOf: isCloudConfig, read: readAws },
  azure: { isOf: isAzureJson, read: readAzure },
};

/** Who the operator is to Azure stays in the file, so that no secret of it comes into an object. */
function readAzure({ path, text }: ConfigFile): Config {
  const { config, warnings } = parseAzureJson(text);
  const { spec, warnings: more } = settingsOf(config);
  const azure = { ...spec.azure, credentials: { cloudConfigFile: path } };
  return { settings: { ...spec, azure }, warnings: [...warnings, ...more] };
}

function readAws({ text }: ConfigFile): Config {
  const { spec, warnings } = parseCloudConfig(text);
  return { settings: spec, warnings };
}

function readConfig(of: ConfigFile, format: ConfigFormat | undefined): Config {
  const { path: file, text } = of;
  if (format?.isOf(text) === true) return readFormat(of, format);
  try {
    const content: unknown = parse(text);
    if (content !== null && typeof content === 'object' && !Array.isArray(content)) {
      return { settings: content as Record<string, unknown>, warnings: [] };
    }
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${file}: not YAML or JSON: ${(cause as Error).message.split('\n')[0] ?? ''}`, {
      cause,
    });
  }
  throw invalid(`--cloud-config ${file}: must be a map of CloudProvider.spec fields, for example "local: {endpoint: …}"`);
}

function readFormat(file: ConfigFile, format: ConfigFormat): Config {
  try {
    return format.read(file);
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${file.path}: ${toOperatorError(cause).message}`, { cause });
  }
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
