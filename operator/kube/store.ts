import { OperatorError } from '../base/errors';
import { deepFreeze } from '../base/freeze';
import type { Logger } from '../base/log';
import type { Store, StoreChange } from './api';
import { keyOf, type KubeObject, type ObjectKey } from './object';

/** Gives the values under which an object is found; none = not in this index. */
export type IndexFunction<T> = (object: T) => string[];

/** The store of a reflector: objects are frozen, listeners can't break it or each other. */
export class MemoryStore<T extends KubeObject> implements Store<T> {
  private readonly objects = new Map<ObjectKey, T>();
  private readonly indexes = new Map<string, { of: IndexFunction<T>; keys: Map<string, Set<ObjectKey>> }>();
  private readonly listeners = new Set<(change: StoreChange<T>) => void>();
  private readonly syncedSignal = new AbortController();

  constructor(
    indexes: Record<string, IndexFunction<T>>,
    private readonly logger: Logger,
  ) {
    for (const [name, of] of Object.entries(indexes)) this.indexes.set(name, { of, keys: new Map() });
  }

  get synced(): boolean {
    return this.syncedSignal.signal.aborted;
  }

  get(key: ObjectKey): T | undefined {
    return this.objects.get(key);
  }

  list(): T[] {
    return [...this.objects.values()];
  }

  /** @throws OperatorError Invalid when the store has no such index */
  byIndex(index: string, value: string): T[] {
    const keys = this.indexes.get(index)?.keys;
    if (keys === undefined) throw new OperatorError('Invalid', `the store has no index "${index}"`);
    return [...(keys.get(value) ?? [])].map((key) => this.objects.get(key)).filter((object) => object !== undefined);
  }

  /** Rejects with the signal's reason when that comes first. */
  whenSynced(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.synced) return resolve();
      if (signal?.aborted === true) return reject(signal.reason as Error);
      const onAbort = (): void => {
        this.syncedSignal.signal.removeEventListener('abort', onSynced);
        reject(signal?.reason as Error);
      };
      const onSynced = (): void => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      };
      this.syncedSignal.signal.addEventListener('abort', onSynced, { once: true });
      signal?.addEventListener('abort', onAbort, { once: true });
      return undefined;
    });
  }

  onChange(listener: (change: StoreChange<T>) => void): () => void {
    // A wrapper of its own, so that a function given twice is told twice and unsubscribed once each.
    const entry = (change: StoreChange<T>): void => listener(change);
    this.listeners.add(entry);
    return () => this.listeners.delete(entry);
  }

  /** The whole collection as it is now: what is not in it is gone. Objects of an unchanged version are not told about. */
  replace(objects: T[]): void {
    const present = new Set<ObjectKey>();
    for (const object of objects) {
      present.add(keyOf(object.metadata));
      this.set(object);
    }
    for (const key of [...this.objects.keys()]) {
      if (!present.has(key)) this.delete(key);
    }
    // Waiters go on after the listeners have been told of everything.
    if (!this.synced) this.syncedSignal.abort();
  }

  set(object: T): void {
    const key = keyOf(object.metadata);
    const previous = this.objects.get(key);
    if (previous?.metadata.resourceVersion === object.metadata.resourceVersion && previous.metadata.uid === object.metadata.uid) return;
    const current = deepFreeze(object);
    if (previous !== undefined) this.unindex(key, previous);
    this.objects.set(key, current);
    this.index(key, current);
    this.tell(previous === undefined ? { key, current } : { key, previous, current });
  }

  delete(key: ObjectKey): void {
    const previous = this.objects.get(key);
    if (previous === undefined) return;
    this.unindex(key, previous);
    this.objects.delete(key);
    this.tell({ key, previous });
  }

  private index(key: ObjectKey, object: T): void {
    for (const { of, keys } of this.indexes.values()) {
      for (const value of of(object)) {
        const entry = keys.get(value);
        if (entry === undefined) keys.set(value, new Set([key]));
        else entry.add(key);
      }
    }
  }

  private unindex(key: ObjectKey, object: T): void {
    for (const { of, keys } of this.indexes.values()) {
      for (const value of of(object)) {
        const entry = keys.get(value);
        entry?.delete(key);
        if (entry?.size === 0) keys.delete(value);
      }
    }
  }

  private tell(change: StoreChange<T>): void {
    for (const listener of [...this.listeners]) {
      try {
        listener(change);
      } catch (thrown) {
        this.logger.error({ err: thrown, key: change.key }, 'a listener failed on a change of the store');
      }
    }
  }
}
