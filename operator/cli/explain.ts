import type { Command } from 'commander';
import type { ExplainFlags } from './cluster/explain';
import { outputOption, withExamples, withNamespaceFlags } from './cluster-flags';
import type { Subcommand } from './command';
import { leaseOption } from './lease-option';

/** `cloud-operator explain`: why an object is not ready, in words. */
export const explain: Subcommand = (program: Command): void => {
  const command = program
    .command('explain')
    .argument('<object>', 'a Service; or KIND/NAME: service, clb, cloudroute, node, cloudprovider')
    .summary('why a Service, a load balancer, a route or a Node is not ready, in words')
    .description(
      'Looks at what a person would look at, and says it in words with the next step. ' +
        'Of a Node: registered, kubelet, initialized, whose it is, labels, addresses, routes, and which load balancers send it traffic.',
    );
  withExamples(
    withNamespaceFlags(command)
      .addOption(leaseOption())
      .addOption(outputOption(['table', 'json', 'yaml'])),
    'kubectl cloud explain web',
    'kubectl cloud explain node/n1',
    'kubectl cloud explain clb/web -n shop -o yaml',
  ).action(async (object: string, flags: ExplainFlags) => {
    const { explain: tell } = await import('./cluster/explain.js');
    await tell(object, flags);
  });
};
