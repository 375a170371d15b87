import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../base/duration';

/** How a command reaches its cluster. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
}

export interface NamespaceFlags extends ConnectionFlags {
  /** Absent = that of the kubeconfig's context, else `default`. */
  namespace?: string;
}

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml';

/** Of a command that prints several objects. */
export interface ListFlags extends NamespaceFlags {
  allNamespaces?: boolean;
  output: OutputFormat;
}

/** `--kubeconfig`, `--context`: the user's own rights at the API server, and nothing else, are what the command works with. */
export function withConnectionFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig');
}

/** And `-n`. */
export function withNamespaceFlags(command: Command): Command {
  return withConnectionFlags(command.option('-n, --namespace <name>', 'namespace (default: that of the context)'));
}

/** And `-A`. */
export function withListFlags(command: Command): Command {
  return withNamespaceFlags(command.option('-A, --all-namespaces', 'all namespaces'));
}

/** `-o`, with the words that the command knows. */
export function outputOption(formats: readonly OutputFormat[]): Option {
  return new Option('-o, --output <format>', 'how it is printed').choices(formats).default('table');
}

/** `-o` of a command that tells line by line what it does. */
export function deedsOption(): Option {
  return outputOption(['table', 'json', 'yaml']);
}

export function timeoutOption(defaultMs: number): Option {
  return new Option('--timeout <duration>', 'how long the operator may take')
    .default(defaultMs, `${defaultMs / 1000}s`)
    .argParser(parseTimeout);
}

/** The examples at the end of a command's help. */
export function withExamples(command: Command, ...examples: string[]): Command {
  return command.addHelpText('after', `\nExamples:\n${examples.map((example) => `  ${example}\n`).join('')}`);
}

/** In milliseconds. */
function parseTimeout(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new InvalidArgumentError('It must be a duration such as 2m.');
  }
}
