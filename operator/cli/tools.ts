import type { Command } from 'commander';
import type { FoundTool } from '../../tools/find';
import type { Subcommand } from './command';

/** `cloud-operator tools`: finds, downloads or builds what the other commands start. */
export const tools: Subcommand = (program: Command): void => {
  program
    .command('tools')
    .summary('find, download or build etcd, kube-apiserver, …')
    .description(
      'Makes sure that the programs which the other commands start are there, and prints where they are. Each is taken from its environment variable ' +
        '(CLOUD_OPERATOR_ETCD, …), from PATH, from the cache, from the official download, or built from its pinned Go module. ' +
        'The other commands do the same when they need one. Only when they are named: moto, a simulated AWS API for tests (a Python program, which pip ' +
        'installs into a virtual environment in the cache), and aws-cloud-controller-manager, which `npm run bench:aws` measures against.',
    )
    .argument(
      '[names...]',
      'etcd, kube-apiserver, kube-controller-manager, kubectl, pulumi, moto, aws-cloud-controller-manager; none = all but the last two',
    )
    .option('--json', 'print JSON')
    .action(async (names: string[], { json }: { json?: boolean }) => {
      const { locateTools } = await import('../../tools/ensure.js');
      const { USUAL_TOOL_NAMES, toolNamed } = await import('../../tools/catalogue.js');
      const wanted = names.length === 0 ? USUAL_TOOL_NAMES : names.map((name) => toolNamed(name).name);
      const found = await locateTools(wanted);
      process.stdout.write(json === true ? `${JSON.stringify(found, undefined, 2)}\n` : await table(found));
    });
};

async function table(found: FoundTool[]): Promise<string> {
  const { formatTable } = await import('./table.js');
  const rows = found.map(({ name, version, source, path }) => [name, version, source, path]);
  return formatTable(['TOOL', 'VERSION', 'FROM', 'PATH'], rows);
}
