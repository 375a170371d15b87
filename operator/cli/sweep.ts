import type { Command } from 'commander';
import { deedsOption, timeoutOption, withConnectionFlags, withExamples } from './cluster-flags';
import type { Subcommand } from './command';
import type { SweepFlags } from './sweep-command';

/** `cloud-operator sweep`: what the cloud has and nothing accounts for. */
export const sweep: Subcommand = (program: Command): void => {
  const command = program
    .command('sweep')
    .argument('[stacks...]', 'with --delete: which of those that were found')
    .summary('find what the cloud has and nothing accounts for')
    .description(
      'Has the running operator search its clouds now for what bears the mark of this cluster and belongs to no object any more, and prints it. ' +
        'Nothing is deleted but with --delete.',
    )
    .option('--provider <name>', 'CloudProvider that is searched; absent = all')
    .option('--delete', 'have the operator delete the named stacks from the cloud, or with --all every one that was found')
    .option('--all', 'with --delete: all of them')
    .addOption(deedsOption())
    .addOption(timeoutOption(120_000));
  withExamples(withConnectionFlags(command), 'kubectl cloud sweep', 'kubectl cloud sweep --provider aws --delete --all').action(
    async (stacks: string[], flags: SweepFlags) => {
      const { sweepClouds } = await import('./sweep-command.js');
      await sweepClouds(stacks, flags);
    },
  );
};
