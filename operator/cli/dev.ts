import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Subcommand } from './command';
import type { UpFlags } from './dev-up';

const MAX_NODES = 50;
const TIERS = ['auto', 'vpc-root', 'vpc-userns', 'loopback'];

/** `cloud-operator dev`: a development cluster on this machine. */
export const dev: Subcommand = (program: Command): void => {
  const group = program
    .command('dev')
    .summary('a development cluster on this machine: up, down, status, logs')
    .description(
      'A real Kubernetes control plane, the local cloud, nodes, and the operator on this machine, on loopback ports and without any other set-up. ' +
        'It leaves nothing behind after `down` or a kill, and keeps its data over `down` and `up`.',
    );
  addUp(group);
  addDown(group);
  addStatus(group);
  addLogs(group);
};

function addUp(group: Command): void {
  named(group.command('up'))
    .summary('start it in the background')
    .description('Starts the cluster in the background, and returns when it is ready.')
    .option('--nodes <n>', 'how many nodes, with a stand-in for kubelet, kube-proxy and pods on each; 0 = none', nodeCount, 3)
    .option('--no-operator', 'without the operator, for running your own')
    .option('--extension <module>', 'an extension in code for the operator: a path, or the name of an installed package')
    .option('--foreground', 'stay, and end it with Ctrl-C')
    .addOption(new Option('--tier <tier>', 'how the local cloud moves packets').choices(TIERS).default('auto'))
    .option('--log-level <level>', "the operator's", 'info')
    .action(async (flags: UpFlags) => {
      const { devUp } = await import('./dev-up.js');
      await devUp(flags);
    });
}

function addDown(group: Command): void {
  named(group.command('down'))
    .summary('end it; its data stay')
    .description('Ends everything that `dev up` started. The data stay for the next `up`.')
    .option('--delete-data', 'delete the data too')
    .action(async (flags: { name: string; deleteData?: boolean }) => {
      const { devDown } = await import('./dev-down.js');
      await devDown(flags.name, flags.deleteData === true);
    });
}

function addStatus(group: Command): void {
  named(group.command('status'))
    .summary('what runs, and where')
    .description('Prints each process, the addresses and the kubeconfig. Exit code 1 when something is down.')
    .option('--json', 'print JSON')
    .action(async (flags: { name: string; json?: boolean }) => {
      const { devStatus } = await import('./dev-status.js');
      devStatus(flags.name, flags.json === true);
    });
}

function addLogs(group: Command): void {
  named(group.command('logs'))
    .summary('what its processes write')
    .description('Prints the last lines that the processes wrote, each with the name of its process in front.')
    .argument(
      '[processes...]',
      'etcd, kube-apiserver, kube-controller-manager, local-cloud, nodes, operator, supervisor, or all; none = operator and local-cloud',
    )
    .option('-f, --follow', 'go on with new lines until Ctrl-C')
    .option('--tail <lines>', 'how many of the last lines of each', wholeNumber, 20)
    .action(async (processes: string[], flags: { name: string; follow?: boolean; tail: number }) => {
      const { devLogs } = await import('./dev-logs.js');
      await devLogs(flags.name, processes, { follow: flags.follow === true, tail: flags.tail });
    });
}

function named(command: Command): Command {
  return command.option('--name <name>', 'which cluster: several can be up side by side', 'default');
}

function nodeCount(text: string): number {
  const count = wholeNumber(text);
  if (count > MAX_NODES) throw new InvalidArgumentError(`At most ${MAX_NODES}: each is a process.`);
  return count;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}
