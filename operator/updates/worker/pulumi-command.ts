import { spawn } from 'node:child_process';
import type { PulumiCommand } from '@pulumi/pulumi/automation';

/** How the engine's process ended. */
export interface EngineExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}

export interface EngineOptions {
  /** Path of the Pulumi CLI. */
  path: string;
  version: string;
  /** The whole environment of the process: nothing of ours is inherited. */
  environment: Record<string, string>;
  onStart(pid: number): void;
  onExit(exit: EngineExit): void;
}

interface CommandResult {
  stdout: string;
  stderr: string;
  code: number;
}

const REAL = new Set(['up', 'preview', 'destroy', 'refresh']);
const STDERR_LIMIT = 64 * 1024;

/**
 * The CLI as the Automation API uses it, except that only engine runs start a process: what the API asks before and after them
 * (select the stack, read outputs and history) takes a process of 0.1 s each and is known here already.
 */
export class EngineCommand {
  readonly command: string;
  readonly version: { toString(): string };

  constructor(private readonly options: EngineOptions) {
    this.command = options.path;
    this.version = { toString: () => options.version };
  }

  /** As the Automation API's own class, whose constructor is private. */
  asPulumiCommand(): PulumiCommand {
    return this as unknown as PulumiCommand;
  }

  async run(
    args: string[],
    cwd: string,
    environment: Record<string, string>,
    ...[, , signal]: [unknown?, unknown?, AbortSignal?]
  ): Promise<CommandResult> {
    if (!REAL.has(args[0] ?? '')) return { stdout: args[1] === 'history' ? '[]' : '{}', stderr: '', code: 0 };
    const exit = await this.#engine([...args, '--non-interactive', '--color', 'never'], cwd, environment, signal);
    this.options.onExit(exit);
    if (exit.code === 0) return { stdout: '', stderr: exit.stderr, code: 0 };
    throw new Error(`the engine ended with ${exit.signal ?? exit.code}: ${exit.stderr}`);
  }

  #engine(args: string[], cwd: string, environment: Record<string, string>, signal: AbortSignal | undefined): Promise<EngineExit> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.command, args, {
        cwd,
        env: { ...environment, ...this.options.environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr = (stderr + text).slice(-STDERR_LIMIT);
      });
      // The first SIGINT lets steps in flight finish and be stored.
      const interrupt = (): void => void child.kill('SIGINT');
      signal?.addEventListener('abort', interrupt, { once: true });
      child.once('error', reject);
      child.once('spawn', () => {
        this.options.onStart(child.pid ?? 0);
        if (signal?.aborted === true) interrupt();
      });
      child.once('close', (code, killedBy) => {
        signal?.removeEventListener('abort', interrupt);
        resolve({ code, signal: killedBy, stderr });
      });
    });
  }
}
