import type { ResourceProvider } from '../../../providers/resource-provider/resource-provider';
import { ResourceProviderServer } from '../../../providers/resource-provider/server';

/** Serves types as an official plugin's process does: the engine that has started it reads the port from its output. */
export async function serveAsPlugin(provider: ResourceProvider): Promise<void> {
  const server = new ResourceProviderServer(provider, { onFailure: () => undefined, enginePid: () => process.ppid });
  await server.listen();
  process.stdout.write(`${server.attachment.split(':')[1]}\n`);
}
