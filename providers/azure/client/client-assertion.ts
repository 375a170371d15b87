import { constants, createHash, createPrivateKey, randomUUID, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { OperatorError } from '../../../operator/base/errors';

/** How long an assertion holds, in seconds; it is used at once. */
const LIFETIME_S = 600;

/** What an assertion is made of. */
export interface AssertionOptions {
  clientID: string;
  /** The URL that it is sent to. */
  audience: string;
  /** Certificate and private key as PEM. */
  certificate: string;
  password?: string;
  /** Wall clock, milliseconds. */
  now: number;
}

/**
 * Proves by a certificate who asks for a token: a JWT as Microsoft Entra ID takes it (learn.microsoft.com, "Microsoft identity platform application
 * authentication certificate credentials").
 * @throws OperatorError Credentials when the certificate or its key can't be read
 */
export function clientAssertion({ clientID, audience, certificate, password, now }: AssertionOptions): string {
  const { x509, key } = read(certificate, password);
  const fingerprint = createHash('sha256').update(x509.raw).digest('base64url');
  const issuedAt = Math.floor(now / 1000);
  const header = { alg: 'PS256', typ: 'JWT', 'x5t#S256': fingerprint };
  const claims = {
    aud: audience,
    iss: clientID,
    sub: clientID,
    jti: randomUUID(),
    nbf: issuedAt,
    iat: issuedAt,
    exp: issuedAt + LIFETIME_S,
  };
  const signed = `${base64url(header)}.${base64url(claims)}`;
  return `${signed}.${signature(signed, key).toString('base64url')}`;
}

function signature(text: string, key: KeyObject): Buffer {
  return sign('sha256', Buffer.from(text), { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST });
}

function read(pem: string, password: string | undefined): { x509: X509Certificate; key: KeyObject } {
  const part = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/.exec(pem)?.[0];
  const key = /-----BEGIN ([A-Z]+ )*PRIVATE KEY-----[\s\S]+?-----END ([A-Z]+ )*PRIVATE KEY-----/.exec(pem)?.[0];
  if (part === undefined || key === undefined) throw unreadable('it holds no certificate with its private key as PEM');
  try {
    return { x509: new X509Certificate(part), key: createPrivateKey({ key, ...(password !== undefined && { passphrase: password }) }) };
  } catch (cause) {
    throw unreadable((cause as Error).message, cause);
  }
}

function unreadable(why: string, cause?: unknown): OperatorError {
  const remedy = 'It is to be PEM, or PKCS #12 in binary form, with certificate and private key; check the password.';
  return new OperatorError('Credentials', `the client certificate can't be used: ${why}. ${remedy}`, {
    remedy,
    ...(cause !== undefined && { cause }),
  });
}

function base64url(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
