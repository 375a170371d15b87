import type { Command } from 'commander';
import type { PauseFlags } from './cluster/pause';
import { deedsOption, withExamples, withNamespaceFlags } from './cluster-flags';
import type { Subcommand } from './command';

const OBJECTS = 'load balancers; or KIND/NAME: service, clb, cloudroute, cloudprovider';

/** `cloud-operator pause`: keeps changes out of the cloud. */
export const pause: Subcommand = (program: Command): void => {
  const command = program
    .command('pause')
    .argument('<objects...>', OBJECTS)
    .summary('write nothing of an object to the cloud; freeze a CloudProvider')
    .description(
      'Writes nothing of these objects to the cloud until `resume`, not even their deletion. A CloudProvider is frozen: nothing at all is written to its cloud; with --updates its load balancers and routes are paused.',
    )
    .option('--updates', 'only updates: targets go on following the Nodes');
  withExamples(
    withNamespaceFlags(command).addOption(deedsOption()),
    'kubectl cloud pause web --updates',
    'kubectl cloud pause cloudroute/n1-10.244.1.0-24',
    'kubectl cloud pause cloudprovider/aws',
    'kubectl cloud pause cloudprovider/aws --updates',
  ).action(async (objects: string[], flags: PauseFlags) => {
    const { pause: act } = await import('./cluster/pause.js');
    await act(objects, flags);
  });
};

/** `cloud-operator resume`: what was paused goes on. */
export const resume: Subcommand = (program: Command): void => {
  const command = program.command('resume').argument('<objects...>', OBJECTS).summary('go on with what was paused or frozen');
  withExamples(
    withNamespaceFlags(command).addOption(deedsOption()),
    'kubectl cloud resume web',
    'kubectl cloud resume cloudprovider/aws',
  ).action(async (objects: string[], flags: PauseFlags) => {
    const { resume: act } = await import('./cluster/pause.js');
    await act(objects, flags);
  });
};
