import { randomBytes, sign, type KeyObject } from 'node:crypto';
import * as der from './der';

/** What a certificate says (RFC 5280); signed with ECDSA and SHA-256. */
export interface CertificateContent {
  subject: Buffer;
  issuer: Buffer;
  publicKey: KeyObject;
  /** Of the issuer. */
  signingKey: KeyObject;
  extensions: Buffer[];
  notBefore: Date;
  notAfter: Date;
}

const ECDSA_SHA256 = der.sequence(der.oid('1.2.840.10045.4.3.2'));
const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const VERSION_3 = 2;

/** The certificate as PEM. */
export function certificatePem(content: CertificateContent): string {
  const toBeSigned = der.sequence(
    der.explicit(0, der.integer(Buffer.from([VERSION_3]))),
    der.integer(serialNumber()),
    ECDSA_SHA256,
    content.issuer,
    der.sequence(der.time(content.notBefore), der.time(content.notAfter)),
    content.subject,
    content.publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...content.extensions)),
  );
  const signature = sign('sha256', toBeSigned, content.signingKey);
  return pem('CERTIFICATE', der.sequence(toBeSigned, ECDSA_SHA256, der.bits(signature)));
}

export function distinguishedName(commonName: string, organizations: readonly string[] = []): Buffer {
  const attribute = (type: string, value: string): Buffer => der.set(der.sequence(der.oid(type), der.utf8(value)));
  return der.sequence(...organizations.map((one) => attribute(ORGANIZATION, one)), attribute(COMMON_NAME, commonName));
}

export function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return der.sequence(der.oid(id), ...(critical ? [der.boolean(true)] : []), der.octets(value));
}

/** Says that the certificate may sign others, or may not. */
export function basicConstraints(isAuthority: boolean): Buffer {
  return extension('2.5.29.19', true, der.sequence(...(isAuthority ? [der.boolean(true)] : [])));
}

/** @param purpose OID, such as that of a TLS server */
export function extendedKeyUsage(purpose: string): Buffer {
  return extension('2.5.29.37', false, der.sequence(der.oid(purpose)));
}

/** Positive, and without a zero in front. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
