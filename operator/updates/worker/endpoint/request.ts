import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';

const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Compares without telling by its time where the two differ. */
export function isToken(value: string, expected: string): boolean {
  const [given, wanted] = [Buffer.from(value), Buffer.from(expected)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** The request's JSON, unzipped where it came as gzip; undefined without a body. @throws Error when it is too long, or no JSON */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw new Error(`the body is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  if (size === 0) return undefined;
  const bytes = Buffer.concat(chunks);
  const text = request.headers['content-encoding'] === 'gzip' ? await promisify(gunzip)(bytes) : bytes;
  return JSON.parse(text.toString('utf8')) as unknown;
}
