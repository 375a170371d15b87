import { createServer } from 'node:net';

/**
 * A TCP port on 127.0.0.1 that nobody listens on now. Another process may take it before it is used: whoever uses it tries again on a clash.
 * @param preferred is given back when it is free
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await tryListen(preferred)) !== undefined) return preferred;
  const port = await tryListen(0);
  if (port === undefined) throw new Error('no free TCP port on 127.0.0.1');
  return port;
}

function tryListen(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? address?.port : undefined));
    });
  });
}
