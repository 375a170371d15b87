import type { StackMetadata } from '../updates/state/stack-record';
import { type StateFlags, withStore } from './state-place';
import { formatTable } from './table';

/** `state list`. Sets exit code 1 when a stack can't be read, and names it. */
export async function listStates(flags: StateFlags, json: boolean): Promise<void> {
  await withStore(flags, async (store) => {
    const { stacks, damaged } = await store.list();
    const sorted = [...stacks].sort((a, b) => (a.stack < b.stack ? -1 : 1));
    process.stdout.write(json ? `${JSON.stringify(sorted, undefined, 2)}\n` : table(sorted));
    for (const { message, remedy } of damaged) process.stderr.write(`cloud-operator: ${[message, remedy].filter(Boolean).join('; ')}\n`);
    if (damaged.length > 0) process.exitCode = 1;
  });
}

function table(stacks: StackMetadata[]): string {
  const rows = stacks.map(({ stack, project, providerKind, resourceCount, open, epoch, updatedAt }) => {
    const what = [stack, project, providerKind, String(resourceCount)];
    return [...what, open ? 'open' : 'closed', String(epoch), updatedAt];
  });
  return formatTable(['STACK', 'PROJECT', 'PROVIDER', 'RESOURCES', 'UPDATE', 'EPOCH', 'WRITTEN'], rows);
}
