import { OperatorError, toOperatorError } from '../base/errors';
import { CONTROLLER_NAMES, unknownNames, withoutAliases } from './controllers';
import { FeatureGates } from './feature-gates';
import { WEBHOOK_NAMES } from './webhooks';
import { formatGoDuration } from '../base/go-duration';
import { parseTlsOptions } from './tls';
import type { FlagValues } from './table';

/** client-go's factor of the random part in a retry. */
const JITTER_FACTOR = 1.2;
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/**
 * Checks what single flags can't: ranges, and flags against each other (contract 7.3).
 * @throws OperatorError Invalid with everything that is wrong, in Go's form of a list: `[a, b]`; what is wrong with logs goes first and alone
 */
export function validateFlags(values: FlagValues, command: { cloudProviderRequired?: boolean } = {}): void {
  throwAll(logProblems(values));
  throwAll(thrownBy(() => new FeatureGates(values['feature-gates'])));
  throwAll([
    ...unknownNames(withoutAliases(values.controllers), CONTROLLER_NAMES, 'controllers').map(({ message }) => message),
    ...electionProblems(values),
    ...(command.cloudProviderRequired === true && values['cloud-provider'] === '' ? ['--cloud-provider cannot be empty'] : []),
    ...clientProblems(values),
    ...rangeProblems(values),
    ...namespaceProblems(values),
    ...servingProblems(values),
    ...unknownNames(values.webhooks, WEBHOOK_NAMES, 'webhooks').map(({ message }) => message),
  ]);
}

function throwAll(problems: readonly string[]): void {
  const distinct = [...new Set(problems)];
  if (distinct.length === 1) throw new OperatorError('Invalid', distinct[0] ?? '');
  if (distinct.length > 1) throw new OperatorError('Invalid', `[${distinct.join(', ')}]`);
}

function logProblems(values: FlagValues): string[] {
  const format = values['logging-format'];
  const flush = values['log-flush-frequency'];
  return [
    ...(format === 'text' || format === 'json' ? [] : [`format: Invalid value: ${JSON.stringify(format)}: Unsupported log format`]),
    ...(flush > 0 ? [] : [`flushFrequency: Invalid value: "${formatGoDuration(flush)}": Must be greater than zero`]),
    ...(format === 'json' && values.vmodule !== '' ? ['vmodule: Forbidden: Only supported for text log format'] : []),
  ];
}

function electionProblems(values: FlagValues): string[] {
  if (!values['leader-elect']) return [];
  const lease = values['leader-elect-lease-duration'];
  const deadline = values['leader-elect-renew-deadline'];
  const retry = values['leader-elect-retry-period'];
  return [
    ...(values['leader-elect-resource-lock'] === 'leases' ? [] : ['resourceLock value must be "leases"']),
    ...(lease > 0 ? [] : ['leaseDuration must be greater than zero']),
    ...(deadline > 0 ? [] : ['renewDeadline must be greater than zero']),
    ...(retry > 0 ? [] : ['retryPeriod must be greater than zero']),
    ...(lease > deadline ? [] : ['leaseDuration must be greater than renewDeadline']),
    ...(deadline > JITTER_FACTOR * retry ? [] : ['renewDeadline must be greater than retryPeriod*JitterFactor']),
    ...(values['leader-elect-resource-name'] === '' ? ['resourceName is required'] : []),
    ...(values['leader-elect-resource-namespace'] === '' ? ['resourceNamespace is required'] : []),
  ];
}

function clientProblems(values: FlagValues): string[] {
  if (values['kube-api-qps'] <= 0 || values['kube-api-burst'] > 0) return [];
  return ['burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0'];
}

function rangeProblems(values: FlagValues): string[] {
  const between = (name: NumberFlag, low: number, high: number): string[] =>
    values[name] >= low && values[name] <= high ? [] : [`--${name} must be a whole number from ${low} to ${high}`];
  const positive = (name: NumberFlag): string[] => (values[name] > 0 ? [] : [`--${name} must be greater than 0`]);
  return [
    ...between('workers', 1, 64),
    ...between('update-memory', 256, 65536),
    ...between('retry-failures', 1, 1000),
    ...between('port', -1, 65535),
    ...positive('node-monitor-period'),
    ...positive('route-reconciliation-period'),
    ...positive('node-status-update-frequency'),
    ...positive('update-deadline'),
    ...positive('retry-period'),
    ...positive('concurrent-service-syncs'),
    ...nodeConcurrencyProblems(values),
  ];
}

/** In upstream's words (contract 3.1, 4). */
function nodeConcurrencyProblems(values: FlagValues): string[] {
  const lifecycle = values['concurrent-node-lifecycle-syncs'];
  return [
    ...(values['concurrent-node-syncs'] > 0 ? [] : ['concurrent-node-syncs must be a positive number']),
    ...(values['concurrent-node-status-updates'] < 0 ? ['concurrent-node-status-updates must be a non-negative number'] : []),
    ...(lifecycle < 1 ? [`concurrent-node-lifecycle-syncs must be at least 1, but got ${lifecycle}`] : []),
  ];
}

/** A name that no Namespace can have would be asked for again and again. */
function namespaceProblems(values: FlagValues): string[] {
  return (['namespace', 'state-namespace'] as const)
    .filter((name) => !(name === 'state-namespace' && values[name] === '') && !NAMESPACE.test(values[name]))
    .map((name) => `--${name} ${JSON.stringify(values[name])} is no name for a Namespace: lower-case letters, digits and "-", at most 63`);
}

type NumberFlag = { [N in keyof FlagValues]: FlagValues[N] extends number ? N : never }[keyof FlagValues];

function servingProblems(values: FlagValues): string[] {
  const securePort = values['secure-port'];
  const webhookPort = values['webhook-secure-port'];
  return [
    ...portProblems('secure-port', securePort),
    ...portProblems('webhook-secure-port', webhookPort),
    ...(securePort !== 0 && securePort === webhookPort ? ['--webhook-secure-port cannot be the same value as --secure-port'] : []),
    ...(values.ui && securePort === 0 ? ['--ui needs --secure-port: the page is served over HTTPS only'] : []),
    ...(['requestheader-username-headers', 'requestheader-group-headers', 'requestheader-extra-headers-prefix'] as const)
      .filter((name) => values[name].some((header) => header.trim() === ''))
      .map((name) => `empty value in ${JSON.stringify(name)}`),
    ...thrownBy(() => parseTlsOptions(values, '')),
    ...thrownBy(() => parseTlsOptions(values, 'webhook-')),
  ];
}

function portProblems(name: string, port: number): string[] {
  if (port > 65535) return [`--${name} ${port} must be between 1 and 65535, inclusive. It cannot be turned off with 0`];
  return port < 0 ? [`--${name} ${port} must be between 0 and 65535, inclusive. 0 for turning off secure port`] : [];
}

function thrownBy(run: () => unknown): string[] {
  try {
    run();
    return [];
  } catch (thrown) {
    return [toOperatorError(thrown).message];
  }
}
