const REDACTED = '[redacted]';

/** Annotations that repeat a whole object, as it was once given to kubectl, with all that is secret in it. */
const COPIES = ['kubectl.kubernetes.io/last-applied-configuration'];

/** Fields whose text is nobody's business; names of Secrets (`tokenSecretRef: {name, key}`) are objects, and stay. */
const SECRET_FIELD = /(token|password|passphrase|secret|credential|private-?key|access-?key|api-?key|authorization)/i;

/** What is secret by its form, wherever it stands: tokens, keys, credentials in URLs and in `name=value`. */
const SECRET_FORMS: [RegExp, string][] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, REDACTED],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(AKIA|ASIA)[A-Z0-9]{16}\b/g, REDACTED],
  [/(:\/\/[^/\s:@"]+:)[^/\s@"]+@/g, `$1${REDACTED}@`],
  [/\b([\w-]*(?:token|password|passphrase|secret|access_?key)[\w-]*["']?\s*[=:]\s*["']?)[^\s"',;&]{6,}/gi, `$1${REDACTED}`],
];

/** A text without what is secret by its form. Pure. */
export function redactedText(text: string): string {
  return SECRET_FORMS.reduce((result, [form, instead]) => result.replaceAll(form, instead), text);
}

/**
 * An object as it may be given to others: without values of environment variables, of other people's parameters and of fields that are secret by
 * their names, without copies of itself, and without managedFields. Pure.
 */
export function redacted(value: unknown, field = ''): unknown {
  if (typeof value === 'string') return isSecretField(field) ? REDACTED : redactedText(value);
  if (Array.isArray(value)) return value.map((item) => (field === 'env' ? withoutValue(item) : redacted(item, field)));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== 'managedFields' && !COPIES.includes(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, field === 'parameters' ? REDACTED : redacted(item, key)]));
}

function isSecretField(field: string): boolean {
  return SECRET_FIELD.test(field) && !/(name|ref|file|path)s?$/i.test(field);
}

/** Of an environment variable the name is kept, and where it comes from. */
function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null || !('value' in variable)) return redacted(variable);
  return { ...variable, value: REDACTED };
}
