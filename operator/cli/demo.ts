import { type Command, Option } from 'commander';
import type { Subcommand } from './command';
import { invocation } from './invocation';

/** `cloud-operator demo`: the main job, end to end, with proof. */
export const demo: Subcommand = (program: Command): void => {
  program
    .command('demo')
    .description('the main job, end to end, with proof: a Service becomes a load balancer that answers, survives, and goes without a trace')
    .option('--keep', 'leave everything running at the end, until Ctrl-C', false)
    .addOption(
      new Option('--tier <tier>', 'how the local cloud moves packets')
        .choices(['auto', 'vpc-root', 'vpc-userns', 'loopback'])
        .default('auto'),
    )
    .action(async (flags: { keep: boolean; tier: 'auto' | 'vpc-root' | 'vpc-userns' | 'loopback' }) => {
      const { demo: run } = await import('../../dev/demo/demo.js');
      const { DEV_TOOLS } = await import('../../dev/cluster/dev-cluster.js');
      const { ensureTools } = await import('../../tools/ensure.js');
      const tools = await ensureTools(DEV_TOOLS); // until here a signal ends the process as it does by default
      const stop = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
      const write = (line: string): void => void process.stdout.write(`${line}\n`);
      const held = await run({ ...flags, tools, signal: stop.signal, program: invocation(), write });
      process.exitCode = held ? 0 : 1;
    });
};
