import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** One command, as it is typed. */
export interface Step {
  /** What a failure names: page and line. */
  at: string;
  text: string;
  /** Extended regular expressions: it is typed again until its output has all of them, and it succeeds. Absent = typed once. */
  prints?: string[];
}

/**
 * A shell as a reader of the docs has it: what one command sets is there for those after it, and the first that fails ends it.
 * All of it ends at the limit, with everything that it has started in the foreground.
 */
export class ReaderShell {
  /** @param folder where the reader stands; gets files of the shell's own */
  constructor(
    private readonly folder: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @throws Error naming the step, what was typed and what was printed */
  async run(steps: readonly Step[], limitMs: number): Promise<void> {
    const file = (name: string): string => join(this.folder, `.shell-${name}`);
    writeFileSync(file('script'), scriptOf(steps, file));
    for (const name of ['step', 'output', 'last']) writeFileSync(file(name), '');
    const own = openSync(file('own'), 'w');
    const shell = spawn('bash', [file('script')], { cwd: this.folder, env: this.environment, stdio: ['ignore', own, own], detached: true });
    closeSync(own);
    const end = await new Promise<string | undefined>((resolve, reject) => {
      const limit = setTimeout(() => {
        if (shell.pid !== undefined) process.kill(-shell.pid, 'SIGKILL');
        resolve(`has not ended after ${limitMs / 1000} s`);
      }, limitMs);
      shell.once('error', reject);
      shell.once('exit', (code) => {
        clearTimeout(limit);
        resolve(code === 0 ? undefined : `ended with exit code ${code}`);
      });
    });
    if (end === undefined) return;
    const step = steps[Number(readFileSync(file('step'), 'utf8'))];
    const wanted = step?.prints === undefined ? '' : `\nIt should print: ${step.prints.join(' and ')}`;
    const printed = ['last', 'output', 'own'].map((name) => readFileSync(file(name), 'utf8').slice(-4_000)).join('');
    throw new Error(`${step?.at} ${end}: ${step?.text}${wanted}\nIt printed:\n${printed}`);
  }
}

function scriptOf(steps: readonly Step[], file: (name: string) => string): string {
  const typed = steps.flatMap(({ text, prints }, at) => {
    const command = `{\n${text}\n} > ${file('output')} 2>&1`;
    const seen = (prints ?? []).map((pattern) => `grep -Eq -e ${quoted(pattern)} ${file('output')}`);
    return [
      `echo ${at} > ${file('step')}`,
      prints === undefined ? command : `until ${[command, ...seen].join(' && ')}; do cp ${file('output')} ${file('last')}; sleep 0.2; done`,
    ];
  });
  return ['set -euo pipefail', ...typed].join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
