import { parseArgs, type ParseArgsConfig } from 'node:util';
import { OperatorError } from '../../operator/base/errors';

export type Flags = NonNullable<ParseArgsConfig['options']>;

/**
 * The values of a command's flags, which are its only arguments.
 * @throws OperatorError Invalid with one line about the argument at fault
 */
export function parseFlags<const Options extends Flags>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options }>>['values'] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (cause) {
    const message = (cause as Error).message.split('. ')[0] ?? '';
    throw new OperatorError('Invalid', message, { remedy: 'see --help', cause });
  }
}

/** @param digits at the most @throws OperatorError Invalid naming the flag and what it takes */
export function wholeNumber(flag: string, text: string, digits: number): number {
  if (new RegExp(`^[1-9][0-9]{0,${digits - 1}}$`).test(text)) return Number(text);
  throw new OperatorError('Invalid', `${flag} must be a whole number from 1 to ${10 ** digits - 1}, not "${text}"`);
}
