import type { Clock } from '../base/clock';
import type { KubeObject, ObjectKey } from '../kube/object';

/**
 * What our own writes gave back, until the store has caught up: without it, a pass that runs a few milliseconds after a write would see the
 * object from before, and do and say everything twice.
 */
export class LatestWrites<T extends KubeObject> {
  /** The latest last. */
  private readonly written = new Map<ObjectKey, { object: T; at: number }>();

  /** @param limitMs how long a write counts for more than the store: the object may be gone by then, without our having seen it */
  constructor(
    private readonly clock: Clock,
    private readonly limitMs: number,
  ) {}

  /** How many writes are remembered. */
  get size(): number {
    return this.written.size;
  }

  wrote(key: ObjectKey, object: T): void {
    const at = this.clock.monotonic();
    const before = this.written.get(key)?.object;
    if (newer(before, object) === object) {
      this.written.delete(key);
      this.written.set(key, { object, at });
    }
    // Nobody asks again for an object that went with the write, and whose removal the store told of before its answer came.
    for (const [old, entry] of this.written) {
      if (at - entry.at < this.limitMs) return;
      this.written.delete(old);
    }
  }

  /** The later of what is stored and what was written. */
  latest(key: ObjectKey, stored: T | undefined): T | undefined {
    const entry = this.written.get(key);
    if (entry === undefined) return stored;
    if (this.clock.monotonic() - entry.at < this.limitMs) return newer(stored, entry.object);
    this.written.delete(key);
    return stored;
  }

  /** To be told of every change of the store; `current` absent = removed. */
  changed(key: ObjectKey, current: T | undefined): void {
    const entry = this.written.get(key);
    if (entry !== undefined && (current === undefined || newer(current, entry.object) === current)) this.written.delete(key);
  }
}

/** ResourceVersions of one kind can be compared as numbers (Kubernetes 1.35); of equal ones, the first. */
function newer<T extends KubeObject>(a: T | undefined, b: T | undefined): T | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return BigInt(a.metadata.resourceVersion) >= BigInt(b.metadata.resourceVersion) ? a : b;
}
