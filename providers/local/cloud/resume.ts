import type { Part, View } from './collections/rules';
import { RESOURCE_COLLECTIONS, type Change, type ResourceCollection } from './entry';
import { readdress } from './readdress';
import type { Settler, Task } from './settler';
import type { Store } from './store';

/** So many instances or load balancers are set up at a time. */
const AT_ONCE = 8;

/**
 * After a start: gives addresses to what the tier has no longer, applies everything once to the empty data plane (instances before what points at
 * them), ends what a crash interrupted, and closes its operations. What can't be applied is marked and tried again; it does not keep the cloud from
 * starting.
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
    .filter(({ operation }) => operation.state === 'running')
    .map(({ operation }): Change => ({ kind: 'operation', operation: { ...operation, state: 'done' } }));
  if (ended.length > 0) await store.commit(ended);
}

function tasksOf(collection: ResourceCollection, { state }: View): Task[] {
  return state.all(collection).map(({ resource: { id, state: at } }, index) => {
    return { collection, id, parts: ownParts(collection, id, index), removes: at === 'deleting' };
  });
}

/** Pools and addresses are applied with the load balancers, and the first route stands for all. */
function ownParts(collection: ResourceCollection, id: string, index: number): Part[] {
  if (collection === 'instances') return [{ kind: 'instance', id }];
  if (collection === 'loadbalancers') return [{ kind: 'loadbalancer', id }];
  return collection === 'routes' && index === 0 ? [{ kind: 'routes' }] : [];
}

async function withLimit(tasks: Task[], run: (task: Task) => Promise<void>): Promise<void> {
  const waiting = tasks.values();
  const lane = async (): Promise<void> => {
    for (const task of waiting) await run(task);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
