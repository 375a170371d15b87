/** Who the operator is to Azure, and by what it proves that. Holds secrets: never stored, never logged. */
export type AzureCredentials =
  | { kind: 'ClientSecret'; tenantID: string; clientID: string; clientSecret: string }
  /** `certificate`: certificate and private key as PEM, in any order. `password`: of the key, if it is encrypted. */
  | { kind: 'ClientCertificate'; tenantID: string; clientID: string; certificate: string; password?: string }
  /** Of the machine that the operator runs on; by a client id or a resource id where it has several, or one that was made by hand. */
  | { kind: 'ManagedIdentity'; identity?: { clientID: string } | { resourceID: string } }
  /** A token of the cluster's own, which Azure trusts, or the file in which it is renewed. */
  | ({ kind: 'WorkloadIdentity'; tenantID: string; clientID: string } & ({ tokenFile: string } | { token: string }));

/** A token for an API of Azure's. */
export interface AccessToken {
  value: string;
  /** Wall clock, milliseconds since 1970. */
  expiresAt: number;
}
