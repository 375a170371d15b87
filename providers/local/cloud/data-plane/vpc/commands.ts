import { spawn } from 'node:child_process';
import { OperatorError } from '../../../../../operator/base/errors';

/**
 * Runs a program to its end.
 * @returns its standard output
 * @throws OperatorError Unknown with the command and what it said
 */
export function run(command: readonly string[], input = ''): Promise<string> {
  const [program = '', ...args] = command;
  const said = (text: string): string => `${command.join(' ')}: ${text}`;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (err += data.toString()));
    child.on('error', (error) => reject(new OperatorError('Unknown', said(error.message), { cause: error })));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out);
      else reject(new OperatorError('Unknown', said(err.trim() === '' ? `ended with ${code ?? signal}` : err.trim())));
    });
    // A program that ends early does not read the rest; its exit code tells why.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/**
 * Runs lines with one `ip`, in the namespace at `netns` or in this process's own.
 * @throws OperatorError naming the first line that failed; those before it hold
 */
export async function runIp(lines: readonly string[], netns?: string): Promise<void> {
  if (lines.length === 0) return;
  const command = ['ip', '-batch', '-'];
  await run(netns === undefined ? command : inNamespace(netns, command), `${lines.join('\n')}\n`).catch((error: OperatorError) => {
    const number = Number(/Command failed -:(\d+)/.exec(error.message)?.[1]);
    const line = Number.isNaN(number) ? '' : ` (line "${lines[number - 1]}")`;
    throw new OperatorError('Unknown', `${error.message}${line}`, { cause: error });
  });
}

/**
 * Runs all lines with one `ip`, whatever becomes of each.
 * @param option the family, `-4` or `-6`
 * @returns what was said of those that failed, by their index
 */
export async function runEach(option: string, lines: readonly string[]): Promise<Map<number, string>> {
  if (lines.length === 0) return new Map();
  try {
    await run(['ip', option, '-force', '-batch', '-'], `${lines.join('\n')}\n`);
    return new Map();
  } catch (thrown) {
    const failures = failuresIn((thrown as Error).message);
    if (failures.size === 0) throw thrown;
    return failures;
  }
}

/** `ip` says why a line failed, and then which one it was. Pure. */
export function failuresIn(said: string): Map<number, string> {
  const failures = new Map<number, string>();
  let reason: string[] = [];
  for (const line of said.split('\n')) {
    const number = /^Command failed -:(\d+)/.exec(line)?.[1];
    if (number === undefined) reason.push(line.trim());
    else {
      failures.set(Number(number) - 1, reason.join(' '));
      reason = [];
    }
  }
  return failures;
}

/** Removes a link of this process's namespace; one that is gone, or that the kernel removes at the same time with its other end, is done. */
export async function removeLink(name: string): Promise<void> {
  await run(['ip', 'link', 'delete', name]).catch((error: Error) => {
    if (!saysNoDevice(error.message)) throw error;
  });
}

/** `ip` has words of its own for a link that it does not find, and the kernel's for one that goes between the finding and the removal. Pure. */
export function saysNoDevice(message: string): boolean {
  return /Cannot find device|No such device/.test(message);
}

/** Puts a command into a network namespace, and only there: files and mounts stay the same. */
export function inNamespace(netns: string, command: readonly string[]): string[] {
  return ['nsenter', `--net=${netns}`, '--', ...command];
}
