import { rmSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import type { Clock } from '../../../../operator/base/clock';
import type { Logger } from '../../../../operator/base/log';
import { onLines } from './lines';

export interface ProcessPlan {
  /** Program and arguments. */
  command: string[];
  /** Added to PATH, HOME and TMPDIR of this process; the rest of the environment is not handed down. */
  env: Record<string, string>;
  /** Unix sockets that it listens on: removed before each start, because one that is there can't be opened again. */
  sockets: string[];
}

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5000;
/** After running so long a process counts as well: its next failure starts with the first delay again. */
const WELL_AFTER_MS = 10_000;
/** How long a process has between being asked to end and being killed. */
const GRACE_MS = 5000;
const LONGEST_LINE = 2000;

/**
 * A process that is started again with a growing delay whenever it ends, until it is stopped.
 * Its standard input is a pipe that closes when this process dies: the way for it to learn of that.
 */
export class SupervisedProcess {
  private child: ChildProcess | undefined;
  private failures = 0;
  private stopping = false;
  private lastLine = '';
  private cancelRestart: () => void = () => undefined;

  constructor(
    readonly plan: ProcessPlan,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  start(): void {
    const [program = '', ...args] = this.plan.command;
    const startedAt = this.clock.monotonic();
    for (const socket of this.plan.sockets) rmSync(socket, { force: true });
    const child = spawn(program, args, { env: { ...inherited(), ...this.plan.env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child = child;
    // It may end without having read what stands in the pipe.
    child.stdin.on('error', (error) => this.logger.trace({ error: error.message }, 'standard input of the process is closed'));
    for (const stream of [child.stdout, child.stderr]) {
      onLines(stream, (line) => {
        this.lastLine = line.slice(0, LONGEST_LINE);
        this.logger.debug({ line: this.lastLine }, 'process says');
      });
    }
    child.on('error', (error) => {
      this.lastLine = error.message;
      // A program that can't be started gives no `exit`.
      if (child.pid === undefined) this.ended(startedAt, 'could not be started');
    });
    child.on('exit', (code, signal) => this.ended(startedAt, signal === null ? `ended with code ${code}` : `was ended by ${signal}`));
  }

  /** Asks it to end, then kills it; resolves when it is gone and never starts again. */
  async stop(): Promise<void> {
    this.stopping = true;
    this.cancelRestart();
    const { child } = this;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const cancelKill = this.clock.after(GRACE_MS, () => child.kill('SIGKILL'));
    await gone;
    cancelKill();
  }

  private ended(startedAt: number, how: string): void {
    this.child = undefined;
    if (this.stopping) return;
    this.failures = this.clock.monotonic() - startedAt >= WELL_AFTER_MS ? 1 : this.failures + 1;
    const delay = restartDelay(this.failures);
    this.logger.warn({ command: this.plan.command, lastLine: this.lastLine }, `process ${how}, started again in ${delay} ms`);
    this.cancelRestart = this.clock.after(delay, () => this.start());
  }
}

/** Milliseconds to wait after the given number of failures in a row. Pure. */
export function restartDelay(failures: number): number {
  return Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
}

function inherited(): Record<string, string> {
  const names = ['PATH', 'HOME', 'TMPDIR'];
  return Object.fromEntries(names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
}
