/** Writers of DER, as far as a certificate needs them (X.690). */

function tagged(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits: number[] = [];
  for (let left = length; left > 0; left = Math.floor(left / 256)) digits.unshift(left % 256);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

export const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, ...parts);
export const set = (...parts: Buffer[]): Buffer => tagged(0x31, ...parts);
export const octets = (content: Buffer): Buffer => tagged(0x04, content);
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
/** `[number]` around what it holds. */
export const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content);
/** `[number]` in place of the tag of a primitive. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(0x80 | number, content);

/** A positive number, big-endian. */
export function integer(bytes: Buffer): Buffer {
  return tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

/** @param unused bits at the end that don't count */
export function bits(content: Buffer, unused: number = 0): Buffer {
  return tagged(0x03, Buffer.from([unused]), content);
}

/** GeneralizedTime, in whole seconds. */
export function time(at: Date): Buffer {
  const text = at.toISOString().replace(/[-:T]|\.\d+/g, '');
  return tagged(0x18, Buffer.from(text));
}

/** An object identifier such as `2.5.4.3`. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value % 128];
  for (let left = Math.floor(value / 128); left > 0; left = Math.floor(left / 128)) digits.unshift(0x80 | (left % 128));
  return digits;
}
