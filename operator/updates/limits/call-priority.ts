import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Who is served first when an account's calls are scarce: what keeps traffic right or ends costs (members, deletes), then what people
 * have changed, then what only looks (drift, resync).
 */
export type CallPriority = 'First' | 'Change' | 'Background';

export const CALL_PRIORITIES: readonly CallPriority[] = ['First', 'Change', 'Background'];

const FIRST_VERBS = new Set(['delete', 'targets']);
const current = new AsyncLocalStorage<CallPriority>();

/** Runs work whose calls to a cloud have the given priority, however deep in it they are made. */
export function atPriority<T>(priority: CallPriority, work: () => Promise<T>): Promise<T> {
  return current.run(priority, work);
}

/** Priority of the work in whose course this is called. */
export function currentPriority(): CallPriority {
  return current.getStore() ?? 'Change';
}

/** Priority of one call of a work. Pure. */
export function priorityOfCall(verb: string, work: CallPriority): CallPriority {
  return FIRST_VERBS.has(verb) ? 'First' : work;
}
