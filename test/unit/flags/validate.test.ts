import { FeatureGates } from '../../../operator/flags/feature-gates';
import { parseFlags } from '../../../operator/flags/parse';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';
import { parseTlsOptions } from '../../../operator/flags/tls';
import { validateFlags } from '../../../operator/flags/validate';

function valuesOf(...args: string[]): FlagValues {
  return parseFlags(FLAGS, args).values as FlagValues;
}

function problemOf(...args: string[]): string | undefined {
  try {
    validateFlags(valuesOf(...args), { cloudProviderRequired: true });
    return undefined;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

test('the defaults and a cloud are enough', () => {
  expect(problemOf('--cloud-provider=local')).toBeUndefined();
});

test.each<[string[], string]>([
  [[], '--cloud-provider cannot be empty'],
  [['--cloud-provider=local', '--leader-elect-resource-lock=endpoints'], 'resourceLock value must be "leases"'],
  [['--cloud-provider=local', '--leader-elect-renew-deadline=15s'], 'leaseDuration must be greater than renewDeadline'],
  [['--cloud-provider=local', '--leader-elect-retry-period=9s'], 'renewDeadline must be greater than retryPeriod*JitterFactor'],
  [
    ['--cloud-provider=local', '--secure-port=-1'],
    '--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port',
  ],
  [
    ['--cloud-provider=local', '--secure-port=99999'],
    '--secure-port 99999 must be between 1 and 65535, inclusive. It cannot be turned off with 0',
  ],
  [['--cloud-provider=local', '--secure-port=10260'], '--webhook-secure-port cannot be the same value as --secure-port'],
  [['--cloud-provider=local', '--tls-min-version=VersionTLS99'], 'unknown tls version "VersionTLS99"'],
  [['--cloud-provider=local', '--tls-cipher-suites=abc'], "Cipher suite abc not supported or doesn't exist"],
  [['--cloud-provider=local', '--tls-cert-file=a'], 'missing filename for serving key: --tls-private-key-file'],
  [['--cloud-provider=local', '--logging-format=xml'], 'format: Invalid value: "xml": Unsupported log format'],
  [['--cloud-provider=local', '--logging-format=json', '--vmodule=a=1'], 'vmodule: Forbidden: Only supported for text log format'],
  [['--cloud-provider=local', '--log-flush-frequency=0s'], 'flushFrequency: Invalid value: "0s": Must be greater than zero'],
  [
    ['--cloud-provider=local', '--kube-api-burst=0'],
    'burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than 0',
  ],
  [['--cloud-provider=local', '--update-deadline=0s'], '--update-deadline must be greater than 0'],
  [['--cloud-provider=local', '--node-monitor-period=0s'], '--node-monitor-period must be greater than 0'],
  [['--cloud-provider=local', '--retry-period=0s'], '--retry-period must be greater than 0'],
  [
    ['--cloud-provider=local', '--namespace=A_B'],
    '--namespace "A_B" is no name for a Namespace: lower-case letters, digits and "-", at most 63',
  ],
  [
    ['--cloud-provider=local', `--state-namespace=${'x'.repeat(64)}`],
    `--state-namespace "${'x'.repeat(64)}" is no name for a Namespace: lower-case letters, digits and "-", at most 63`,
  ],
  [['--cloud-provider=local', '--webhooks=x'], '"x" is not in the list of known webhooks'],
  [['--cloud-provider=local', '--feature-gates=Nope=true'], 'unrecognized feature gate: Nope'],
  [['--cloud-provider=local', '--feature-gates=AllAlpha'], 'missing bool value for AllAlpha'],
  [
    ['--cloud-provider=local', '--feature-gates=AllAlpha=maybe'],
    'invalid value of AllAlpha=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
  ],
  [
    ['--controllers=red-controller,-blue', '--secure-port=-1'],
    '["red-controller" is not in the list of known controllers, "blue" is not in the list of known controllers, --cloud-provider cannot be empty, --secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off secure port]',
  ],
  [['--cloud-provider=local', '--concurrent-node-syncs=-5'], 'concurrent-node-syncs must be a positive number'],
  [['--cloud-provider=local', '--concurrent-node-syncs=0'], 'concurrent-node-syncs must be a positive number'],
  [['--cloud-provider=local', '--concurrent-node-status-updates=-1'], 'concurrent-node-status-updates must be a non-negative number'],
  [['--cloud-provider=local', '--concurrent-node-lifecycle-syncs=0'], 'concurrent-node-lifecycle-syncs must be at least 1, but got 0'],
])('%j: %s', (args, message) => {
  expect(problemOf(...args)).toBe(message);
});

test('C-LIFE-14 C-NODE-24 five workers are fine', () => {
  const workers = ['--concurrent-node-lifecycle-syncs=5', '--concurrent-node-syncs=5', '--concurrent-node-status-updates=5'];
  expect(problemOf('--cloud-provider=local', ...workers)).toBeUndefined();
});

test('without an election its durations don’t matter', () => {
  expect(problemOf('--cloud-provider=local', '--leader-elect=false', '--leader-elect-lease-duration=1s')).toBeUndefined();
});

test('feature gates: by name, by stage, with a component, the last one counts', () => {
  const has = (...settings: string[]): boolean => new FeatureGates(settings).has('CloudControllerManagerWebhook');
  expect(has()).toBe(false);
  expect(has('CloudControllerManagerWebhook=true')).toBe(true);
  expect(has('kube:CloudControllerManagerWebhook=true')).toBe(true);
  expect(has('AllAlpha=true')).toBe(true);
  expect(has('AllAlpha=true', 'CloudControllerManagerWebhook=false')).toBe(false);
  expect(has('CloudControllerManagerWebhook=true', 'CloudControllerManagerWebhook=false')).toBe(false);
});

test('TLS: Go’s names become OpenSSL’s', () => {
  const values = valuesOf(
    '--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,TLS_RSA_WITH_AES_256_CBC_SHA,TLS_AES_128_GCM_SHA256',
    '--tls-curve-preferences=X25519,CurveP256,24',
    '--tls-min-version=VersionTLS12',
    '--webhook-cert-dir=/certs',
  );
  expect(parseTlsOptions(values, '')).toEqual({
    named: [],
    minVersion: 'TLSv1.2',
    ciphers: ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305', 'AES256-SHA', 'TLS_AES_128_GCM_SHA256'],
    curves: ['X25519', 'prime256v1', 'secp384r1'],
  });
  expect(parseTlsOptions(values, 'webhook-')).toEqual({ named: [], directory: '/certs' });
});
