import type { Command } from 'commander';
import type { ReconcileFlags } from './cluster/reconcile';
import { deedsOption, timeoutOption, withExamples, withNamespaceFlags } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator reconcile`: a pass now. */
export const reconcile: Subcommand = (program: Command): void => {
  const command = program
    .command('reconcile')
    .argument('<objects...>', 'load balancers; or KIND/NAME: service, clb, cloudroute, cloudprovider')
    .summary('look at an object now, and try again what failed')
    .description(
      'Asks for a pass and a look at the cloud now, waits until the operator has made it, and says how the object is then. A CloudProvider: everything of its cloud.',
    );
  withExamples(
    withNamespaceFlags(command).addOption(deedsOption()).addOption(timeoutOption(60_000)),
    'kubectl cloud reconcile web',
    'kubectl cloud reconcile cloudroute/n1-10.244.1.0-24',
    'kubectl cloud reconcile cloudprovider/aws --timeout 5m',
  ).action(async (objects: string[], flags: ReconcileFlags) => {
    const { reconcile: act } = await import('./cluster/reconcile.js');
    await act(objects, flags);
  });
};
