import { rmSync } from 'node:fs';
import { sleep, systemClock } from '../../operator/base/clock';
import { OperatorError } from '../../operator/base/errors';
import { isRunning, type LiveProcess } from '../../tools/live-process';
import type { DevPaths } from './paths';
import { readState, runningProcesses, type ProcessState } from './state';

/** Longer than the slowest part takes (the local cloud has 12 s), one after another. */
const ORDERLY_MS = 45_000;
const KILLED_MS = 15_000;
const POLL_MS = 50;

/**
 * Ends a development cluster; its data stay. Whatever an earlier supervisor left is ended too: every process is known by id and start time.
 * @returns the names of what was running
 * @throws OperatorError when something can't be ended
 */
export async function shutDown(paths: DevPaths): Promise<string[]> {
  const state = readState(paths.state);
  if (state === undefined) return [];
  const before = runningProcesses(state);
  if (isRunning(state.supervisor)) {
    process.kill(state.supervisor.pid, 'SIGTERM');
    await ended([state.supervisor], ORDERLY_MS);
    if (isRunning(state.supervisor)) process.kill(state.supervisor.pid, 'SIGKILL'); // its watchdog ends the rest
  } else {
    for (const { pid } of before) killGroup(pid);
  }
  const left = await ended(before, KILLED_MS);
  if (left.length > 0) {
    const names = left.map(({ name, pid }) => `${name} (process ${pid})`).join(', ');
    throw new OperatorError('Unknown', `still running: ${names}`, { remedy: 'end them by their ids, then try again' });
  }
  rmSync(paths.state, { force: true });
  return before.map(({ name }) => name);
}

/** Waits until these have ended, or the time is over. @returns those that run still */
async function ended<T extends LiveProcess | ProcessState>(processes: T[], timeoutMs: number): Promise<T[]> {
  const deadline = systemClock.monotonic() + timeoutMs;
  for (;;) {
    const left = processes.filter(isRunning);
    if (left.length === 0 || systemClock.monotonic() > deadline) return left;
    await sleep(systemClock, POLL_MS);
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}
