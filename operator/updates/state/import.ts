import { randomUUID } from 'node:crypto';
import { OperatorError } from '../../base/errors';
import { type Deployment, toStored } from '../checkpoint';
import { foreignState } from '../ownership';
import { assertDecrypts } from './reencryption';
import { assertReadable, CHECKPOINT_FORMAT } from './sealed-record';
import { heldBy, newRecord, stampedAt, type StackRecord } from './stack-record';
import type { StateStore } from './state-store';

export interface ImportOptions {
  clusterID: string;
  /** Of a stack that has no state yet. */
  providerKind?: string;
  /** Also while an update is open. It then loses its race, and stops. */
  force: boolean;
  /** Milliseconds since 1970. */
  now: number;
}

/**
 * Replaces a stack's checkpoint by what `pulumi stack export` (or `state export`) printed. The stack is marked open: the operator compares it with
 * the cloud before it does anything else.
 * @throws OperatorError with one clear line; nothing is changed then
 */
export async function importCheckpoint(store: StateStore, stack: string, content: unknown, options: ImportOptions): Promise<void> {
  const deployment = deploymentIn(content);
  const stored = await store.read(stack);
  if (stored !== undefined && stored.record.clusterID !== options.clusterID) {
    throw foreignState(stack, stored.record.clusterID, options.clusterID);
  }
  if (stored?.record.open === true && !options.force) {
    const { epoch, updatedAt } = stored.record;
    throw new OperatorError(
      'Conflict',
      `stack ${stack} has an update that runs or did not end (epoch ${epoch}, last written ${updatedAt})`,
      {
        remedy: 'wait for it; or use --force, which makes a running update stop',
      },
    );
  }
  const project = projectOf(stack, deployment, stored?.record);
  assertDecrypts(deployment, await store.keyring(), stack);
  const record = stored?.record ?? freshRecord(stack, project, options);
  const imported = {
    ...heldBy(record, randomUUID()),
    checkpoint: toStored(deployment),
    open: true,
    refound: true as const,
    inputsHash: '',
  };
  await store.write(stampedAt(imported, options.now), stored?.version);
}

/** @throws OperatorError Invalid when it is no deployment, or of a newer format */
function deploymentIn(content: unknown): Deployment {
  const { version, deployment } = (content ?? {}) as Partial<Deployment>;
  if (typeof version !== 'number' || typeof deployment !== 'object' || deployment === null || !Array.isArray(deployment.resources ?? [])) {
    throw new OperatorError('Invalid', 'this is not what `pulumi stack export` prints: {"version": …, "deployment": {"resources": […]}}', {
      reason: 'StateDamaged',
    });
  }
  assertReadable(version, CHECKPOINT_FORMAT, 'the file');
  return content as Deployment;
}

/** The project that all URNs name. @throws OperatorError Invalid (reason ForeignState) when some are of another stack or project */
function projectOf(stack: string, { deployment }: Deployment, record: StackRecord | undefined): string {
  const urns = (deployment?.resources ?? []).map(({ urn }) => String(urn));
  const project = record?.project ?? urns[0]?.split('::')[1] ?? '';
  const foreign = urns.find((urn) => !urn.startsWith(`urn:pulumi:${stack}::${project}::`));
  if (foreign === undefined && project !== '') return project;
  throw new OperatorError('Invalid', `the file is not the state of stack ${stack}: it holds ${foreign ?? 'no resources'}`, {
    reason: 'ForeignState',
    remedy: 'name the stack that it was exported from',
  });
}

function freshRecord(stack: string, project: string, { clusterID, providerKind }: ImportOptions): StackRecord {
  if (providerKind === undefined) {
    throw new OperatorError('Invalid', `stack ${stack} has no state yet; say whose it is with --provider=<kind>`);
  }
  return newRecord({ stack, project, providerKind, programVersion: '0', clusterID, holder: '' });
}
