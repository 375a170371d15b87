import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pidWorld } from '../../operator/updates/process-stat';
import { identifyProcess, isRunning, type LiveProcess } from '../../tools/live-process';

interface Owner extends LiveProcess {
  /** Where its pid means something. */
  world: string;
}

const PREFIX = 'cloud-operator-demo-';
const MARK = 'owner.json';
/** What ends with a killed demo may still write for a moment. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 100 } as const;

/** The temporary folder of one demo. One that was killed can't remove its own: the next demo does. */
export class DemoFolder {
  private constructor(readonly path: string) {}

  /**
   * Makes one, and removes those of demos that have died.
   * @param report told of those that can't be removed
   */
  static make(report: (line: string) => void): DemoFolder {
    for (const path of abandoned()) {
      try {
        rmSync(path, REMOVAL);
      } catch (thrown) {
        report(`the folder of an earlier demo can't be removed: ${(thrown as Error).message}`);
      }
    }
    const path = mkdtempSync(join(tmpdir(), PREFIX));
    const owner: Owner = { ...identifyProcess(), world: pidWorld() };
    writeFileSync(join(path, MARK), JSON.stringify(owner), { mode: 0o600 });
    return new DemoFolder(path);
  }

  remove(): void {
    rmSync(this.path, REMOVAL);
  }

  /** Leaves it to who wants to read its logs. */
  keep(): void {
    rmSync(join(this.path, MARK), { force: true });
  }
}

/** Those of this user whose owner was a process of this world, and has ended. */
function abandoned(): string[] {
  const paths = readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(tmpdir(), name));
  return paths.filter((path) => {
    const owner = ownerOf(path);
    return owner !== undefined && owner.world === pidWorld() && !isRunning(owner) && lstatSync(path).uid === process.getuid?.();
  });
}

/** undefined where nobody is named: it is kept for its logs, is somebody else's, or is being made in this moment. */
function ownerOf(path: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(join(path, MARK), 'utf8')) as Owner;
  } catch {
    return undefined;
  }
}
