import { type Command, Option } from 'commander';
import type { AdoptFlags } from './cluster/adopt';
import { deedsOption, timeoutOption, withExamples, withNamespaceFlags } from './cluster-flags';
import type { Subcommand } from './command';

/** `cloud-operator adopt`: takes over what somebody else has made. */
export const adopt: Subcommand = (program: Command): void => {
  const command = program
    .command('adopt')
    .argument('<object>', 'a Service, or clb/NAME, that has no load balancer of its own yet')
    .summary('take over a load balancer that is in the cloud already')
    .description(
      'Has the operator look at the load balancer in the cloud, prints what taking it over would change, property by property, and takes it over: its address stays, and nothing of it ' +
        'is deleted or made anew. The object is only observed for the look. CloudProvider.spec.policy.adoption must allow it (docs/operate/adopt.md).',
    )
    .option('--id <id>', 'its id in the cloud; on AWS its ARN, of a Classic load balancer its name')
    .option('--name <name>', 'its name in the cloud; without both it is found as the object’s spec and annotations say')
    .addOption(
      new Option(
        '--from <owner>',
        'Released: given up by another object or cluster; Upstream: made for this Service by another controller; Unowned: of no controller, with --id',
      )
        .choices(['Released', 'Upstream', 'Unowned'])
        .default('Released'),
    )
    .option('--dry-run', 'only look: the object is put back as it was')
    .addOption(deedsOption())
    .addOption(timeoutOption(120_000));
  withExamples(
    withNamespaceFlags(command),
    'kubectl cloud adopt web --name edge-lb --dry-run',
    'kubectl cloud adopt web --from Unowned --id arn:aws:elasticloadbalancing:eu-central-1:123456789012:loadbalancer/net/edge/50dc6c495c0c9188',
    'kubectl cloud adopt clb/web --from Upstream',
  ).action(async (object: string, flags: AdoptFlags) => {
    const { adopt: act } = await import('./cluster/adopt.js');
    await act(object, flags);
  });
};
