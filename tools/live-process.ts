import { readFileSync } from 'node:fs';

/** A process that can be told from a later one with the same id. */
export interface LiveProcess {
  pid: number;
  /** When it started, in the kernel's own count; absent where there is no /proc. */
  start?: string;
}

export function identifyProcess(pid: number = process.pid): LiveProcess {
  const start = startOf(pid);
  return start === undefined ? { pid } : { pid, start };
}

/** True while that very process runs; a zombie counts as ended. */
export function isRunning({ pid, start }: LiveProcess): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM'; // there, but somebody else's
  }
  return start === undefined || startOf(pid) === start;
}

/** Field 22 of /proc/<pid>/stat (proc(5)): the start time in clock ticks since boot. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before it may hold spaces
    return fields[0] === 'Z' ? undefined : fields[19];
  } catch {
    return undefined; // no such process, or no /proc on this system
  }
}
