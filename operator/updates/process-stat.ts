import { readFileSync, readlinkSync } from 'node:fs';

/** What the kernel says of a process. */
export interface ProcessStat {
  /** Clock ticks since the boot: with the pid, it tells a process from a later one of the same pid. */
  startTime: number;
  processGroup: number;
  session: number;
  rssBytes: number;
}

const PAGE_BYTES = 4096;

/** Reads /proc/<pid>/stat (proc(5)); undefined when the process has ended, or where there is no /proc. */
export function statOf(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The second field, the command's name in brackets, may itself contain blanks and brackets.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, startTime, pages] = [fields[0], Number(fields[19]), Number(fields[21])];
  if (state === 'Z' || state === 'X') return undefined;
  return { startTime, processGroup: Number(fields[2]), session: Number(fields[3]), rssBytes: pages * PAGE_BYTES };
}

/** Names the world in which pids mean something: this boot, this pid namespace. */
export function pidWorld(): string {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
}
