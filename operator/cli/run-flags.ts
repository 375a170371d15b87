import { readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { parse } from 'yaml';
import { CloudProviderKind, validateSpec, type CloudProviderSpec } from '../../crds';
import { ensureTools } from '../../tools/ensure';
import { parseDuration } from '../base/duration';
import { OperatorError } from '../base/errors';
import { kindOf } from '../cloud/registry';
import type { LeaderElection, OperatorOptions } from '../options';
import { findExtension } from '../updates/extension-module';
import { VALIDITY_MS } from '../updates/worker-process';
import { programVersion } from './version';

/** Runs the operator until it is told to stop. @throws OperatorError Invalid on a flag or file that can't be used */
export async function runFromFlags(flags: Record<string, string>): Promise<void> {
  const { pulumi } = await ensureTools(['pulumi']);
  const options = optionsOf(flags, pulumi);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  const { runOperator } = await import('../main.js');
  await runOperator(options, stop.signal);
}

/** Flags as text → options. Pure but for reading the cloud configuration file. */
export function optionsOf(flags: Record<string, string>, pulumi: string): OperatorOptions {
  const provider = defaultProviderOf(flags.cloudProvider, flags.cloudConfig);
  return {
    ...(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig }),
    ...(flags.context === undefined ? {} : { context: flags.context }),
    ...(provider === undefined ? {} : { defaultProvider: provider }),
    ...(flags.extension === undefined ? {} : { extension: findExtension(flags.extension, process.cwd()) }),
    version: programVersion(),
    namespace: required(flags, 'namespace'),
    stateStore: stateStoreOf(flags),
    pulumi,
    clusterCIDRs: (flags.clusterCidr ?? '').split(',').filter(Boolean).map(checkCidr),
    configureCloudRoutes: booleanOf(flags, 'configureCloudRoutes'),
    ...(booleanOf(flags, 'leaderElect') ? { leaderElection: leaderElectionOf(flags) } : {}),
    workers: integerOf(flags, 'workers', 1, 64),
    updateDeadlineMs: durationOf(flags, 'updateDeadline'),
    updateMemoryMB: integerOf(flags, 'updateMemory', 256, 65536),
    retryBudget: { failures: integerOf(flags, 'retryFailures', 1, 1000), ms: durationOf(flags, 'retryPeriod') },
    nodeMonitorPeriodMs: durationOf(flags, 'nodeMonitorPeriod'),
    nodeDeletionGraceMs: durationOf(flags, 'nodeDeletionGrace'),
    bindAddress: required(flags, 'bindAddress'),
    port: integerOf(flags, 'port', 0, 65535),
    logLevel: required(flags, 'logLevel'),
  };
}

/** A worker writes on for some time after the operator's last word, and must have ended before anybody else gets the Lease. */
function leaderElectionOf(flags: Record<string, string>): LeaderElection {
  const leaseDurationMs = durationOf(flags, 'leaderElectLeaseDuration');
  const renewDeadlineMs = durationOf(flags, 'leaderElectRenewDeadline');
  const retryPeriodMs = durationOf(flags, 'leaderElectRetryPeriod');
  if (leaseDurationMs - renewDeadlineMs <= VALIDITY_MS) {
    const least = VALIDITY_MS / 1000;
    throw invalid(`--leader-elect-lease-duration must be more than ${least} s longer than --leader-elect-renew-deadline`);
  }
  const lease = `${required(flags, 'leaderElectResourceNamespace')}/${required(flags, 'leaderElectResourceName')}`;
  return { lease, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function stateStoreOf(flags: Record<string, string>): OperatorOptions['stateStore'] {
  if (required(flags, 'stateStore') === 'directory') return { kind: 'Directory', path: required(flags, 'stateDirectory') };
  return { kind: 'Cluster', namespace: flags.stateNamespace ?? required(flags, 'namespace') };
}

function defaultProviderOf(kind: string | undefined, file: string | undefined): { name: string; spec: CloudProviderSpec } | undefined {
  if (kind === undefined) {
    if (file !== undefined) throw invalid('--cloud-config needs --cloud-provider: it is the configuration of that cloud');
    return undefined;
  }
  const settings = file === undefined ? {} : readConfig(file);
  const checked = validateSpec(CloudProviderKind, { default: true, ...settings });
  if (!checked.ok) {
    const problems = checked.problems.map(({ field, message }) => `${field}: ${message}`).join('; ');
    throw invalid(`--cloud-config ${file ?? '(none)'}: ${problems}`);
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
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw new OperatorError('Invalid', `--cloud-config ${file}: cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'error'})`, {
      cause,
    });
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

function required(flags: Record<string, string>, name: string): string {
  const value = flags[name];
  if (value === undefined || value === '') throw invalid(`--${flagName(name)} must not be empty`);
  return value;
}

function booleanOf(flags: Record<string, string>, name: string): boolean {
  const value = required(flags, name).toLowerCase();
  if (['true', '1', 't'].includes(value)) return true;
  if (['false', '0', 'f'].includes(value)) return false;
  throw invalid(`--${flagName(name)} must be true or false, not "${value}"`);
}

function integerOf(flags: Record<string, string>, name: string, low: number, high: number): number {
  const value = Number(required(flags, name));
  if (!Number.isInteger(value) || value < low || value > high)
    throw invalid(`--${flagName(name)} must be a whole number from ${low} to ${high}`);
  return value;
}

function durationOf(flags: Record<string, string>, name: string): number {
  try {
    return parseDuration(required(flags, name));
  } catch (thrown) {
    throw invalid(`--${flagName(name)}: ${(thrown as Error).message}`);
  }
}

function checkCidr(text: string): string {
  if (!ipaddr.isValidCIDR(text.trim())) throw invalid(`--cluster-cidr: "${text}" is not a CIDR such as 10.244.0.0/16`);
  return text.trim();
}

function flagName(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function invalid(message: string): OperatorError {
  return new OperatorError('Invalid', message);
}
