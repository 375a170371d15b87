import { isIP } from 'node:net';
import { isReservedAWSTag, LABEL_KEY, LABEL_VALUE, MAX_AWS_TAG_KEY, MAX_AWS_TAGS } from '../../../crds';
import { pairs } from '../../annotation-values';

export * from '../../annotation-values';

export function onOff(text: string): boolean {
  if (text === 'on' || text === 'off') return text === 'on';
  throw new Error(`"${text}" is neither on nor off`);
}

/** A prefix of IPv6 source addresses: /80, or the word that lets AWS choose. */
export function sourcePrefix(text: string): string {
  const [address = '', bits] = text.split('/');
  if (text === 'auto_assigned' || (isIP(address) === 6 && bits === '80')) return text;
  throw new Error(`"${text}" is neither auto_assigned nor an IPv6 prefix of 80 bits`);
}

/** A label of Nodes. */
export function labels(text: string): Record<string, string> {
  const read = pairs(text);
  const bad = Object.entries(read).find(([key, value]) => !LABEL_KEY.test(key) || !LABEL_VALUE.test(value));
  if (bad !== undefined) throw new Error(`"${bad[0]}=${bad[1]}" is not a label`);
  return read;
}

/** Tags of AWS, without those that say whose a resource is. */
export function tags(text: string): Record<string, string> {
  const read = pairs(text);
  const keys = Object.keys(read);
  if (keys.length > MAX_AWS_TAGS) throw new Error(`it has ${keys.length} tags, and at most ${MAX_AWS_TAGS} are possible`);
  const reserved = keys.find(isReservedAWSTag);
  if (reserved !== undefined) throw new Error(`the tag "${reserved}" is reserved`);
  const long = Object.entries(read).find(([key, value]) => key.length > MAX_AWS_TAG_KEY || value.length > 256);
  if (long !== undefined) throw new Error(`the tag "${long[0]}" is too long: a key has at most ${MAX_AWS_TAG_KEY} characters, a value 256`);
  return read;
}
