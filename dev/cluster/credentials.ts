import { generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** Somebody whom the API server knows by a token. */
export interface Identity {
  /** User name in RBAC: `system:serviceaccount:<namespace>:<name>` stands for a ServiceAccount. */
  user: string;
  groups: string[];
}

export const ADMIN: Identity = { user: 'cloud-operator-admin', groups: ['system:masters'] };
export const CONTROLLER_MANAGER: Identity = { user: 'system:kube-controller-manager', groups: [] };

/** The identity of a ServiceAccount without a token from the TokenRequest API: works before anything else does. */
export function serviceAccount(namespace: string, name: string): Identity {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
}

const CERTIFICATE_RENEWAL_MS = 30 * 24 * 3_600_000;

/** Keys, tokens and kubeconfigs of one control plane, in a folder that only its owner can read. */
export class Credentials {
  readonly tokenFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** The API server makes its certificate here; the file also holds the CA that signed it. */
  readonly certificateDirectory: string;
  readonly caPath: string;
  private readonly tokens: Map<string, string>;

  /** Reads the folder, or fills it; tokens of identities seen before stay the same. */
  constructor(
    directory: string,
    private readonly identities: readonly Identity[],
  ) {
    this.certificateDirectory = join(directory, 'pki');
    mkdirSync(this.certificateDirectory, { recursive: true, mode: 0o700 });
    this.tokenFile = join(this.certificateDirectory, 'tokens.csv');
    this.serviceAccountKey = join(this.certificateDirectory, 'service-account.key');
    this.serviceAccountPublicKey = join(this.certificateDirectory, 'service-account.pub');
    this.caPath = join(this.certificateDirectory, 'apiserver.crt');
    this.dropOldCertificate();
    this.makeServiceAccountKeys();
    this.tokens = this.makeTokens();
  }

  token(user: string): string {
    const token = this.tokens.get(user);
    if (token === undefined) throw new RangeError(`no token was made for ${user}; there are ${[...this.tokens.keys()].join(', ')}`);
    return token;
  }

  /** Writes a kubeconfig for one identity, readable only by the owner. Needs the API server's certificate to be there. */
  writeKubeconfig(path: string, user: string, server: string): void {
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'cloud-operator',
      clusters: [
        { name: 'cloud-operator', cluster: { server, 'certificate-authority-data': readFileSync(this.caPath).toString('base64') } },
      ],
      users: [{ name: user, user: { token: this.token(user) } }],
      contexts: [{ name: 'cloud-operator', context: { cluster: 'cloud-operator', user, namespace: 'default' } }],
    };
    writePrivate(path, stringify(config));
  }

  /** The API server keeps a certificate that it finds, even an expired one. */
  private dropOldCertificate(): void {
    if (!existsSync(this.caPath)) return;
    const expires = Date.parse(new X509Certificate(readFileSync(this.caPath)).validTo);
    if (expires - Date.now() > CERTIFICATE_RENEWAL_MS) return;
    rmSync(this.caPath);
    rmSync(join(this.certificateDirectory, 'apiserver.key'), { force: true });
  }

  private makeServiceAccountKeys(): void {
    if (existsSync(this.serviceAccountKey) && existsSync(this.serviceAccountPublicKey)) return;
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    writePrivate(this.serviceAccountPublicKey, publicKey.export({ type: 'spki', format: 'pem' }).toString());
    writePrivate(this.serviceAccountKey, privateKey.export({ type: 'sec1', format: 'pem' }).toString());
  }

  private makeTokens(): Map<string, string> {
    const earlier = existsSync(this.tokenFile) ? readTokens(readFileSync(this.tokenFile, 'utf8')) : new Map<string, string>();
    const tokens = new Map(this.identities.map(({ user }) => [user, earlier.get(user) ?? randomBytes(24).toString('hex')]));
    const lines = this.identities.map(({ user, groups }) => `${tokens.get(user)},${user},${user},"${groups.join(',')}"\n`);
    writePrivate(this.tokenFile, lines.join(''));
    return tokens;
  }
}

function readTokens(csv: string): Map<string, string> {
  const rows = csv.split('\n').map((line) => line.split(','));
  return new Map(rows.flatMap(([token, user]) => (token && user ? [[user, token] as const] : [])));
}

function writePrivate(path: string, content: string): void {
  const temporary = `${path}.new`;
  writeFileSync(temporary, content, { mode: 0o600 });
  renameSync(temporary, path);
}
