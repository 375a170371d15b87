import type { Command } from 'commander';
import type { HistoryFlags } from './cluster/history';
import { outputOption, withExamples, withNamespaceFlags } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator history`: the last updates. */
export const history: Subcommand = (program: Command): void => {
  const command = program
    .command('history')
    .argument('<object>', 'a load balancer; or KIND/NAME: service, clb, cloudroute, cloudstack')
    .summary('the last updates of an object’s stack: when, why, how long, what changed')
    .description(
      'Shows the last five updates of the stack that carries the object, the newest first; with --plan what each did to which resource.',
    )
    .option('--plan', 'what each update did: resources, and old and new values of their properties');
  withExamples(
    withNamespaceFlags(command).addOption(outputOption(['table', 'wide', 'json', 'yaml'])),
    'kubectl cloud history web',
    'kubectl cloud history web --plan',
    'kubectl cloud history web -o yaml',
  ).action(async (object: string, flags: HistoryFlags) => {
    const { history: show } = await import('./cluster/history.js');
    await show(object, flags);
  });
};
