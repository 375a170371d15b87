import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** A peer that sends more than this without a line's end is cut off: 64 MiB, in characters. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Calls `handle` for each line of UTF-8 text that comes in, without its end. Errors stay the stream's own. */
export function onLines(stream: Readable, handle: (line: string) => void): void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  stream.on('data', (chunk: Buffer) => {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) handle(line);
    if (rest.length > LONGEST_LINE) stream.destroy(new Error('a line is too long'));
  });
}
