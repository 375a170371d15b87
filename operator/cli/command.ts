import type { Command } from 'commander';

/** One subcommand per file: adds itself to the program. */
export type Subcommand = (program: Command) => void;
