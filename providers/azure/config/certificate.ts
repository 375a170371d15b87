import { OperatorError } from '../../../operator/base/errors';
import { isPkcs12, pemOfPkcs12 } from './pkcs12';

/** A client certificate with its private key, as PEM. */
export interface ClientCertificate {
  certificate: string;
  /** Of the key, where that is encrypted. */
  password?: string;
}

/**
 * What a certificate's file holds: PEM, whose key may be encrypted, or upstream's usual PKCS #12.
 * @param where what its password is called
 * @throws OperatorError Credentials when it is PKCS #12, and can't be read
 */
export async function certificateIn(file: Buffer, password: string | undefined, where: string): Promise<ClientCertificate> {
  if (!isPkcs12(file)) return { certificate: file.toString('utf8'), ...(password !== undefined && { password }) };
  try {
    return { certificate: await pemOfPkcs12(file, password) };
  } catch (cause) {
    throw unreadable(cause, `Check ${where}, and that the PKCS #12 file holds a certificate with its RSA key.`);
  }
}

/** The file can't be read. */
export function unreadable(cause: unknown, remedy: string): OperatorError {
  return new OperatorError('Credentials', `the client certificate can't be read: ${(cause as Error).message}. ${remedy}`, {
    cause,
    remedy,
  });
}
