import { generateKeyPairSync } from 'node:crypto';
import { basicConstraints, certificatePem, distinguishedName, extendedKeyUsage } from '../../operator/server/certificate';
import { alternativeNames, SERVER_AUTH, type KeyPair } from '../../operator/server/self-signed';

const HOUR = 3_600_000;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** A CA of a test, which signs certificates of clients and servers. */
export class CertificateAuthority {
  readonly cert: string;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  private readonly name: Buffer;

  constructor(name: string) {
    this.name = distinguishedName(name);
    this.cert = this.sign(this.name, this.keys.publicKey, [basicConstraints(true)]);
  }

  /** A client's certificate: the common name is the user, the organizations are the groups. */
  client(user: string, groups: readonly string[] = []): KeyPair {
    return this.pair(distinguishedName(user, groups), [extendedKeyUsage(CLIENT_AUTH)]);
  }

  /** A server's certificate, for these names. */
  server(...names: [string, ...string[]]): KeyPair {
    return this.pair(distinguishedName(names[0]), [extendedKeyUsage(SERVER_AUTH), alternativeNames(names)]);
  }

  private pair(subject: Buffer, extensions: Buffer[]): KeyPair {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const cert = this.sign(subject, publicKey, [basicConstraints(false), ...extensions]);
    return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  }

  private sign(subject: Buffer, publicKey: (typeof this.keys)['publicKey'], extensions: Buffer[]): string {
    const now = Date.now();
    return certificatePem({
      ...{ subject, publicKey, extensions, issuer: this.name, signingKey: this.keys.privateKey },
      notBefore: new Date(now - HOUR),
      notAfter: new Date(now + HOUR),
    });
  }
}
