import type { Command } from 'commander';
import type { Subcommand } from './command';
import { outputOption, withExamples, withListFlags, type ListFlags } from './cluster-flags';

/** `cloud-operator tree`: what becomes of a Service. */
export const tree: Subcommand = (program: Command): void => {
  const command = program
    .command('tree')
    .argument('[service]', 'a Service, or clb/NAME; absent = all of the namespace')
    .summary('a Service, its load balancer, its stack, and what is in the cloud')
    .description(
      'Shows what becomes of a Service, down to the cloud: CloudLoadBalancer, CloudStack, resources and targets, each with its state.',
    );
  withExamples(
    withListFlags(command).addOption(outputOption(['table', 'wide', 'json', 'yaml'])),
    'kubectl cloud tree web',
    'kubectl cloud tree -A -o wide',
  ).action(async (service: string | undefined, flags: ListFlags) => {
    const { tree: show } = await import('./cluster/tree.js');
    await show(service, flags);
  });
};
