import type { Command } from 'commander';
import type { ApproveFlags } from './cluster/approve';
import { deedsOption, withConnectionFlags, withExamples } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator approve`: lets a plan go on. */
export const approve: Subcommand = (program: Command): void => {
  const command = program
    .command('approve')
    .argument('<hash>', 'of the plan, as `plan` shows it')
    .summary('let a plan that waits go on')
    .description('Approves the plan with this hash, and no other. It needs the verb approve (ClusterRole cloud-operator-approve).');
  withExamples(withConnectionFlags(command).addOption(deedsOption()), 'kubectl cloud approve aa8b02ea5284e91dae49b6670884c0e2').action(
    async (hash: string, flags: ApproveFlags) => {
      const { approve: act } = await import('./cluster/approve.js');
      await act(hash, flags);
    },
  );
};
