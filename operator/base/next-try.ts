/** `message` with the time at which a failure is tried again, to the second. @param at milliseconds since 1970 */
export function withNextTry(message: string, at: number): string {
  return `${message} Next try at ${toSecond(at)}.`;
}

/** RFC 3339, to the second. @param at milliseconds since 1970 */
export function toSecond(at: number): string {
  return new Date(at).toISOString().replace(/\.[0-9]+Z$/, 'Z');
}

/** The same without it: what is said must not become another message with every try. */
export function withoutNextTry(message: string): string {
  return message.replace(/ Next try at [0-9T:-]+Z\.$/, '');
}
