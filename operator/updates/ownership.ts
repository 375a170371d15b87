import { OperatorError } from '../base/errors';
import type { StackRecord } from './state/stack-record';
import type { StackUpdate } from './update';

/**
 * Refuses state that this operator must not touch: of another project, of another cluster, or written by a newer program. Pure.
 * @throws OperatorError with the reason; nothing is overwritten or deleted then
 */
export function assertOwn(update: StackUpdate, record: StackRecord | undefined): void {
  if (record === undefined) return;
  const { stack, project, providerKind, clusterID, programVersion } = update;
  if (record.project !== project || record.providerKind !== providerKind) {
    const stored = `${record.project} (${record.providerKind})`;
    throw new OperatorError('Conflict', `stack ${stack} belongs to ${stored}, not to ${project} (${providerKind})`, {
      remedy: 'remove the old stack first, or give the new one another name',
    });
  }
  if (record.clusterID !== clusterID) throw foreignState(stack, record.clusterID, clusterID);
  if (isNewer(record.programVersion, programVersion)) {
    const message = `stack ${stack} was made with program version ${record.programVersion}; this operator has ${programVersion}`;
    throw new OperatorError('Invalid', message, { reason: 'NewerVersion', remedy: 'run the newer version of cloud-operator that made it' });
  }
}

/**
 * Who serves the cloud's types to a stack: what it was made with, since the state of the one is not the other's. Pure.
 * @returns undefined = our own provider
 * @throws OperatorError where the official plugin would have to take over what others have made: it makes anew what it can't change
 */
export function pluginOf({ stack, plugin, adopts }: StackUpdate, record: StackRecord | undefined): 'Official' | undefined {
  const chosen = record === undefined ? plugin : record.plugin;
  if (chosen === undefined || adopts !== true) return chosen;
  throw new OperatorError('Invalid', `stack ${stack} is made with the official plugin, which takes over nothing of others`, {
    remedy: 'take it over with spec.plugin: BuiltIn of the CloudProvider, in a stack of its own',
  });
}

/** State that came from another cluster, such as by a restored backup: its resources belong to that one. */
export function foreignState(stack: string, found: string, own: string): OperatorError {
  return new OperatorError('Invalid', `the state of stack ${stack} belongs to cluster ${found}, not to this one (${own})`, {
    reason: 'ForeignState',
    remedy: 'it may have come with a backup of the other cluster: delete it here, and the stack is made anew for this one',
  });
}

/** Compares dotted numbers. */
function isNewer(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  const at = (left ?? []).findIndex((part, index) => part !== (right?.[index] ?? 0));
  return at >= 0 && (left?.[at] ?? 0) > (right?.[at] ?? 0);
}
