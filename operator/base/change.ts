import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What is being done, and in whose course: it stands on every log line that is written meanwhile, and is what a trace is made of. */
export interface Change {
  /** 32 hex digits: from a Service's pass to the calls to the cloud, and the id of the trace. */
  id: string;
  /** What it is done to: `Service default/web`. */
  object: string;
  /** Id of the span that is open. */
  span?: string;
}

/** Runs something later as what it is part of now. */
export type Continue = <T>(run: () => T) => T;

const current = new AsyncLocalStorage<Change>();

export function newChangeID(): string {
  return randomBytes(16).toString('hex');
}

/** Everything that `run` does, however deep, is part of the change. */
export function inChange<T>(change: Change, run: () => T): T {
  return current.run(change, run);
}

/** The change in whose course this is called; undefined = in none. */
export function currentChange(): Change | undefined {
  return current.getStore();
}

/** For what is told by messages and timers, which know nothing of who waits for them. */
export function sameChange(): Continue {
  const change = currentChange();
  return (run) => (change === undefined ? run() : inChange(change, run));
}

/** What a log line says of the change. */
export function changeFields(): { update?: string; object?: string } {
  const change = currentChange();
  return change === undefined ? {} : { update: change.id, object: change.object };
}
