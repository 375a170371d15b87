import type { Socket } from 'node:net';

/**
 * Reads one line from a connection and leaves it paused, with what follows the line still to be read.
 * `handle` gets undefined when the connection ends, or sends more than `longest` bytes, before the line's end.
 */
export function readFirstLine(socket: Socket, longest: number, handle: (line: string | undefined) => void): void {
  let head = Buffer.alloc(0);
  const finish = (line: string | undefined): void => {
    socket.off('data', onData).off('end', onEnd).off('close', onEnd).pause();
    handle(line);
  };
  const onEnd = (): void => finish(undefined);
  const onData = (data: Buffer): void => {
    head = Buffer.concat([head, data]);
    const end = head.indexOf('\n');
    if (end < 0) return head.length > longest ? finish(undefined) : undefined;
    const rest = head.subarray(end + 1);
    socket.pause();
    if (rest.length > 0) socket.unshift(rest);
    finish(head.subarray(0, end).toString());
  };
  socket.on('data', onData).on('end', onEnd).on('close', onEnd);
}
