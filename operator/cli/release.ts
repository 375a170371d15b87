import type { Command } from 'commander';
import type { ReleaseFlags } from './cluster/release';
import { deedsOption, withConnectionFlags, withExamples } from './cluster-flags';
import type { Subcommand } from './command';
import { leaseOption } from './lease-option';

/** `cloud-operator release`: lets go of everything before an uninstallation. */
export const release: Subcommand = (program: Command): void => {
  const command = program
    .command('release')
    .summary('let go of everything, so that operator and CRDs can be deleted and the cloud stays')
    .description(
      'Takes the operator’s finalizers off all its objects and Services, and sets deletionPolicy: Orphan, so that nothing in the cloud is deleted with them. ' +
        'The operator must have been stopped before; the cloud is asked nothing, and nobody looks after what stays in it.',
    )
    .option('--all', 'everything in the cluster; there is no less')
    .option('--dry-run', 'only print what would be let go of')
    .addOption(deedsOption())
    .addOption(leaseOption());
  withExamples(withConnectionFlags(command), 'kubectl cloud release --all --dry-run', 'kubectl cloud release --all').action(
    async (flags: ReleaseFlags) => {
      const { release: act } = await import('./cluster/release.js');
      await act(flags);
    },
  );
};
