import type { Server } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { OperatorError } from '../base/errors';
import type { Logger } from '../base/log';

export interface ListenOptions {
  /** Address to listen on, such as `127.0.0.1`, `0.0.0.0` or `::`. */
  bindAddress: string;
  /** 0 = any free one. */
  port: number;
  /** What is served, for messages: `health and metrics`. */
  what: string;
  logger: Logger;
}

/** What is asked of our servers is small and quick: whoever is slower holds a socket for nothing. */
const REQUEST_MS = 10_000;

/**
 * Has a server listen.
 * @returns where
 * @throws OperatorError Invalid when the address can't be had
 */
export async function listen(
  server: Server | SecureServer,
  { bindAddress, port, what, logger }: ListenOptions,
): Promise<{ address: string; port: number }> {
  server.requestTimeout = REQUEST_MS;
  server.headersTimeout = REQUEST_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === 'EADDRINUSE' ? 'the port is in use; choose another' : cause.message;
      reject(new OperatorError('Invalid', `can't serve ${what} on ${bindAddress}:${port}: ${reason}`, { cause }));
    });
    server.listen({ host: bindAddress, port }, resolve);
  });
  server.on('error', (err) => logger.error({ err }, `the server of ${what} failed`));
  const { address, port: actual } = server.address() as AddressInfo;
  return { address, port: actual };
}

/** Closes all connections; resolves when the port is free. */
export async function close(server: Server | SecureServer): Promise<void> {
  if (!server.listening) return;
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
