import type { Command } from 'commander';
import { withConnectionFlags, withExamples } from './cluster-flags';
import type { UiFlags } from './cluster/ui';
import type { Subcommand } from './command';
import { parsePort } from './port';

/** `cloud-operator ui`: the operator's page, on this machine. */
export const ui: Subcommand = (program: Command): void => {
  const command = program
    .command('ui')
    .summary('the operator’s page, in your browser')
    .description(
      'Makes the operator’s read-only page reachable on this machine, and prints its address; ends on Ctrl-C. It goes through the API server to a Pod of the operator, ' +
        'as kubectl port-forward does, with a token of a ServiceAccount that may see the page and nothing else. Needs an operator with --ui (docs/operate/page.md).',
    )
    .option('--namespace <name>', 'the operator’s namespace', 'cloud-operator-system')
    .option('--service-account <name>', 'whose token it uses', 'cloud-operator-ui')
    .option('--server <url>', 'where the operator is reached, such as https://192.0.2.10:10258; absent = through the API server')
    .option('--operator-port <n>', '--secure-port of the operator', parsePort, 10258)
    .option('--port <n>', 'port on 127.0.0.1; 0 = any free one', parsePort, 0);
  withExamples(withConnectionFlags(command), 'kubectl cloud ui', 'kubectl cloud ui --port 8080').action(async (flags: UiFlags) => {
    const { ui: act } = await import('./cluster/ui.js');
    await act(flags);
  });
};
