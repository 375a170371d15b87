import { readdirSync } from 'node:fs';
import { statOf } from './process-stat';

/**
 * Ends a worker and all that runs for it, at once. The worker leads a session: its engine is in its process group, but the engine gives every official
 * plugin a group of its own, which outlives the engine by minutes and goes on writing to the cloud.
 */
export function killSession(worker: number): void {
  // With its engine, so that it has no time to call that one's end a failure; and itself last.
  if (worker !== process.pid) kill(-worker);
  killOthers(worker);
  kill(-worker);
}

/** Ends all that runs for a worker, but not the worker; nothing where there is no /proc. */
export function killOthers(worker: number): void {
  sessionOf(worker).forEach(kill);
  // An engine may have begun a plugin before it was killed.
  sessionOf(worker).forEach(kill);
}

/** Living processes of a worker's session without the worker. */
export function sessionOf(worker: number): number[] {
  return pids().filter((pid) => pid !== worker && statOf(pid)?.session === worker);
}

function pids(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^[0-9]+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** @param pid of a process, or negative of a process group; nobody of it may be left, which is the aim */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
