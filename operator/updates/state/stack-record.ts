import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../base/json';
import { type Deployment, resourcesOf } from '../checkpoint';

/** Everything that is stored for one stack, in one object (design: State). */
export interface StackRecord {
  stack: string;
  project: string;
  providerKind: string;
  /** UID of the namespace kube-system of the cluster that the stack belongs to. */
  clusterID: string;
  /** Random, made with the stack: tells this stack from an earlier one of the same name. */
  incarnation: string;
  /** Raised in the first write under a new holder. */
  epoch: number;
  /** Raised in every write. */
  revision: number;
  /** The operator run that wrote last; another one raises the epoch. */
  holder: string;
  /** An update began to write to the cloud and did not end well: the cloud must be discovered first. */
  open: boolean;
  /** StackUpdate.begun, while an update that a person has approved is open: whoever goes on needs no other approval. */
  underway?: string;
  /** StackUpdate.begun of the update that is open, approved or not; absent = a version that did not say. */
  begun?: string;
  /** How many updates that people had approved were carried out. Makes another plan of what comes next, also where the same is planned: an approval is for once. */
  approvals?: number;
  /** How many updates since the last success were stopped because they were not what was approved. Makes another plan of each, also where the same is planned. */
  departures?: number;
  /** Its resources were found in the cloud or imported: what was made of them before is not known. Goes with the next success. */
  refound?: true;
  /** Inputs that the cloud was last brought to; null before the first success. Stored encrypted. */
  inputs: JsonObject | null;
  /** StackUpdate.accepted that went with these inputs. Stored encrypted. */
  accepted?: JsonObject;
  /** Hash of inputs, program version and provider kind; empty when the cloud is known to differ. */
  inputsHash: string;
  programVersion: string;
  /** Who serves the cloud's types to it, from its first update on; absent = our own provider. */
  plugin?: 'Official';
  /** Digest of the extension whose `transform` changed what the program makes; absent = none, or a version that did not say. */
  transform?: string;
  outputs: JsonObject;
  /** null before the engine's first checkpoint. */
  checkpoint: Deployment | null;
  /** RFC 3339. */
  updatedAt: string;
}

/** What a listing tells of a stack without reading all of its state. */
export type StackMetadata = Omit<
  StackRecord,
  'underway' | 'begun' | 'approvals' | 'departures' | 'refound' | 'inputs' | 'accepted' | 'plugin' | 'transform' | 'outputs' | 'checkpoint'
> & {
  /** Cloud resources in the checkpoint. */
  resourceCount: number;
};

export function metadataOf(record: StackRecord): StackMetadata {
  const { stack, project, providerKind, programVersion, clusterID, incarnation, epoch, revision, holder, open, inputsHash, updatedAt } =
    record;
  const who = { stack, project, providerKind, programVersion, clusterID, incarnation };
  return { ...who, epoch, revision, holder, open, inputsHash, updatedAt, resourceCount: resourcesOf(record.checkpoint).length };
}

/**
 * Tells any two writes apart: equal identities are one and the same write. Not even the revision does: one that reached the store late, and that
 * its holder had given up, has the same as the one after it.
 */
export function identityOf({
  incarnation,
  holder,
  epoch,
  revision,
  updatedAt,
}: Pick<StackRecord, 'incarnation' | 'holder' | 'epoch' | 'revision' | 'updatedAt'>): string {
  return [incarnation, holder, epoch, revision, updatedAt].join('/');
}

/** A stack that has never been stored. */
export function newRecord(
  of: Pick<StackRecord, 'stack' | 'project' | 'providerKind' | 'programVersion' | 'clusterID' | 'holder' | 'plugin'>,
): StackRecord {
  const { stack, project, providerKind, programVersion, clusterID, holder, plugin } = of;
  const unset = { inputs: null, inputsHash: '', outputs: {}, checkpoint: null, updatedAt: '' };
  const first = { incarnation: randomUUID(), epoch: 1, revision: 0, open: false };
  return { stack, project, providerKind, programVersion, clusterID, holder, ...(plugin && { plugin }), ...first, ...unset };
}

/** No update of the stack has ever succeeded. Pure. */
export function isNeverMade({ inputs, refound }: StackRecord): boolean {
  return inputs === null && refound !== true;
}

/** The record under a holder: another one than the last raises the epoch. */
export function heldBy(record: StackRecord, holder: string): StackRecord {
  return { ...record, holder, epoch: record.holder === holder ? record.epoch : record.epoch + 1 };
}

/** The record as it is written next. @param now milliseconds since 1970 */
export function stampedAt(record: StackRecord, now: number): StackRecord {
  return { ...record, revision: record.revision + 1, updatedAt: new Date(now).toISOString() };
}

/** The record after an approved update that was stopped because it became something else. */
export function departedFrom({ underway: _underway, begun: _begun, departures = 0, ...base }: StackRecord): StackRecord {
  return { ...base, departures: departures + 1 };
}

/** The record of what an update has brought the cloud to. @param by what the update was made with */
export function madeBy(
  { transform: _transform, underway: _underway, begun: _begun, departures: _departures, refound: _refound, ...base }: StackRecord,
  by: Pick<StackRecord, 'inputs' | 'inputsHash' | 'programVersion' | 'accepted' | 'transform'>,
): StackRecord {
  const { inputs, inputsHash, programVersion, accepted, transform } = by;
  const more = { ...(accepted === undefined ? {} : { accepted }), ...(transform === undefined ? {} : { transform }) };
  return { ...base, inputs, inputsHash, programVersion, ...more };
}
