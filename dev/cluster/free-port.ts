import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/** Below NodePorts, and below what the systems here give to outgoing connections: such a connection could take the port before it is used. */
const FIRST = 20_000;
const END = 30_000;
const TRIES = 50;

/** Ports that this process has given out. */
const reserved = new Set<number>();

/**
 * A TCP port on 127.0.0.1 that nobody listens on now. Nobody who asks here gets it again while this process lives, also while what uses it is down: an
 * operator that answered at another's port would pass for it. Somebody else may take it before it is used: whoever uses it tries again on a clash.
 * @param preferred is given back when it is free
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (reserved.has(preferred) || (await reserve(preferred))) && (await isFree(preferred))) return preferred;
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FIRST, END);
    if ((await reserve(port)) && (await isFree(port))) return port;
  }
  throw new Error(`no free TCP port on 127.0.0.1 found among ${TRIES} of ${FIRST} to ${END - 1}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** By the UDP port of the same number, which nobody needs, and which the system takes back when this process ends. */
function reserve(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4').unref();
    socket.once('error', () => resolve(false));
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      reserved.add(port);
      resolve(true);
    });
  });
}
