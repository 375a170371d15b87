/** The HTTPS server for health, metrics and configuration. Times are in milliseconds. */
export interface ServingOptions {
  bindAddress: string;
  port: number;
  tls: TlsOptions;
  authentication: AuthenticationOptions;
  authorization: AuthorizationOptions;
}

/** The HTTPS server for webhooks. */
export interface WebhookServingOptions {
  bindAddress: string;
  port: number;
  tls: TlsOptions;
}

/** Who somebody is: by client certificate, by the headers of a trusted proxy, by a token that the API server knows. */
export interface AuthenticationOptions {
  /** Absent = the operator's own connection. */
  kubeconfig?: string;
  /** Don't read what is absent here from the ConfigMap extension-apiserver-authentication. */
  skipLookup: boolean;
  tolerateLookupFailure: boolean;
  tokenTtlMs: number;
  clientCAFile?: string;
  requestHeader: RequestHeaderOptions;
}

export interface RequestHeaderOptions {
  caFile?: string;
  /** Common names of proxies; empty = all that the CA signed. */
  allowedNames: string[];
  usernameHeaders: string[];
  groupHeaders: string[];
  extraHeaderPrefixes: string[];
  uidHeaders: string[];
}

/** What somebody may do: as the API server says. */
export interface AuthorizationOptions {
  kubeconfig?: string;
  /** Exact paths, or prefixes with a `*` at the end. */
  alwaysAllowPaths: string[];
  allowTtlMs: number;
  denyTtlMs: number;
}

/** The TLS half of a server. */
export interface TlsOptions {
  /** Files of the certificate; absent = self-signed. */
  certificate?: { certFile: string; keyFile: string };
  /** Folder in which a pair is looked for, and made; absent = only in memory. */
  directory?: string;
  named: NamedCertificate[];
  minVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';
  /** OpenSSL's names, in order; absent = Node's own. */
  ciphers?: string[];
  /** OpenSSL's names, in order. */
  curves?: string[];
}

/** A certificate for the clients that ask for one of its names. */
export interface NamedCertificate {
  certFile: string;
  keyFile: string;
  /** Names, `*.` in front for any; empty = those that the certificate holds. */
  names: string[];
}
