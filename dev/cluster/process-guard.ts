import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { existsSync, renameSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { OperatorError } from '../../operator/base/errors';
import { compiled } from '../../operator/entry';
import type { WatchdogEvent, WatchdogRequest } from './watchdog-protocol';

export interface GuardedCommand {
  /** For messages: `kube-apiserver`. */
  name: string;
  command: string;
  args: string[];
  cwd: string;
  /** The whole environment of the process; absent = PATH, HOME and the time zone only. */
  environment?: Record<string, string>;
  /** Standard output and error are appended here. */
  log: string;
  /** Gets standard output line by line; then only standard error goes to the log. */
  onLine?: (text: string) => void;
  /** How long it has after SIGTERM before SIGKILL, in milliseconds. */
  graceMs: number;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GuardedProcess {
  readonly name: string;
  readonly pid: number;
  readonly log: string;
  /** Undefined while it runs. */
  readonly exit: Exit | undefined;
  /** Resolves when it has ended, however that came about. */
  readonly ended: Promise<Exit>;
  /** SIGTERM, then SIGKILL after `graceMs`; resolves when it has ended. */
  stop(): Promise<Exit>;
}

interface Entry {
  command: GuardedCommand;
  pid?: number;
  exit?: Exit;
  started: Deferred<void>;
  ended: Deferred<Exit>;
}

interface Deferred<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

function deferred<T>(): Deferred<T> {
  let settle: Omit<Deferred<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, resolve: (value) => settle?.resolve(value), reject: (error) => settle?.reject(error) };
}

const LOG_LIMIT_BYTES = 20 * 1024 * 1024;

/** Starts processes that end with this one, however it ends (see watchdog.ts). */
export class ProcessGuard {
  private readonly entries = new Map<number, Entry>();
  private nextId = 1;
  private closed = false;
  private readonly watchdogEnded: Promise<void>;

  private constructor(private readonly watchdog: ChildProcessByStdio<Writable, Readable, null>) {
    createInterface({ input: watchdog.stdout }).on('line', (line) => this.handle(JSON.parse(line) as WatchdogEvent));
    watchdog.stdin.on('error', () => undefined); // told by its exit, below
    this.watchdogEnded = new Promise((resolve) => {
      watchdog.once('exit', () => {
        this.watchdogGone();
        resolve();
      });
    });
  }

  /** @throws OperatorError when the project isn't compiled */
  static open(): ProcessGuard {
    const path = compiled('dev/cluster/watchdog');
    if (!existsSync(path)) {
      throw new OperatorError('Invalid', `${path} is missing`, { remedy: 'compile the project first: npx projen compile' });
    }
    const watchdog = spawn(process.execPath, ['--max-old-space-size=64', path], {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: minimalEnvironment(),
    });
    return new ProcessGuard(watchdog);
  }

  /** @throws OperatorError when the program can't be started at all */
  async start(command: GuardedCommand): Promise<GuardedProcess> {
    if (this.closed) throw new OperatorError('Canceled', `${command.name}: its guard is closed`);
    turnLog(command.log);
    const id = this.nextId++;
    const entry: Entry = { command, started: deferred(), ended: deferred() };
    this.entries.set(id, entry);
    this.send({
      request: 'start',
      id,
      command: command.command,
      args: command.args,
      environment: command.environment ?? minimalEnvironment(),
      cwd: command.cwd,
      log: command.log,
      lines: command.onLine !== undefined,
      graceMs: command.graceMs,
    });
    await entry.started.promise;
    return this.processOf(id, entry);
  }

  /** Ends everything that was started, and the watchdog. */
  async close(): Promise<void> {
    this.closed = true;
    this.watchdog.stdin.end();
    await this.watchdogEnded;
  }

  private processOf(id: number, entry: Entry): GuardedProcess {
    const stop = async (): Promise<Exit> => {
      if (entry.exit !== undefined) return entry.exit;
      this.send({ request: 'signal', id, signal: 'SIGTERM' });
      const timer = setTimeout(() => this.send({ request: 'signal', id, signal: 'SIGKILL' }), entry.command.graceMs);
      const exit = await entry.ended.promise;
      clearTimeout(timer);
      return exit;
    };
    return {
      name: entry.command.name,
      pid: entry.pid ?? 0,
      log: entry.command.log,
      ended: entry.ended.promise,
      stop,
      get exit(): Exit | undefined {
        return entry.exit;
      },
    };
  }

  private send(request: WatchdogRequest): void {
    if (this.watchdog.stdin.writable) this.watchdog.stdin.write(`${JSON.stringify(request)}\n`);
  }

  private handle(event: WatchdogEvent): void {
    const entry = this.entries.get(event.id);
    if (entry === undefined) return;
    switch (event.event) {
      case 'started':
        entry.pid = event.pid;
        return entry.started.resolve();
      case 'failed':
        this.entries.delete(event.id);
        return entry.started.reject(new OperatorError('Invalid', `${entry.command.name} can't be started: ${event.message}`));
      case 'line':
        return entry.command.onLine?.(event.text);
      case 'exited':
        return this.finish(event.id, entry, { code: event.code, signal: event.signal });
    }
  }

  private finish(id: number, entry: Entry, exit: Exit): void {
    entry.exit = exit;
    this.entries.delete(id);
    entry.ended.resolve(exit);
  }

  /** Somebody killed the watchdog: what it guarded is ours to end. */
  private watchdogGone(): void {
    this.closed = true;
    for (const [id, entry] of this.entries) {
      entry.started.reject(new OperatorError('Unknown', `${entry.command.name}: its watchdog ended`));
      if (entry.pid !== undefined) killGroup(entry.pid);
      this.finish(id, entry, { code: null, signal: 'SIGKILL' });
    }
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function turnLog(log: string): void {
  if (existsSync(log) && statSync(log).size > LOG_LIMIT_BYTES) renameSync(log, `${log}.1`);
}

/** What every program needs and nothing that could steer it from outside. */
export function minimalEnvironment(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TZ', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
