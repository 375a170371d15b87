import type { Command } from 'commander';
import { outputOption, withExamples, withListFlags, type ListFlags } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator plan`: the changes that wait for a person. */
export const plan: Subcommand = (program: Command): void => {
  const command = program
    .command('plan')
    .argument('[object]', 'a load balancer, or cloudroute/NAME; absent = a list of all that wait')
    .summary('the changes that wait for approval, property by property')
    .description('Shows the plans that wait for approval. Of one object, or with -o wide, with every property’s old and new value.');
  withExamples(
    withListFlags(command).addOption(outputOption(['table', 'wide', 'json', 'yaml'])),
    'kubectl cloud plan -A',
    'kubectl cloud plan web',
    'kubectl cloud plan cloudroute/n1-10.244.1.0-24',
  ).action(async (object: string | undefined, flags: ListFlags) => {
    const { plan: show } = await import('./cluster/plan.js');
    await show(object, flags);
  });
};
