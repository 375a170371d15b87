import type { FlagType } from './types';

/** One flag of the command line. */
export interface Flag<T> {
  type: FlagType<T>;
  default: T;
  usage: string;
  /** One letter, for the short form. */
  shorthand?: string;
  /** Why the flag is accepted and changes nothing here; absent = it takes effect. */
  inert?: string;
  /** Not shown by --help; it still works. */
  deprecated?: string;
}

/** Flags by name, without the dashes. */
export type FlagGroup = Record<string, Flag<unknown>>;

/** The values of a group of flags, by name. */
export type ValuesOf<G> = { [N in keyof G]: G[N] extends Flag<infer T> ? T : never };

/** A flag as a table has it: type, default and usage, then what is rare. */
export function flag<T>(
  type: FlagType<T>,
  initial: T,
  usage: string,
  more: Pick<Flag<T>, 'shorthand' | 'inert' | 'deprecated'> = {},
): Flag<T> {
  return { type, default: initial, usage, ...more };
}
