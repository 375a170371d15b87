import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Subcommand } from './command';
import { STATE_DIRECTORY } from './state-directory';

/** Upstream's (contract 7.4): so never two cloud-controller-managers lead in one cluster, whoever made them. */
const LEASE = { namespace: 'kube-system', name: 'cloud-controller-manager' };

/** `cloud-operator run`: the operator itself. */
export const run: Subcommand = (program: Command): void => {
  program
    .command('run')
    .description('run the operator against a cluster')
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config, or the pod’s own ServiceAccount)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--namespace <name>', 'the operator’s own namespace: the Secrets it may read', 'cloud-operator-system')
    .addOption(
      new Option('--state-store <where>', 'where the stacks’ state is kept: Secrets of the cluster, or a folder')
        .choices(['cluster', 'directory'])
        .default('cluster'),
    )
    .option('--state-namespace <name>', 'the namespace of those Secrets (default: the operator’s own)')
    .option('--state-directory <folder>', 'the folder, with --state-store=directory', STATE_DIRECTORY)
    .option('--cloud-provider <kind>', 'make a default CloudProvider of this kind, named like it, when there is none')
    .option('--cloud-config <file>', 'YAML or JSON: the spec of that CloudProvider')
    .option('--extension <module>', 'path or package of a module that changes or adds cloud resources; once (docs/extend.md)', onlyOnce)
    .option('--cluster-cidr <cidrs>', 'comma-separated pod CIDRs of the cluster; routes outside are not ours')
    .option('--configure-cloud-routes <boolean>', 'keep a route for every PodCIDR', 'true')
    .option('--leader-elect <boolean>', 'work only while holding the Lease', 'true')
    .option('--leader-elect-lease-duration <duration>', 'a Lease that was not renewed for so long is up for grabs', '15s')
    .option('--leader-elect-renew-deadline <duration>', 'the leader gives up when it could not renew its Lease for so long', '10s')
    .option('--leader-elect-retry-period <duration>', 'between two tries to get or renew the Lease', '2s')
    .option('--leader-elect-resource-name <name>', 'name of the Lease; the default is that of every cloud-controller-manager', LEASE.name)
    .option('--leader-elect-resource-namespace <name>', 'namespace of the Lease', LEASE.namespace)
    .option('--workers <n>', 'stack updates at the same time', '2')
    .option('--update-deadline <duration>', 'how long a stack update may take', '10m')
    .option('--update-memory <MB>', 'memory that an update’s worker, and its engine, may use', '1024')
    .option('--retry-failures <n>', 'failures in a row after which a failing object is Stalled (retries go on slowly)', '10')
    .option('--retry-period <duration>', 'or how long it may fail until then', '10m')
    .option('--node-monitor-period <duration>', 'how often Nodes that are not Ready are looked up', '5s')
    .option('--node-deletion-grace <duration>', 'how long the cloud must say “does not exist” before a Node is deleted', '15s')
    .option('--bind-address <address>', 'address of the health and metrics server', '127.0.0.1')
    .option('--port <n>', 'port of the health and metrics server; 0 = any free one', '10258')
    .addOption(new Option('--log-level <level>', 'how much is logged').choices(['trace', 'debug', 'info', 'warn', 'error']).default('info'))
    .action(async (flags: Record<string, string>) => {
      const { runFromFlags } = await import('./run-flags.js');
      await runFromFlags(flags);
    });
};

/** Several extensions are one module that imports them: their order is then nobody's guess. */
function onlyOnce(value: string, earlier: string | undefined): string {
  if (earlier === undefined) return value;
  throw new InvalidArgumentError(`It was ${earlier} already; make one module that imports both.`);
}
