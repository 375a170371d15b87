import { OperatorError, toOperatorError } from '../../base/errors';
import { foreignState } from '../ownership';
import { reencrypt } from './reencryption';
import { identityOf, type StackRecord } from './stack-record';
import type { StateStore, StoredStack } from './state-store';

/**
 * Moves one stack from a store to another, encrypted with the other's key. Broken off at any point, it is done again: the stack is then
 * in both, and the same.
 * @param to another store than `from`: of one, it would be removed
 * @throws OperatorError when the stack is being updated, belongs to another cluster, or another one of its name is there already
 */
export async function moveStack(stack: string, from: StateStore, to: StateStore, clusterID: string): Promise<void> {
  const source = await from.read(stack);
  if (source === undefined) throw new OperatorError('NotFound', `stack ${stack} is not in ${from.name}`);
  assertMovable(source, clusterID);
  const target = await to.read(stack);
  if (target !== undefined && identityOf(target.record) !== identityOf(source.record)) {
    throw new OperatorError('Conflict', `${to.name} has another stack ${stack}, of ${target.record.updatedAt}`, {
      remedy: 'remove the one that is not wanted',
    });
  }
  const version = target?.version ?? (await copy(source.record, from, to));
  try {
    await from.remove(stack, source.version);
  } catch (thrown) {
    // Written meanwhile: the copy is stale, and must not be taken for the stack. After any other failure the removal may have been done.
    if (toOperatorError(thrown).code === 'Conflict') await to.remove(stack, version);
    throw thrown;
  }
}

async function copy(record: StackRecord, from: StateStore, to: StateStore): Promise<string> {
  return to.write(reencrypt(record, await from.keyring(), await to.keyring()), undefined);
}

function assertMovable({ record }: StoredStack, clusterID: string): void {
  if (record.clusterID !== clusterID) throw foreignState(record.stack, record.clusterID, clusterID);
  if (!record.open) return;
  throw new OperatorError('Conflict', `stack ${record.stack} has an update that runs or did not end`, {
    remedy: 'let the operator end it, then stop the operator and move the stack',
  });
}
