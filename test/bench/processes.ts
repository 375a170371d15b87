import { readdirSync, readFileSync } from 'node:fs';
import { statOf } from '../../operator/updates/process-stat';

/** Clock ticks of the kernel, per second: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const LOOK_EVERY_MS = 100;

/** CPU time that one process has used so far, in seconds, without its children's. */
export function cpuSeconds(pid: number): number {
  const fields = fieldsOf(String(pid));
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory in MB; 0 when the process has ended. */
export function rssMB(pid: number): number {
  return Math.round((statOf(pid)?.rssBytes ?? 0) / 1024 / 1024);
}

/** Notes the largest memory of workers (children of the operator) and engines (their children), until it is stopped. */
export class MemoryWatch {
  workerMB = 0;
  engineMB = 0;
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);

  constructor(private readonly operatorPid: () => number) {}

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const children = childrenByParent();
    for (const worker of children.get(this.operatorPid()) ?? []) {
      this.workerMB = Math.max(this.workerMB, rssMB(worker));
      for (const engine of children.get(worker) ?? []) this.engineMB = Math.max(this.engineMB, rssMB(engine));
    }
  }
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const parent = Number(fieldsOf(pid)[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(pid)]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return children;
}

/** Fields of /proc/<pid>/stat from the third on (proc(5)). */
function fieldsOf(pid: string): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
