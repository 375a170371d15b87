import { createHash } from 'node:crypto';
import { gzip } from 'node:zlib';
import type { KubeMeta, KubeObject } from '../../kube/object';
import { OperatorError } from '../../base/errors';
import type { Deployment } from '../checkpoint';
import type { Keyring } from './keyring';
import { assertReadable, damaged, openRecord, readGzip, type SealedRecord, sealRecord, STATE_FORMAT } from './sealed-record';
import { identityOf, metadataOf, type StackMetadata, type StackRecord } from './stack-record';

/** A Secret with the fields that we read. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
}

/** Type of the Secrets that hold stacks; a field selector finds them. */
export const STATE_TYPE = 'cloud-operator.dev/stack-state';
/** What `pulumi stack export` prints, as gzip: whoever wants to leave takes this. Absent before the first checkpoint. */
const CHECKPOINT = 'checkpoint.json.gz';
/** Everything else of the record, as gzip. */
const RECORD = 'record.json.gz';

const PREFIX = 'cloud-operator.dev/';
/** Annotation of each metadata field, so that a list of metadata tells all of it. */
const ANNOTATIONS: Record<keyof StackMetadata, string> = {
  stack: 'stack',
  project: 'project',
  providerKind: 'provider-kind',
  programVersion: 'program-version',
  clusterID: 'cluster-id',
  incarnation: 'incarnation',
  epoch: 'epoch',
  revision: 'revision',
  holder: 'holder',
  open: 'open',
  inputsHash: 'inputs-hash',
  resourceCount: 'resources',
  updatedAt: 'updated-at',
};
const FORMAT = `${PREFIX}state-format`;

/** The fields of a Secret that a write sets; everything else of the object belongs to others and stays. */
export interface SecretFields {
  metadata: { labels: Record<string, string>; annotations: Record<string, string> };
  data: Record<string, string | null>;
  /** Of the data, as the API server counts it. */
  bytes: number;
}

/** Encodes a record. Compressing large ones takes a while, so it is done beside the event loop. */
export async function encodeSecret(record: StackRecord, ring: Keyring): Promise<SecretFields> {
  const { checkpoint, ...rest } = sealRecord(record, ring);
  const [body, deployment] = await Promise.all([compress(rest), checkpoint === null ? undefined : compress(checkpoint)]);
  return {
    metadata: {
      labels: { 'app.kubernetes.io/managed-by': 'cloud-operator', [`${PREFIX}open`]: String(record.open) },
      annotations: annotationsOf(metadataOf(record)),
    },
    data: { [RECORD]: body.toString('base64'), [CHECKPOINT]: deployment?.toString('base64') ?? null },
    bytes: body.length + (deployment?.length ?? 0),
  };
}

/** @throws OperatorError Invalid when the Secret is no stack, damaged, of a newer format, or made with another key */
export function decodeSecret(secret: Secret, ring: Keyring, where: string): { record: StackRecord; bytes: number } {
  if (secret.type !== STATE_TYPE) throw damaged(where, `its type is ${secret.type ?? 'not set'} instead of ${STATE_TYPE}`);
  const metadata = decodeMetadata(secret.metadata, where);
  const parts = [RECORD, CHECKPOINT].map((key) => secret.data?.[key]).map((text) => Buffer.from(text ?? '', 'base64'));
  const [body = Buffer.alloc(0), deployment = Buffer.alloc(0)] = parts;
  const rest = readGzip<Omit<SealedRecord, 'checkpoint'>>(body, where);
  const checkpoint = deployment.length === 0 ? null : readGzip<Deployment>(deployment, where);
  if (rest.stack !== metadata.stack || identityOf(rest) !== identityOf(metadata)) {
    throw damaged(where, 'its annotations and its content are not of the same write');
  }
  return { record: openRecord({ ...rest, checkpoint }, ring, where), bytes: body.length + deployment.length };
}

/** @throws OperatorError Invalid when the annotations are not those of a stack, or of a newer format */
export function decodeMetadata({ annotations = {} }: Pick<KubeMeta, 'annotations'>, where: string): StackMetadata {
  const format = Number(annotations[FORMAT]);
  if (!Number.isInteger(format)) throw damaged(where, `its annotation ${FORMAT} is missing`);
  assertReadable(format, STATE_FORMAT, where);
  const text = (field: keyof StackMetadata): string => {
    const value = annotations[PREFIX + ANNOTATIONS[field]];
    if (value === undefined) throw damaged(where, `its annotation ${PREFIX}${ANNOTATIONS[field]} is missing`);
    return value;
  };
  return {
    stack: text('stack'),
    project: text('project'),
    providerKind: text('providerKind'),
    programVersion: text('programVersion'),
    clusterID: text('clusterID'),
    incarnation: text('incarnation'),
    holder: text('holder'),
    inputsHash: text('inputsHash'),
    updatedAt: text('updatedAt'),
    epoch: Number(text('epoch')),
    revision: Number(text('revision')),
    open: text('open') === 'true',
    resourceCount: Number(text('resourceCount')),
  };
}

/** Name of a stack's Secret: `stack-<stack>`; names that Kubernetes doesn't allow are cut and made unique by a hash. */
export function secretName(stack: string): string {
  if (/^[a-z0-9]([a-z0-9-]{0,198}[a-z0-9])?$/.test(stack)) return `stack-${stack}`;
  const readable = stack
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 100)
    .replace(/^-+|-+$/g, '');
  return `stack-${readable}-${createHash('sha256').update(stack).digest('hex').slice(0, 12)}`;
}

/**
 * @param who has set the maximum, in words
 * @throws OperatorError Quota
 */
export function assertStorable(stack: string, bytes: number, { maxBytes, who }: { maxBytes: number; who: string }): void {
  if (bytes <= maxBytes) return;
  throw new OperatorError('Quota', `the state of stack ${stack} would have ${kilobytes(bytes)}; ${who} ${kilobytes(maxBytes)} at most`, {
    reason: 'StateTooLarge',
    remedy: 'split the stack: give some of its CloudLoadBalancers a placement of their own (spec.placement)',
  });
}

export function kilobytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KB`;
}

function annotationsOf(metadata: StackMetadata): Record<string, string> {
  const entries = Object.entries(ANNOTATIONS).map(([field, name]) => [PREFIX + name, String(metadata[field as keyof StackMetadata])]);
  return { [FORMAT]: String(STATE_FORMAT), ...(Object.fromEntries(entries) as Record<string, string>) };
}

function compress(value: unknown): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(JSON.stringify(value), (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
}
