import type { Clock } from '../base/clock';
import { OperatorError } from '../base/errors';
import type { KubeObject } from './object';
import { errorOfStatus, statusFrom } from './status';

/** What a watch delivers; ERROR events are thrown. */
export interface WatchEvent<T extends KubeObject = KubeObject> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: T;
}

/** An event larger than this is no Kubernetes object (etcd's limit is 1.5 MiB); memory stays bounded. */
const MAX_LINE = 32 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Splits a stream of bytes into lines, whatever the chunks' borders.
 * @throws OperatorError Transient when the stream ends inside a line or a line is longer than `maxLine` bytes
 */
export async function* lines(chunks: AsyncIterable<Uint8Array>, maxLine: number = MAX_LINE): AsyncGenerator<string, void, undefined> {
  let pending: Uint8Array[] = [];
  let pendingLength = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      pending.push(chunk.subarray(start, end));
      const line = Buffer.concat(pending).toString('utf8');
      pending = [];
      pendingLength = 0;
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      pendingLength += chunk.length - start;
    }
    if (pendingLength > maxLine) throw new OperatorError('Transient', `the watch sent an event of more than ${maxLine} bytes`);
  }
  if (pendingLength > 0) throw new OperatorError('Transient', 'the watch ended inside an event');
}

/**
 * Reads one line of a watch.
 * @throws OperatorError of the Status in an ERROR event (isExpired tells a 410), Transient for what is no event
 */
export function parseWatchEvent<T extends KubeObject>(what: string, line: string): WatchEvent<T> {
  let event: { type?: unknown; object?: unknown };
  try {
    event = JSON.parse(line) as typeof event;
  } catch (thrown) {
    throw new OperatorError('Transient', `${what}: the watch sent something that is not JSON`, { cause: thrown });
  }
  if (event.type === 'ERROR') throw errorOfStatus(what, statusFrom(event.object, 500) ?? unreadable(event.object));
  if (!isEventType(event.type) || typeof event.object !== 'object' || event.object === null) {
    throw new OperatorError('Transient', `${what}: the watch sent an event of unknown type ${JSON.stringify(event.type)}`);
  }
  return { type: event.type, object: event.object as T };
}

/**
 * Aborts when nothing was heard for too long: a connection may die without anybody noticing.
 * `heard` starts the wait anew, with a new limit where one is given.
 */
export class SilenceTimer {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private cancel: () => void;

  /** @param limit milliseconds */
  constructor(
    private readonly what: string,
    private limit: number,
    private readonly clock: Clock,
  ) {
    this.signal = this.controller.signal;
    this.cancel = this.arm();
  }

  heard(limit: number = this.limit): void {
    this.cancel();
    this.limit = limit;
    this.cancel = this.arm();
  }

  stop(): void {
    this.cancel();
  }

  private arm(): () => void {
    const seconds = Math.round(this.limit / 1000);
    const abort = (): void => this.controller.abort(new OperatorError('Transient', `${this.what}: nothing heard for ${seconds} s`));
    return this.clock.after(this.limit, abort);
  }
}

function isEventType(type: unknown): type is WatchEvent['type'] {
  return type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';
}

function unreadable(object: unknown): { code: number; reason: string; message: string } {
  return { code: 500, reason: 'NoStatus', message: `the watch failed: ${JSON.stringify(object)?.slice(0, 300)}` };
}
