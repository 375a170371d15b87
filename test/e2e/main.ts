import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeFailure } from '../../operator/cli/failure';
import { ensureTools } from '../../tools/ensure';
import { E2E_TOOLS } from './e2e-cluster';
import type { Run } from './inside';
import { HELP, optionsOf, type Options } from './options';
import { checkRequirements } from './requirements';

/** Upstream's load balancer tests: see HELP. */
async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2));
  if (options === undefined) return void process.stdout.write(HELP);
  const cniPlugins = checkRequirements();
  const tools = await ensureTools(E2E_TOOLS); // here, where there may be an internet
  const directory = mkdtempSync(join(tmpdir(), 'cloud-operator-e2e-'));
  try {
    const { nodes, proxyMode } = options;
    process.exitCode = await inside({ options, cluster: { directory, tools, nodes, proxyMode, cniPlugins } });
  } finally {
    finish(directory, options);
  }
}

/** Runs inside.ts in a network namespace of its own: no address, route or rule of this machine is touched. @returns its exit code */
async function inside(run: Run): Promise<number> {
  const program = join(__dirname, 'inside.ts');
  const command = ['--net', process.execPath, '--import', 'tsx', program, JSON.stringify(run)];
  // It cleans up, however often it is told to end.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => child.kill(name));
  const child = spawn('unshare', command, { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code ?? 1;
}

function finish(directory: string, { keep }: Options): void {
  if (keep) process.stdout.write(`kept: ${directory}\n`);
  else rmSync(directory, { recursive: true, force: true });
}

main().catch((thrown: unknown) => {
  const { text, exitCode } = describeFailure(thrown, process.env['DEBUG'] !== undefined);
  process.stderr.write(`test:e2e: ${text}\n`);
  process.exitCode = exitCode;
});
