import { Command, CommanderError } from 'commander';
import { adopt } from './adopt';
import { approve } from './approve';
import type { Subcommand } from './command';
import { completion } from './completion';
import { controllerManager } from './controller-manager';
import { credentialProvider } from './credential-provider';
import { demo } from './demo';
import { dev } from './dev';
import { explain } from './explain';
import { describeFailure } from './failure';
import { history } from './history';
import { invocation } from './invocation';
import { localCloud } from './local-cloud';
import { manifests } from './manifests';
import { pause, resume } from './pause';
import { plan } from './plan';
import { reconcile } from './reconcile';
import { release } from './release';
import { run } from './run';
import { state } from './state';
import { supportBundle } from './support-bundle';
import { sweep } from './sweep';
import { tools } from './tools';
import { tree } from './tree';
import { ui } from './ui';
import { versionText } from './version';

/** Every subcommand, under the heading that `--help` shows it with. Its file imports what is heavy only inside its action. */
const SUBCOMMANDS: Record<string, Subcommand[]> = {
  'Look into a cluster:': [tree, explain, plan, history, ui, supportBundle],
  'Act in a cluster:': [approve, pause, resume, reconcile, adopt, sweep, release, state],
  'Run in a cluster:': [run, controllerManager, credentialProvider, manifests],
  'On this machine:': [demo, dev, localCloud, tools, completion],
};

/** As people call it: kubectl's plugin says so (bin/kubectl-cloud.js). */
const PROGRAM = process.env['CLOUD_OPERATOR_CALLED'] ?? 'cloud-operator';

const AFTER_HELP = `
Exit codes: 0 all went well, 1 it failed, 2 the command line, a file or a tool that was named can't be used.

Try it: ${invocation()} dev up
`;

function makeProgram(): Command {
  const program = new Command(PROGRAM)
    .description(
      'A declarative cloud-controller-manager: Services, Nodes and routes become Cloud* objects, and Pulumi makes the cloud match.',
    )
    .version(versionText(), '--version', 'print the version')
    .option('--debug', 'show a stack trace when something fails (also: DEBUG=1)')
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', AFTER_HELP)
    .configureOutput({ outputError: (text, write) => write(usageError(text)) })
    .exitOverride();
  for (const [heading, subcommands] of Object.entries(SUBCOMMANDS)) {
    program.commandsGroup(heading);
    for (const add of subcommands) add(program);
  }
  program.helpCommand('help [command]', 'show the help of a command');
  return program;
}

/** What commander says of a command line that can't be used; where it has no guess of its own, with where to look. */
function usageError(text: string): string {
  const told = text.replace(/^error: /, `${PROGRAM}: `);
  return /^[^\n]*(unknown option|missing required argument|too many arguments)[^\n]*\n$/.test(told)
    ? `${told.trimEnd()}; see --help\n`
    : told;
}

/** Commands whose flags are a cloud-controller-manager's, read as that reads them; commander only lists them. */
const OPERATOR_COMMANDS: Record<string, (args: readonly string[]) => Promise<number | void>> = {
  run: async (args) => (await import('./run-command.js')).runCommand(args),
  'controller-manager': async (args) => (await import('./controller-manager-command.js')).controllerManagerCommand(args),
};

async function main(): Promise<void> {
  try {
    const [name = '', ...args] = withHelpFlag(process.argv.slice(2));
    const operator = Object.hasOwn(OPERATOR_COMMANDS, name) ? OPERATOR_COMMANDS[name] : undefined;
    if (operator === undefined) await makeProgram().parseAsync();
    else process.exitCode = (await operator(args)) ?? 0;
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      // commander has said what is wrong, or has printed the help that was asked for
      process.exitCode = thrown.exitCode === 0 ? 0 : 2;
      return;
    }
    const debug = process.argv.includes('--debug') || (process.env['DEBUG'] ?? '') !== '';
    const { text, exitCode } = describeFailure(thrown, debug);
    process.stderr.write(`${PROGRAM}: ${text}\n`);
    process.exitCode = exitCode;
  }
}

/** `help run` is `run --help`. */
function withHelpFlag(args: string[]): string[] {
  const [help, name = ''] = args;
  return help === 'help' && Object.hasOwn(OPERATOR_COMMANDS, name) ? [name, '--help'] : args;
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0); // the reader has seen enough: `cloud-operator … | head`
});
void main();
