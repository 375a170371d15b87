import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { OperatorError } from '../../base/errors';
import type { Keyring } from './keyring';
import { assertReadable, damaged, openRecord, readGzip, type SealedRecord, sealRecord, STATE_FORMAT } from './sealed-record';
import { metadataOf, type StackMetadata, type StackRecord } from './stack-record';

const HEADER_LIMIT = 4096;

/**
 * A stack's file: one line of JSON (format, digest of the rest, metadata), then the sealed record as gzip.
 * `removed` files stand for a stack that is gone, so that its version goes on counting.
 */
export interface FileHeader {
  format: number;
  sha256: string;
  removed: boolean;
  metadata: StackMetadata;
}

export function encodeRecord(record: StackRecord, ring: Keyring): Buffer {
  return assemble(metadataOf(record), gzipSync(JSON.stringify(sealRecord(record, ring))), false);
}

export function encodeRemoval(metadata: StackMetadata): Buffer {
  return assemble(metadata, Buffer.alloc(0), true);
}

/** @throws OperatorError Invalid when the file is damaged or of a newer format */
export function decodeHeader(bytes: Buffer, path: string): FileHeader {
  const end = bytes.subarray(0, HEADER_LIMIT).indexOf(0x0a);
  if (end < 0) throw damaged(fileName(path), 'its first line is missing');
  const header = parseHeader(bytes.subarray(0, end).toString('utf8'), path);
  assertReadable(header.format, STATE_FORMAT, fileName(path));
  return header;
}

/** @throws OperatorError Invalid when the file is damaged or of a newer format */
export function decodeRecord(bytes: Buffer, path: string, ring: Keyring): StackRecord | undefined {
  const header = decodeHeader(bytes, path);
  if (header.removed) return undefined;
  const body = bytes.subarray(bytes.indexOf(0x0a) + 1);
  if (digest(body) !== header.sha256) throw damaged(fileName(path), 'its checksum differs');
  return openRecord(readGzip<SealedRecord>(body, fileName(path)), ring, fileName(path));
}

function assemble(metadata: StackMetadata, body: Buffer, removed: boolean): Buffer {
  const header: FileHeader = { format: STATE_FORMAT, sha256: digest(body), removed, metadata };
  const line = Buffer.from(`${JSON.stringify(header)}\n`);
  if (line.length > HEADER_LIMIT)
    throw new OperatorError('Invalid', `the metadata of stack ${metadata.stack} is longer than ${HEADER_LIMIT} bytes`);
  return Buffer.concat([line, body]);
}

function parseHeader(line: string, path: string): FileHeader {
  try {
    const header = JSON.parse(line) as Partial<FileHeader>;
    if (typeof header.format === 'number' && typeof header.sha256 === 'string' && typeof header.metadata === 'object')
      return header as FileHeader;
  } catch (error) {
    throw damaged(fileName(path), 'its first line is not JSON', error);
  }
  throw damaged(fileName(path), 'its first line is not a header');
}

function fileName(path: string): string {
  return `state file ${path}`;
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
