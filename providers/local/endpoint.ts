import { OperatorError } from '../../operator/base/errors';

/** Where the local cloud listens. */
export interface Endpoint {
  /** Origin of the URLs; for a unix socket only a name for the Host header. */
  origin: string;
  socketPath?: string;
}

const REMEDY = 'Write http://127.0.0.1:PORT or unix:/path/to/socket; the local cloud prints its endpoint when it starts.';

/**
 * Reads `http://HOST:PORT` or `unix:/absolute/path`.
 * @throws OperatorError Invalid naming `spec.local.endpoint`
 */
export function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('unix:')) {
    const socketPath = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    if (!socketPath.startsWith('/')) throw invalid(text, 'the path of a unix socket must be absolute');
    return { origin: 'http://localhost', socketPath };
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.protocol !== 'http:') throw invalid(text, 'it is neither an http:// address nor a unix: path');
  if (url.pathname !== '/' || url.search !== '' || url.username !== '')
    throw invalid(text, 'it must be a bare address without path, query or user');
  return { origin: url.origin };
}

function invalid(text: string, why: string): OperatorError {
  return new OperatorError('Invalid', `endpoint "${text}" of the local cloud can't be used: ${why}. ${REMEDY}`, {
    field: 'spec.local.endpoint',
    remedy: REMEDY,
  });
}
