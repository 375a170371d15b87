import type { JsonObject } from '../../base/json';
import type { Deployment } from '../checkpoint';

/** Everything that is stored for one stack, in one object (design: State). */
export interface StackRecord {
  stack: string;
  project: string;
  providerKind: string;
  /** Random, made with the stack: tells this stack from an earlier one of the same name. */
  incarnation: string;
  /** Raised in the first write under a new holder. */
  epoch: number;
  /** The operator run that wrote last; another one raises the epoch. */
  holder: string;
  /** An update began to write to the cloud and did not end well: the cloud must be discovered first. */
  open: boolean;
  /** Inputs that the cloud was last brought to; null before the first success. */
  inputs: JsonObject | null;
  /** Hash of inputs, program version and provider kind; empty when the cloud is known to differ. */
  inputsHash: string;
  programVersion: string;
  outputs: JsonObject;
  /** null before the engine's first checkpoint. */
  checkpoint: Deployment | null;
  /** RFC 3339. */
  updatedAt: string;
}

/** What a listing tells of a stack without reading all of its state. */
export type StackMetadata = Pick<
  StackRecord,
  'stack' | 'project' | 'providerKind' | 'incarnation' | 'epoch' | 'holder' | 'open' | 'inputsHash' | 'programVersion' | 'updatedAt'
>;

export function metadataOf(record: StackRecord): StackMetadata {
  const { stack, project, providerKind, incarnation, epoch, holder, open, inputsHash, programVersion, updatedAt } = record;
  return { stack, project, providerKind, incarnation, epoch, holder, open, inputsHash, programVersion, updatedAt };
}
