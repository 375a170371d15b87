import { codeOfHttpStatus, OperatorError, type ErrorCode } from '../../../operator/base/errors';
import type { AzureCredentials } from './credentials';

/** Microsoft Entra ID refuses to make out a token, or the metadata service does. */
export class TokenError extends OperatorError {}

/** What to do about an error of Microsoft Entra ID (learn.microsoft.com, "Microsoft Entra authentication and authorization error codes"). */
const REMEDIES: Readonly<Record<string, string>> = {
  AADSTS7000215: 'Write the value of the client secret, not its id',
  AADSTS7000222: 'The client secret has expired: make a new one for the application, and write that',
  AADSTS700016: 'Check clientID and tenantID: the application is not in this tenant',
  AADSTS90002: 'Check tenantID: there is no such tenant in this cloud',
  AADSTS900023: 'Check tenantID: it is neither an id nor a name of a tenant',
  AADSTS700027: 'Add the certificate to the application, or write the one that it has',
  AADSTS700024: "Set the clock of the operator's host right",
  AADSTS70021: "Add a federated credential for the operator's ServiceAccount to the application",
  AADSTS700213: "Add a federated credential for the operator's ServiceAccount to the application",
  AADSTS700211: "Set the issuer of the application's federated credential to that of the cluster",
};

/**
 * What an answer without a token is. Pure.
 * @param about what kind of credentials was asked with, and where
 */
export function tokenFailure(status: number, text: string, about: { kind: AzureCredentials['kind']; from: string }): TokenError {
  const { error, error_description: description } = parse(text);
  // What follows is of this one try, and stands in Entra's own sign-in logs.
  const said = (description ?? error ?? `HTTP status ${status}`).split(/\s+Trace ID:|\r?\n/)[0] ?? '';
  const code = classOf(status, error);
  const remedy = code === 'Credentials' ? remedyOf(said, about.kind) : undefined;
  return new TokenError(code, `Azure, a token from ${about.from}: ${said}${remedy === undefined ? '' : `. ${remedy}.`}`, {
    ...(remedy !== undefined && { remedy }),
  });
}

function classOf(status: number, error: string | undefined): ErrorCode {
  if (error === 'temporarily_unavailable') return 'Transient';
  // The metadata service says 404, 410 and 429 while it can't serve for a moment; its documentation asks to try again.
  if (status === 404 || status === 410) return 'Transient';
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'Credentials' : codeOfHttpStatus(status);
}

function remedyOf(said: string, kind: AzureCredentials['kind']): string {
  const code = /AADSTS\d+/.exec(said)?.[0] ?? '';
  const known = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
  if (known !== undefined) return known;
  if (kind === 'ManagedIdentity')
    return 'Assign the identity to the machine that the operator runs on, and name it where there are several';
  return 'Repair the credentials of the CloudProvider';
}

function parse(text: string): { error?: string; error_description?: string } {
  try {
    return (JSON.parse(text) as object | null) ?? {};
  } catch {
    return {};
  }
}
