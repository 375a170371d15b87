import type { OperatorError } from '../../../operator/base/errors';

/** undici's codes for whoever takes a request and says nothing. */
const SILENT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);

/** What went wrong with a request, in words: undici calls silence a timeout of headers. @param error what `thrown` was made into. Pure. */
export function wordsOf(thrown: unknown, error: OperatorError): string {
  const { code = '' } = (thrown ?? {}) as { code?: string };
  return SILENT.has(code) ? `no answer came in time (${code})` : error.message;
}
