import { readFileSync } from 'node:fs';

/** A process that can be told from a later one with the same id. */
export interface LiveProcess {
  pid: number;
  /** When it started, in the kernel's own count; absent where there is no /proc. */
  start?: string;
}

export function identifyProcess(pid: number = process.pid): LiveProcess {
  const start = statOf(pid)?.start;
  return start === undefined ? { pid } : { pid, start };
}

/** True while that very process runs; a zombie has ended. */
export function isRunning({ pid, start }: LiveProcess): boolean {
  const stat = statOf(pid);
  if (stat !== undefined) return !stat.zombie && (start === undefined || stat.start === start);
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'; // there, but somebody else's
  }
}

/** From /proc/<pid>/stat (proc(5)): field 3, the state, and field 22, the start time in clock ticks since boot. */
function statOf(pid: number): { zombie: boolean; start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may hold spaces
    return { zombie: fields[0] === 'Z' || fields[0] === 'X', start: fields[19] ?? '' };
  } catch {
    return undefined; // no such process, or no /proc on this system
  }
}
