import { type Command, Option } from 'commander';
import type { Subcommand } from './command';
import type { StateFlags } from './state-place';
import { parsePort } from './port';
import { STATE_DIRECTORY } from './state-directory';

/** `cloud-operator state`: the stacks' state, for people. */
export const state: Subcommand = (program: Command): void => {
  const group = program
    .command('state')
    .summary('the stacks’ state: list, export, import, move, rotate-key, serve')
    .description(
      'Reads and repairs what the operator knows of its stacks. It works with the rights of your kubeconfig, and beside a running operator: ' +
        'every write is conditional, and an update that loses a race stops and begins anew.',
    );
  addList(group);
  addExport(group);
  addImport(group);
  addMove(group);
  addRotateKey(group);
  addServe(group);
};

function addList(group: Command): void {
  inStore(group.command('list'))
    .description('print all stacks; exit code 1 when one can’t be read')
    .option('--json', 'print JSON')
    .action(async (flags: StateFlags & { json?: boolean }) => {
      const { listStates } = await import('./state-list.js');
      await listStates(flags, flags.json === true);
    });
}

function addExport(group: Command): void {
  inStore(group.command('export'))
    .argument('<stack>')
    .description('print the state of a stack as `pulumi stack export` does; secrets stay encrypted')
    .action(async (stack: string, flags: StateFlags) => {
      const { exportState } = await import('./state-transfer.js');
      await exportState(stack, flags);
    });
}

function addImport(group: Command): void {
  makingKeys(inStore(group.command('import')))
    .argument('<stack>')
    .argument('<file>', 'what `state export` or `pulumi stack export` printed; - = standard input')
    .description('replace the state of a stack; the operator compares it with the cloud before it does anything else')
    .option('--provider <kind>', 'cloud of a stack that has no state yet, for example local')
    .option('--force', 'also while an update of the stack is open; it then stops')
    .action(async (stack: string, file: string, flags: StateFlags & { provider?: string; force?: boolean }) => {
      const { importState } = await import('./state-transfer.js');
      await importState(stack, file, flags);
    });
}

function addMove(group: Command): void {
  makingKeys(reachingCluster(group.command('move')))
    .argument('[stacks...]', 'none = all')
    .description('move stacks to another store, encrypted with its key; stop the operator first')
    .requiredOption('--from <store>', 'cluster, cluster:NAMESPACE or directory:FOLDER')
    .requiredOption('--to <store>', 'the same')
    .action(async (stacks: string[], flags: StateFlags & { from: string; to: string }) => {
      const { moveStates } = await import('./state-transfer.js');
      await moveStates(stacks, flags);
    });
}

function addRotateKey(group: Command): void {
  inStore(group.command('rotate-key'))
    .option(
      '--secrets-provider <url>',
      'protect the data keys by a KMS key from now on, or by `default`; absent = by what protects them now',
    )
    .description('make a new data key and encrypt everything with it; former keys go an hour later, with the next rotation')
    .action(async (flags: StateFlags) => {
      const { rotateStateKey } = await import('./state-rotate-key.js');
      await rotateStateKey(flags);
    });
}

function addServe(group: Command): void {
  inStore(group.command('serve'))
    .description('let your own pulumi CLI look at the stacks, until Ctrl-C; what would change one is refused')
    .option('--read-only', 'the default, and the only way')
    .option('--port <n>', 'port on 127.0.0.1; 0 = any free one', parsePort, 0)
    .action(async (flags: StateFlags & { port: number }) => {
      const { serveState } = await import('./state-serve.js');
      await serveState(flags, flags.port);
    });
}

/** Options that say which store is meant. */
function inStore(command: Command): Command {
  return reachingCluster(command)
    .addOption(new Option('--state-store <where>', 'where the state is kept').choices(['cluster', 'directory']).default('cluster'))
    .option('--state-directory <folder>', 'the folder, with --state-store=directory', STATE_DIRECTORY);
}

/** For commands that may make the data keys of a store that has none. */
function makingKeys(command: Command): Command {
  return command.option('--secrets-provider <url>', 'what protects the data keys of a store that has none yet; default: the store itself');
}

function reachingCluster(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig')
    .option('--state-namespace <name>', 'namespace of the state’s Secrets', 'cloud-operator-system');
}
