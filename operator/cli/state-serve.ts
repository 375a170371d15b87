import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StateServer } from '../updates/serve/state-server';
import { type StateFlags, withStore } from './state-place';

/** `state serve`: until Ctrl-C. Prints what the pulumi CLI needs. */
export async function serveState(flags: StateFlags, port: number): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await withStore(flags, async (store) => {
    await store.list(); // what is wrong with the store is said here, and not by the pulumi CLI
    const server = new StateServer(store);
    await server.listen(port);
    // The CLI writes down what it logs in to; its user's own log-in must survive that.
    const home = mkdtempSync(join(tmpdir(), 'cloud-operator-pulumi-'));
    process.stdout.write(
      `export PULUMI_BACKEND_URL=${server.url} PULUMI_ACCESS_TOKEN=${server.token} PULUMI_HOME=${home}\n` +
        '# read-only; for example: pulumi stack ls --all; pulumi stack export --stack organization/cloud-operator/NAME\n',
    );
    await stop;
    await server.close();
    rmSync(home, { recursive: true, force: true });
  });
}
