import type { Command } from 'commander';
import type { BundleFlags } from './cluster/support-bundle';
import { withConnectionFlags, withExamples } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator support-bundle`: what somebody else needs to find out what is wrong. */
export const supportBundle: Subcommand = (program: Command): void => {
  const command = program
    .command('support-bundle')
    .summary('one archive with what others need to find out what is wrong; no Secrets')
    .description(
      'Collects Cloud* objects, Services of type LoadBalancer, Nodes, Events, Leases, the operator’s Pods and logs, and the metadata of the stacks’ state. ' +
        'No Secret is read; values of environment variables, and what looks like a token or a password, are taken out.',
    )
    .option('--file <file>', 'where it is written (default: cloud-operator-<time>.tar.gz)')
    .option('--operator-namespace <name>', 'namespace of the operator', 'cloud-operator-system')
    .option('--state-namespace <name>', 'namespace of the Secrets that hold the stacks’ state (default: the operator’s)');
  withExamples(
    withConnectionFlags(command),
    'kubectl cloud support-bundle',
    'kubectl cloud support-bundle --file /tmp/bundle.tar.gz',
  ).action(async (flags: BundleFlags) => {
    const { supportBundle: collect } = await import('./cluster/support-bundle.js');
    await collect(flags);
  });
};
