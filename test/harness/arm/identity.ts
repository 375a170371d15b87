import { createPublicKey, constants, createHash, verify, X509Certificate } from 'node:crypto';
import type { Answer } from './request';

/** An application in Microsoft Entra ID, with what proves that somebody is it. */
export interface Application {
  tenantID: string;
  clientID: string;
  secret?: string;
  /** PEM. */
  certificate?: string;
  /** Tokens of a cluster that are trusted. */
  federated?: string[];
}

/** Makes out tokens as Microsoft Entra ID and the metadata service of a machine do, and knows them again. */
export class Identity {
  /** Seconds that a token holds. */
  lifetimeS = 3600;
  /** Identities of the machine: client ids and resource ids; none = it has none. */
  machineIdentities: string[] = [];
  /** Secrets of applications whose time is over. */
  readonly expired = new Set<string>();
  /** Requests for tokens, by where they went. */
  readonly requests: ('login' | 'metadata')[] = [];
  /** For which APIs tokens were asked for. */
  readonly audiences: string[] = [];
  /** Tenants of tokens that were made out and hold; '' = the machine's. */
  private readonly valid = new Map<string, string>();
  private serial = 0;

  constructor(private readonly applications: readonly Application[]) {}

  /** All that were made out and hold. */
  get tokens(): string[] {
    return [...this.valid.keys()];
  }

  knows(authorization: string | undefined): boolean {
    return this.valid.has(authorization?.replace(/^Bearer /, '') ?? '');
  }

  tenantOf(token: string): string | undefined {
    return this.valid.get(token);
  }

  /** All tokens that were made out are worth nothing any more. */
  revoke(): void {
    this.valid.clear();
  }

  /** POST /<tenant>/oauth2/v2.0/token. @param url the whole one, which assertions are made out for */
  login(tenant: string, form: URLSearchParams, url: string): Answer {
    this.requests.push('login');
    const clientID = form.get('client_id') ?? '';
    const tenants = this.applications.filter(({ tenantID }) => tenantID === tenant);
    if (tenants.length === 0) return refused('invalid_request', `AADSTS90002: Tenant '${tenant}' not found.`, 400);
    const application = tenants.find((one) => one.clientID === clientID);
    if (application === undefined) {
      return refused(
        'unauthorized_client',
        `AADSTS700016: Application with identifier '${clientID}' was not found in the directory '${tenant}'.`,
        400,
      );
    }
    if (form.get('grant_type') !== 'client_credentials' || !/\/\.default$/.test(form.get('scope') ?? '')) {
      return refused('invalid_request', 'AADSTS900144: The request body must contain grant_type and scope.', 400);
    }
    this.audiences.push(form.get('scope')?.replace(/\/\.default$/, '') ?? '');
    return this.refusalOf(application, form, url) ?? this.madeOut(tenant);
  }

  /** GET /metadata/identity/oauth2/token. */
  metadata(query: URLSearchParams, header: string | undefined): Answer {
    this.requests.push('metadata');
    if (header !== 'true') return refused('invalid_request', 'Required metadata header not specified', 400);
    const asked = query.get('client_id') ?? query.get('msi_res_id');
    const fits = asked === null ? this.machineIdentities.length === 1 : this.machineIdentities.includes(asked);
    if (!fits) return refused('invalid_request', 'Identity not found', 400);
    this.audiences.push(query.get('resource') ?? '');
    return this.madeOut('', String);
  }

  private refusalOf(application: Application, form: URLSearchParams, url: string): Answer | undefined {
    const assertion = form.get('client_assertion');
    if (assertion === null) return this.secretRefusal(application, form.get('client_secret') ?? '');
    if (application.federated?.includes(assertion) === true) return undefined;
    if (application.certificate !== undefined && isSignedBy(assertion, application.certificate, { url, clientID: application.clientID })) {
      return undefined;
    }
    return refused(
      'invalid_client',
      'AADSTS700027: The certificate with identifier used to sign the client assertion is not registered on application.',
      401,
    );
  }

  private secretRefusal({ clientID, secret }: Application, given: string): Answer | undefined {
    if (this.expired.has(given)) {
      const text = `AADSTS7000222: The provided client secret keys for app '${clientID}' are expired.`;
      return refused('invalid_client', text, 401);
    }
    if (given === secret) return undefined;
    return refused('invalid_client', 'AADSTS7000215: Invalid client secret provided.', 401);
  }

  private madeOut(tenant: string, figure: (value: number) => unknown = (value) => value): Answer {
    const token = `token-${++this.serial}`;
    this.valid.set(token, tenant);
    return { status: 200, body: { token_type: 'Bearer', access_token: token, expires_in: figure(this.lifetimeS) } };
  }
}

function refused(error: string, error_description: string, status: number): Answer {
  return { status, body: { error, error_description: `${error_description} Trace ID: 1\r\nTimestamp: now` } };
}

/** Looks at a client assertion as Entra does: signature, fingerprint, for whom, of whom, and when. */
function isSignedBy(assertion: string, certificate: string, { url, clientID }: { url: string; clientID: string }): boolean {
  const [header = '', claims = '', signature = ''] = assertion.split('.');
  if (signature === '') return false;
  const x509 = new X509Certificate(certificate);
  const { alg, 'x5t#S256': fingerprint } = decoded(header);
  const { aud, iss, sub, exp } = decoded(claims);
  const key = { key: createPublicKey(certificate), padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  const isSigned = verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'));
  const isMeant = alg === 'PS256' && aud === url && iss === clientID && sub === clientID && Number(exp) > Date.now() / 1000;
  return isSigned && isMeant && fingerprint === createHash('sha256').update(x509.raw).digest('base64url');
}

function decoded(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
}
