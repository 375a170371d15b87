import { createSocket } from 'node:dgram';
import { createServer, type RequestListener } from 'node:http';
import { isIPv6 } from 'node:net';

/** A port that is open until it is closed. */
export interface OpenPort {
  close(): Promise<void>;
}

/** Clients of load balancers keep connections for long; a node must not be the one that ends them in the middle of a request. */
const KEEP_ALIVE_MS = 120_000;

/**
 * Serves HTTP on an address or on a unix socket.
 * Closing lets requests that are being answered finish.
 */
export async function openHttp(where: { host: string; port: number } | { path: string }, answer: RequestListener): Promise<OpenPort> {
  const server = createServer(answer);
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

/** Answers every datagram with `answer`. */
export async function openUdp(host: string, port: number, answer: (data: Buffer) => string): Promise<OpenPort> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.bind(port, host, resolve);
  });
  // A client that has gone away makes an answer fail; that must not end the node.
  socket.removeAllListeners('error').on('error', (error) => process.stderr.write(`udp ${host}:${port}: ${error.message}\n`));
  socket.on('message', (data, from) => socket.send(answer(data), from.port, from.address));
  return { close: () => new Promise((resolve) => socket.close(() => resolve())) };
}
