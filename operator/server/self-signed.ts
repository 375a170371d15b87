import { generateKeyPairSync } from 'node:crypto';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { basicConstraints, certificatePem, distinguishedName, extendedKeyUsage, extension } from './certificate';
import * as der from './der';

/** PEM texts. */
export interface KeyPair {
  cert: string;
  key: string;
}

const DAY = 86_400_000;
const VALID_DAYS = 365;
const KEY_USAGE = '2.5.29.15';
const ALTERNATIVE_NAMES = '2.5.29.17';
/** Purpose of a certificate: a TLS server. */
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
/** Bits 0 and 5: digitalSignature, keyCertSign. */
const SIGNS = Buffer.from([0x84]);

/**
 * A server's certificate that vouches for itself, for a year, with an ECDSA P-256 key.
 * @param names DNS names and addresses of the server; the first one is in its common name
 * @param now wall clock, in milliseconds
 */
export function selfSigned(names: readonly string[], now: number): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  // The second makes it another name each time: a client that has kept the last one must not take this one for a forgery of it.
  const name = distinguishedName(`${names[0] ?? ''}@${Math.floor(now / 1000)}`);
  const cert = certificatePem({
    subject: name,
    issuer: name,
    publicKey,
    signingKey: privateKey,
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + VALID_DAYS * DAY),
    extensions: [
      extension(KEY_USAGE, true, der.bits(SIGNS, 2)),
      extendedKeyUsage(SERVER_AUTH),
      basicConstraints(true),
      alternativeNames(names),
    ],
  });
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** @param names DNS names and addresses of the server */
export function alternativeNames(names: readonly string[]): Buffer {
  return extension(ALTERNATIVE_NAMES, false, der.sequence(...names.map(alternativeName)));
}

function alternativeName(name: string): Buffer {
  return isIP(name) === 0 ? der.implicit(2, Buffer.from(name)) : der.implicit(7, Buffer.from(ipaddr.parse(name).toByteArray()));
}
