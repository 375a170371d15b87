import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '../../operator/base/clock';
import { OperatorError } from '../../operator/base/errors';

const MOUNT = '/sys/fs/cgroup';
const EMPTY_TIMEOUT_MS = 10_000;
const POLL_MS = 100;
/** What kubelets account for, in the one hierarchy of version 2. */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids'];

/** A cgroup of our own, in every hierarchy: the containers of one run are under it, and nothing else is. */
export class Cgroups {
  private constructor(
    /** As kubelets name it. */
    readonly path: string,
    private readonly hierarchies: readonly string[],
  ) {}

  /** Whether the machine still has cgroup version 1, which kubelets take only when they are told to. */
  static get version1(): boolean {
    return !existsSync(join(MOUNT, 'cgroup.controllers'));
  }

  /** @param name of a cgroup that isn't there yet */
  static make(name: string): Cgroups {
    const hierarchies = Cgroups.version1 ? readdirSync(MOUNT).map((entry) => join(MOUNT, entry)) : [MOUNT];
    const cgroups = new Cgroups(`/${name}`, hierarchies.filter(isHierarchy));
    cgroups.add(name);
    return cgroups;
  }

  /** One more below it. @returns as kubelets name it */
  addFor(machine: string): string {
    this.add(join(this.path, machine));
    return join(this.path, machine);
  }

  /** Ends what is left in it, and removes it. @throws OperatorError when something does not end */
  async remove(): Promise<void> {
    const deadline = systemClock.monotonic() + EMPTY_TIMEOUT_MS;
    for (;;) {
      const left = this.hierarchies.map((hierarchy) => join(hierarchy, this.path)).filter((folder) => !removed(folder));
      if (left.length === 0) return;
      if (systemClock.monotonic() > deadline) throw new OperatorError('Unknown', `these cgroups can't be removed: ${left.join(', ')}`);
      await sleep(systemClock, POLL_MS);
    }
  }

  private add(path: string): void {
    for (const hierarchy of this.hierarchies) {
      const folder = join(hierarchy, path);
      mkdirSync(folder, { recursive: true }); // two hierarchies may be one, by a link
      if (!Cgroups.version1) writeFileSync(join(folder, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
      // A cpuset without processors or memory takes no process.
      if (!existsSync(join(folder, 'cpuset.cpus')) || !Cgroups.version1) continue;
      for (const file of ['cpuset.cpus', 'cpuset.mems']) writeFileSync(join(folder, file), readFileSync(join(folder, '..', file)));
    }
  }
}

function isHierarchy(folder: string): boolean {
  return existsSync(join(folder, 'cgroup.procs'));
}

/** Removes a cgroup from the leaves on, after its processes were told to end. @returns whether it is gone */
function removed(folder: string): boolean {
  if (!existsSync(folder)) return true;
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const emptied = below.map(({ name }) => removed(join(folder, name))).every(Boolean);
  for (const pid of readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean)) kill(Number(pid));
  if (!emptied) return false;
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false; // a process of it still ends
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}
