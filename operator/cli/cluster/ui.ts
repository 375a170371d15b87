import { systemClock } from '../../base/clock';
import { OperatorError } from '../../base/errors';
import type { ConnectionFlags } from '../cluster-flags';
import { withCluster } from './connect';
import { PageGateway } from './ui/gateway';
import { PageToken } from './ui/page-token';
import { reachPod } from './ui/pod-tunnel';
import { pageRequest, type Upstream } from './ui/upstream';

export interface UiFlags extends ConnectionFlags {
  namespace: string;
  serviceAccount: string;
  server?: string;
  operatorPort: number;
  port: number;
}

/** `ui`: until Ctrl-C. @throws OperatorError when the operator or its page can't be reached, or may not be seen */
export async function ui(flags: UiFlags): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await withCluster(flags, async ({ api }) => {
    const token = new PageToken(api, `${flags.namespace}/${flags.serviceAccount}`, systemClock);
    await token.value();
    const upstream = flags.server === undefined ? await reachPod(api, flags) : serverAt(flags.server);
    try {
      await checkPage(upstream, token);
      const gateway = new PageGateway(upstream, token);
      process.stdout.write(`${await gateway.listen(flags.port)}\n`);
      process.stderr.write('The operator’s page is there until Ctrl-C; whoever has the address sees it.\n');
      await stop;
      await gateway.close();
    } finally {
      await upstream.close();
    }
  });
}

function serverAt(text: string): Upstream {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') throw new OperatorError('Invalid', `--server "${text}" is no URL that begins with https://`);
  const port = url.port === '' ? 443 : Number(url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, close: () => Promise.resolve() };
}

async function checkPage(upstream: Upstream, token: PageToken): Promise<void> {
  const answer = await pageRequest(upstream, 'overview.json', await token.value());
  answer.resume(); // nobody reads its body
  const { statusCode = 0 } = answer;
  if (statusCode === 200) return;
  if (statusCode === 404)
    throw new OperatorError('NotFound', 'the operator serves no page', { remedy: 'start it with --ui (docs/operate/page.md)' });
  const remedy =
    'the ClusterRole cloud-operator-ui must be bound to that ServiceAccount: cloud-operator manifests --ui (docs/operate/page.md)';
  throw new OperatorError('Credentials', `the operator does not show its page to the ServiceAccount (${statusCode})`, { remedy });
}
