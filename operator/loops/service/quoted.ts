const SHOWN = 64;

/** A value for a message: in quotes, and only the beginning of a long one. */
export function quoted(value: string): string {
  return value.length <= SHOWN ? JSON.stringify(value) : `${JSON.stringify(`${value.slice(0, SHOWN)}…`)} (${value.length} characters)`;
}
