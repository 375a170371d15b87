import type { KubeObject, ObjectKey, ResourcePath } from './object';

/** Talks to the API server. Every method throws OperatorError with the code of the HTTP status; nothing is retried here. */
export interface KubeApi {
  get<T extends KubeObject>(resource: ResourcePath, key: ObjectKey): Promise<T | undefined>;
  /** Paged (limit 500), following `continue`; for the few lists that need no store. */
  list<T extends KubeObject>(resource: ResourcePath, options?: ListOptions): Promise<T[]>;
  create<T extends KubeObject>(resource: ResourcePath, namespace: string | undefined, body: object): Promise<T>;
  /** Server-side apply; `force` takes fields over from other managers. */
  apply<T extends KubeObject>(resource: ResourcePath, key: ObjectKey, body: object, options: ApplyOptions): Promise<T>;
  /** A `test` of a JSON patch that does not hold is a Conflict. */
  patch<T extends KubeObject>(resource: ResourcePath, key: ObjectKey, type: PatchType, body: object, options?: PatchOptions): Promise<T>;
  /** undefined = it was gone already. A UID or resourceVersion that differs is a Conflict. */
  remove(resource: ResourcePath, key: ObjectKey, options?: RemoveOptions): Promise<void>;
}

export interface ListOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  /** Only `metadata` of each object (a PartialObjectMetadataList): for large objects of which a list needs labels and annotations only. */
  metadataOnly?: boolean;
}

export interface ApplyOptions {
  fieldManager: string;
  force?: boolean;
  subresource?: 'status';
}

export type PatchType = 'json' | 'merge' | 'strategic';

export interface PatchOptions {
  subresource?: 'status';
  fieldManager?: string;
}

export interface RemoveOptions {
  uid?: string;
  resourceVersion?: string;
}

/** A cache of one collection, filled by a reflector. Objects in it are frozen: never changed in place. */
export interface Store<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(): T[];
  /** Objects for which the named index function gave `value`. */
  byIndex(index: string, value: string): T[];
  /** True once the first list is complete. */
  readonly synced: boolean;
  whenSynced(signal?: AbortSignal): Promise<void>;
  /** Called after the store has changed; `previous` absent = added, `current` absent = removed. The returned function unsubscribes. */
  onChange(listener: (change: StoreChange<T>) => void): () => void;
}

export interface StoreChange<T> {
  key: ObjectKey;
  previous?: T;
  current?: T;
}

/** Involved object of an Event. */
export interface EventTarget {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; uid: string; resourceVersion?: string };
}

/** Writes Events in the background: never throws, never blocks; correlates as client-go does (contract 2.5). */
export interface EventRecorder {
  event(target: EventTarget, type: 'Normal' | 'Warning', reason: string, message: string): void;
}

/** A keyed work queue: one worker per key, dedupe, delays, exponential back-off per key. */
export interface WorkQueue {
  /** High: before everything else, for what traffic waits for. Low: after everything else, for resyncs and other work that nobody waits for. */
  add(key: string, priority?: 'High' | 'Normal' | 'Low'): void;
  /** It waits for a worker, or is with one. */
  has(key: string): boolean;
  addAfter(key: string, ms: number): void;
  /** Adds after the key's own growing back-off. */
  addRateLimited(key: string): void;
  forget(key: string): void;
  /**
   * Runs `handle` for each key with at most `workers` at once until the signal is aborted. A throw is logged, and the key added rate limited, or exactly when a
   * Throttled OperatorError says.
   * @param reserved so many more, which take keys of High priority alone; default none
   */
  run(workers: number, handle: (key: string) => Promise<void>, signal: AbortSignal, reserved?: number): Promise<void>;
  readonly depth: number;
}
