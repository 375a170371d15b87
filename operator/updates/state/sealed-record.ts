import { gunzipSync, gzipSync } from 'node:zlib';
import { OperatorError } from '../../base/errors';
import type { JsonObject } from '../../base/json';
import { type Keyring, seal, unseal } from './keyring';
import type { StackRecord } from './stack-record';

/** Raised when older programs could not read a stored stack any more. */
export const STATE_FORMAT = 1;
/** The newest checkpoint format (apitype.UntypedDeployment.version) that the pinned engine writes. */
export const CHECKPOINT_FORMAT = 4;

/** A record as it is stored: inputs encrypted (what people put into annotations and specs may be secret); the engine encrypts secrets in the checkpoint. */
export type SealedRecord = Omit<StackRecord, 'inputs' | 'accepted'> & {
  /** base64 of the encrypted gzip of the JSON. */
  inputs: string | null;
  /** As `inputs`. */
  accepted?: string;
};

export function sealRecord({ inputs, accepted, ...rest }: StackRecord, ring: Keyring): SealedRecord {
  const sealed = (value: JsonObject): string => seal(ring, gzipSync(JSON.stringify(value)), rest.stack).toString('base64');
  return { ...rest, inputs: inputs === null ? null : sealed(inputs), ...(accepted === undefined ? {} : { accepted: sealed(accepted) }) };
}

/** @throws OperatorError Invalid when a key is missing or the content is damaged; `where` names the object */
export function openRecord({ inputs, accepted, ...rest }: SealedRecord, ring: Keyring, where: string): StackRecord {
  assertReadable(rest.checkpoint?.version ?? 0, CHECKPOINT_FORMAT, `the checkpoint in ${where}`);
  const opened = (text: string): JsonObject =>
    JSON.parse(gunzipSync(unseal(ring, Buffer.from(text, 'base64'), rest.stack)).toString('utf8')) as JsonObject;
  return { ...rest, inputs: inputs === null ? null : opened(inputs), ...(accepted === undefined ? {} : { accepted: opened(accepted) }) };
}

/** @throws OperatorError Invalid (reason NewerVersion) for a format from the future: it is not touched */
export function assertReadable(format: number, known: number, what: string): void {
  if (format <= known) return;
  throw new OperatorError('Invalid', `${what} has format ${format}; this program knows up to ${known}`, {
    reason: 'NewerVersion',
    remedy: 'run the newer version of cloud-operator that wrote it',
  });
}

/** Something stored that can't be understood. */
export function damaged(where: string, why: string, cause?: unknown): OperatorError {
  return new OperatorError('Invalid', `${where} is damaged: ${why}`, {
    reason: 'StateDamaged',
    remedy:
      'restore it from a backup, or delete it to have the stack rebuilt from what the cloud has; until then nothing of the stack is touched',
    cause,
  });
}

/** Parsed JSON from gzip. @throws OperatorError Invalid when it is neither */
export function readGzip<T>(bytes: Buffer, where: string): T {
  try {
    return JSON.parse(gunzipSync(bytes).toString('utf8')) as T;
  } catch (cause) {
    throw damaged(where, 'its content is not readable', cause);
  }
}
