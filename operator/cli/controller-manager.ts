import type { Command } from 'commander';
import type { Subcommand } from './command';

/** `cloud-operator controller-manager`, also installed as `cloud-controller-manager`: upstream's flags and exit codes. */
export const controllerManager: Subcommand = (program: Command): void => {
  program.command('controller-manager').description('run the operator with the flags of a cloud-controller-manager').argument('[flags...]');
};
