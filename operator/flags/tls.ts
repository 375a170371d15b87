import { getCurves } from 'node:crypto';
import { getCiphers } from 'node:tls';
import { OperatorError } from '../base/errors';
import type { TlsOptions } from '../server/options';
import type { FlagValues } from './table';

const VERSIONS: Record<string, NonNullable<TlsOptions['minVersion']>> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** Go's names and numbers of the key exchanges → OpenSSL's. */
const CURVES: Record<string, string> = {
  ...{ CurveP256: 'prime256v1', '23': 'prime256v1', CurveP384: 'secp384r1', '24': 'secp384r1' },
  ...{ CurveP521: 'secp521r1', '25': 'secp521r1', X25519: 'X25519', '29': 'X25519' },
  ...{ X25519MLKEM768: 'X25519MLKEM768', '4588': 'X25519MLKEM768' },
};

/**
 * Reads the TLS flags of the server whose flags have this prefix.
 * @throws OperatorError Invalid for an unknown version, suite or curve, or half a pair of files
 */
export function parseTlsOptions(values: FlagValues, prefix: '' | 'webhook-'): TlsOptions {
  const of = <N extends TlsFlagName>(name: N): FlagValues[N] => values[`${prefix}${name}`] as FlagValues[N];
  const certFile = of('tls-cert-file');
  const keyFile = of('tls-private-key-file');
  if (certFile === '' && keyFile !== '') throw new OperatorError('Invalid', `missing filename for serving cert: --${prefix}tls-cert-file`);
  if (certFile !== '' && keyFile === '')
    throw new OperatorError('Invalid', `missing filename for serving key: --${prefix}tls-private-key-file`);
  const version = of('tls-min-version');
  const minVersion = VERSIONS[version];
  if (version !== '' && minVersion === undefined) throw new OperatorError('Invalid', `unknown tls version ${JSON.stringify(version)}`);
  const ciphers = of('tls-cipher-suites').map(cipherOf);
  const curves = of('tls-curve-preferences').map(curveOf);
  const directory = of('cert-dir');
  return {
    named: of('tls-sni-cert-key'),
    ...(certFile === '' ? {} : { certificate: { certFile, keyFile } }),
    ...(directory === '' ? {} : { directory }),
    ...(minVersion === undefined ? {} : { minVersion }),
    ...(ciphers.length === 0 ? {} : { ciphers }),
    ...(curves.length === 0 ? {} : { curves }),
  };
}

type TlsFlagName =
  | 'cert-dir'
  | 'tls-cert-file'
  | 'tls-private-key-file'
  | 'tls-sni-cert-key'
  | 'tls-min-version'
  | 'tls-cipher-suites'
  | 'tls-curve-preferences';

/** `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256` → `ECDHE-RSA-AES128-GCM-SHA256`; suites of TLS 1.3 have one name everywhere. */
function cipherOf(name: string): string {
  const openssl = name.includes('_WITH_')
    ? name
        .replace(/^TLS_RSA_WITH_/, '')
        .replace(/^TLS_/, '')
        .replace('_WITH_', '_')
        .replace(/AES_(128|256)_/, 'AES$1_')
        .replace(/_CBC_SHA/, '_SHA')
        .replace('3DES_EDE', 'DES_CBC3')
        .replace(/(CHACHA20_POLY1305)_SHA256$/, '$1')
        .replaceAll('_', '-')
    : name;
  if (!getCiphers().includes(openssl.toLowerCase()))
    throw new OperatorError('Invalid', `Cipher suite ${name} not supported or doesn't exist`);
  return openssl;
}

function curveOf(name: string): string {
  const curve = CURVES[name];
  if (curve === undefined || (/^(secp|prime)/.test(curve) && !getCurves().includes(curve)))
    throw new OperatorError('Invalid', `tls curve ${name} not supported or doesn't exist`);
  return curve;
}
