import { createHash, type X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../base/clock';
import type { RawApi } from '../kube/client';
import { certificatesIn, type ClientTrust } from './client-cas';
import type { RequestHeaderOptions } from './options';
import { TtlCache } from './ttl-cache';
import { ANONYMOUS, authenticated, type User } from './user';

const TOKEN_REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';

export interface AuthenticatorOptions {
  /** Asked about tokens; absent = a token says nothing. */
  api?: RawApi | undefined;
  tokenTtlMs: number;
  clock: Clock;
}

/** Finds out who sends a request: a proxy's headers, a client certificate, a token, else nobody (in upstream's order). */
export class Authenticator {
  private readonly tokens: TtlCache<User | 'Unknown'>;
  private clientCAs: X509Certificate[] = [];
  private proxyCAs: X509Certificate[] = [];
  private requestHeader: RequestHeaderOptions | undefined;

  constructor(private readonly options: AuthenticatorOptions) {
    this.tokens = new TtlCache(options.clock);
  }

  trust({ clientCA, proxyCA, requestHeader }: ClientTrust): void {
    this.clientCAs = certificatesIn(clientCA);
    this.proxyCAs = certificatesIn(proxyCA);
    this.requestHeader = requestHeader;
  }

  /**
   * @returns undefined = the token is not valid
   * @throws OperatorError when the API server can't be asked about a token
   */
  async userOf(request: IncomingMessage): Promise<User | undefined> {
    const chain = chainOf(request);
    const byCertificate = this.proxied(request, chain) ?? this.certified(chain);
    if (byCertificate !== undefined) return authenticated(byCertificate);
    const token = bearerToken(request.headers.authorization);
    if (token === undefined || this.options.api === undefined) return ANONYMOUS;
    const user = await this.review(token, this.options.api);
    return user === 'Unknown' ? undefined : authenticated(user);
  }

  private proxied(request: IncomingMessage, chain: X509Certificate[]): User | undefined {
    const { requestHeader } = this;
    const [proxy] = chain;
    if (requestHeader === undefined || proxy === undefined || !isSignedBy(chain, this.proxyCAs)) return undefined;
    const { allowedNames } = requestHeader;
    if (allowedNames.length > 0 && !allowedNames.includes(subjectOf(proxy).name)) return undefined;
    return userOfHeaders(request, requestHeader);
  }

  private certified(chain: X509Certificate[]): User | undefined {
    const [certificate] = chain;
    if (certificate === undefined || !isSignedBy(chain, this.clientCAs)) return undefined;
    const subject = subjectOf(certificate);
    return subject.name === '' ? undefined : subject;
  }

  private async review(token: string, api: RawApi): Promise<User | 'Unknown'> {
    // The token itself is not kept.
    const key = createHash('sha256').update(token).digest('hex');
    const known = this.tokens.get(key);
    if (known !== undefined) return known;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const { status } = (await api.raw('POST', TOKEN_REVIEWS, { body })) as TokenReview;
    const user = status?.authenticated === true && status.user !== undefined ? userOfReview(status.user) : 'Unknown';
    this.tokens.set(key, user, this.options.tokenTtlMs);
    return user;
  }
}

interface TokenReview {
  status?: { authenticated?: boolean; user?: ReviewedUser };
}

interface ReviewedUser {
  username?: string;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}

function userOfReview({ username = '', uid, groups = [], extra }: ReviewedUser): User {
  return { name: username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
}

function bearerToken(header: string | undefined): string | undefined {
  return /^bearer +(\S+)/i.exec(header ?? '')?.[1];
}

/** The client's certificate and what it sent with it; empty when OpenSSL has not verified it against one of the CAs. */
function chainOf({ socket }: IncomingMessage): X509Certificate[] {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return [];
  const chain: X509Certificate[] = [];
  for (let at = socket.getPeerX509Certificate(); at !== undefined; at = at.issuerCertificate) {
    if (chain.some(({ fingerprint256 }) => fingerprint256 === at?.fingerprint256)) break;
    chain.push(at);
  }
  return chain;
}

function isSignedBy(chain: X509Certificate[], cas: X509Certificate[]): boolean {
  return chain.some((certificate) => cas.some((ca) => certificate.checkIssued(ca) && certificate.verify(ca.publicKey)));
}

/** Common name and organizations: the user and the groups. */
function subjectOf(certificate: X509Certificate): User {
  const entries = certificate.subject.split('\n').map((line) => {
    const at = line.indexOf('=');
    return { type: line.slice(0, at), value: line.slice(at + 1) };
  });
  const valuesOf = (type: string): string[] => entries.filter((entry) => entry.type === type).map(({ value }) => value);
  return { name: valuesOf('CN')[0] ?? '', groups: valuesOf('O') };
}

function userOfHeaders({ headersDistinct }: IncomingMessage, options: RequestHeaderOptions): User | undefined {
  const first = (names: string[]): string | undefined => names.flatMap((name) => headersDistinct[name.toLowerCase()] ?? [])[0];
  const name = first(options.usernameHeaders);
  if (name === undefined || name === '') return undefined;
  const uid = first(options.uidHeaders);
  const extra = Object.entries(headersDistinct).flatMap(([header, values = []]) => {
    const prefix = options.extraHeaderPrefixes.find((one) => header.startsWith(one.toLowerCase()));
    return prefix === undefined ? [] : [[decodeURIComponent(header.slice(prefix.length)), values] as const];
  });
  return {
    name,
    groups: options.groupHeaders.flatMap((header) => headersDistinct[header.toLowerCase()] ?? []),
    extra: Object.fromEntries(extra),
    ...(uid === undefined ? {} : { uid }),
  };
}
