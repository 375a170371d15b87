import type { Command } from 'commander';
import { withConnectionFlags, withExamples, type ConnectionFlags } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator approve`: lets a plan go on. */
export const approve: Subcommand = (program: Command): void => {
  const command = program
    .command('approve')
    .argument('<hash>', 'of the plan, as `plan` shows it')
    .summary('let a plan that waits go on')
    .description('Approves the plan with this hash, and no other. It needs the verb approve (ClusterRole cloud-operator-approve).');
  withExamples(withConnectionFlags(command), 'kubectl cloud approve aa8b02ea5284e91dae49b6670884c0e2').action(
    async (hash: string, flags: ConnectionFlags) => {
      const { approve: act } = await import('./cluster/approve.js');
      await act(hash, flags);
    },
  );
};
