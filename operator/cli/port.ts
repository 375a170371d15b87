import { InvalidArgumentError } from 'commander';

/** The argument of an option that is a port. @throws InvalidArgumentError, which commander shows */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^[0-9]+$/.test(text) || port > 65_535) throw new InvalidArgumentError('It must be a number from 0 to 65535.');
  return port;
}
