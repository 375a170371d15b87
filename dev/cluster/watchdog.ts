import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ledgerDirectory, ProcessLedger } from '../../operator/updates/process-ledger';
import type { WatchdogEvent, WatchdogRequest } from './watchdog-protocol';

/**
 * A process of its own that starts processes for its owner and ends them all when its standard input closes.
 * The kernel closes that pipe however the owner ends, SIGKILL included, so nothing stays behind.
 * It has a session of its own: signals from the owner's terminal don't reach it before the owner has had its say.
 */
interface Running {
  child: ChildProcess;
  graceMs: number;
}

const running = new Map<number, Running>();
let ending = false;

function tell(event: WatchdogEvent): void {
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

function start(request: Extract<WatchdogRequest, { request: 'start' }>): void {
  if (ending) return;
  const log = openSync(request.log, 'a', 0o600);
  const child = spawn(request.command, request.args, {
    cwd: request.cwd,
    env: request.environment,
    detached: true, // its own process group, so that what it starts ends with it
    stdio: ['ignore', request.lines ? 'pipe' : log, log],
  });
  closeSync(log);
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', (text) => tell({ event: 'line', id: request.id, text }));
  child.once('error', (error) => {
    if (child.pid === undefined) tell({ event: 'failed', id: request.id, message: error.message });
  });
  if (child.pid === undefined) return;
  running.set(request.id, { child, graceMs: request.graceMs });
  tell({ event: 'started', id: request.id, pid: child.pid });
  child.once('exit', (code, signal) => {
    running.delete(request.id);
    signalGroup(child, 'SIGKILL'); // what it started and left
    endOrphans();
    tell({ event: 'exited', id: request.id, code, signal });
    if (ending && running.size === 0) process.exit(0);
  });
}

/** An operator's workers have process groups of their own; one that is stopped does not notice that its operator has ended. */
function endOrphans(): void {
  const warn = (fields: object, message: string): void => void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  new ProcessLedger(ledgerDirectory(), { warn }).endOrphans();
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function endAll(): void {
  if (ending) return;
  ending = true;
  if (running.size === 0) process.exit(0);
  for (const { child, graceMs } of running.values()) {
    signalGroup(child, 'SIGTERM');
    setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  }
}

function handle(line: string): void {
  const request = JSON.parse(line) as WatchdogRequest;
  if (request.request === 'start') return start(request);
  const target = running.get(request.id);
  if (target !== undefined) signalGroup(target.child, request.signal);
}

process.stdout.on('error', endAll); // the owner is gone
process.on('SIGTERM', endAll);
process.on('SIGINT', endAll);
process.on('SIGHUP', endAll);
createInterface({ input: process.stdin }).on('line', handle).on('close', endAll);
