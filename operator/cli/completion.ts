import { Argument, type Command } from 'commander';
import type { Subcommand } from './command';
import { candidates, type Completable } from './completion-candidates';
import { completionScript, SHELLS, type Shell } from './completion-script';

/** What a shell's script asks, with the words so far. */
const ASK = '__complete';

/** Cobra's ShellCompDirectiveNoFileComp: names of files are no candidates. */
const NO_FILES = ':4';

/** `cloud-operator completion`: for bash, zsh and fish. */
export const completion: Subcommand = (program: Command): void => {
  program
    .command('completion')
    .summary('completion of commands and options, for bash, zsh and fish')
    .description('Prints what the shell must read to complete this program’s commands and options.')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  source <(cloud-operator completion bash)
  cloud-operator completion zsh > "\${fpath[1]}/_cloud-operator"
  cloud-operator completion fish > ~/.config/fish/completions/cloud-operator.fish

\`kubectl cloud\` is completed by kubectl itself, where kubectl_complete-cloud is in the PATH, as npm puts it there.
`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, ASK));
    });
  program
    .command(ASK, { hidden: true })
    .argument('[words...]')
    .option('--kubectl', 'as kubectl wants it of plugins')
    .helpOption(false)
    .action((words: string[], flags: { kubectl?: boolean }) => {
      const found = candidates(completable(program), words);
      const lines = flags.kubectl === true ? [...found, NO_FILES] : found;
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
};

/** The commands as data. */
function completable(command: Command): Completable {
  const visible = command.commands.filter((sub) => !sub.name().startsWith('__'));
  return {
    name: command.name(),
    options: command.options.map(({ long, short, required, optional, argChoices }) => ({
      names: [long, short].flatMap((name) => name ?? []),
      takesValue: required || optional,
      choices: argChoices ?? [],
    })),
    choices: command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
    commands: visible.map(completable),
  };
}
