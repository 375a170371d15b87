import type { Command } from 'commander';
import type { Subcommand } from './command';

/** `cloud-operator run`: the operator itself. It reads its flags as pflag does, with a table of its own: `cloud-operator run --help`. */
export const run: Subcommand = (program: Command): void => {
  program.command('run').description('run the operator against a cluster').argument('[flags...]');
};
