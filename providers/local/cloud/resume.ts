import { rulesOf } from './collections';
import type { View } from './collections/rules';
import { RESOURCE_COLLECTIONS, type Change, type ResourceCollection } from './entry';
import { readdress } from './readdress';
import type { Settler, Task } from './settler';
import type { Store } from './store';

/** So many instances or load balancers are set up at a time. */
const AT_ONCE = 8;

/**
 * After a start: gives addresses to what the tier has no longer, applies everything to the empty data plane (instances before what points at them), ends
 * what a crash interrupted, and closes its operations. What can't be applied is marked and tried again; it does not keep the cloud from starting.
 */
export async function resume(store: Store, view: View, settler: Settler): Promise<void> {
  const moved = readdress(view);
  if (moved.length > 0) await store.commit(moved);
  for (const collection of RESOURCE_COLLECTIONS) {
    const tasks = tasksOf(collection, view);
    await withLimit(tasks, (task) => settler.settleQuietly(task));
  }
  const ended = store.state
    .operations()
    .filter(({ state }) => state === 'running')
    .map((operation): Change => ({ kind: 'operation', operation: { ...operation, state: 'done' } }));
  if (ended.length > 0) await store.commit(ended);
}

function tasksOf(collection: ResourceCollection, view: View): Task[] {
  return view.state.all(collection).map((entry) => {
    const { parts } = rulesOf(collection).effects(entry, entry, view);
    return { collection, id: entry.resource.id, parts, removes: entry.resource.state === 'deleting' };
  });
}

async function withLimit(tasks: Task[], run: (task: Task) => Promise<void>): Promise<void> {
  const waiting = tasks.values();
  const lane = async (): Promise<void> => {
    for (const task of waiting) await run(task);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
