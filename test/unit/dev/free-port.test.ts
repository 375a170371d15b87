import { createServer } from 'node:net';
import { freePort } from '../../../dev/cluster/free-port';

/** As in another process: it knows of no port that was given out here. */
async function elsewhere(): Promise<typeof freePort> {
  jest.resetModules();
  return (await import('../../../dev/cluster/free-port.js')).freePort;
}

test('a port is given out once, also while nobody listens on it; whoever has it gets it again', async () => {
  const port = await freePort();
  expect(await freePort(port)).toBe(port);
  const other = await elsewhere();
  expect(await other(port)).not.toBe(port);
  expect(await freePort(port)).toBe(port);
});

test('a port on which somebody listens is nobody’s', async () => {
  const server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen({ port, host: '127.0.0.1' }, resolve));
  expect(await freePort(port)).not.toBe(port);
  await new Promise((resolve) => server.close(resolve));
  expect(await freePort(port)).toBe(port);
});
