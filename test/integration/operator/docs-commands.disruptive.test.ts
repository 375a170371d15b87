import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { API_VERSION } from '../../../crds';
import { PROJECT_ROOT } from '../../../operator/entry';
import { ensureTools } from '../../../tools/ensure';
import { NOT_RUN } from '../../fixtures/doc-commands';
import { CertificateAuthority } from '../../harness/certificate-authority';
import { commandBlocks, pages } from '../../harness/doc-commands';
import { type Scene, serviceOf, withScene } from './scene';

jest.setTimeout(180_000); // every command is a process

const IMAGE = `registry.example.com/cloud-operator@sha256:${'a'.repeat(64)}`;
const EXTENSION = `import { defineExtension } from 'cloud-operator/extensions';
export default defineExtension({ transform: (resource) => resource });
`;

let scene: Scene;
withScene((made) => (scene = made), { flags: ['--leader-elect=true'] });

/** Where a reader stands: in a checkout, with the programs in the PATH. */
let folder: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'docs-commands-'));
  const { kubectl = '' } = await ensureTools(['kubectl']);
  for (const name of ['kubectl-cloud', 'cloud-operator']) symlinkSync(join(PROJECT_ROOT, `bin/${name}.js`), join(folder, name));
  symlinkSync(join(PROJECT_ROOT, 'examples'), join(folder, 'examples'));
  writeFileSync(join(folder, 'npx'), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 }); // the packages of the checkout are in the PATH
  writeFileSync(join(folder, 'spare.ts'), EXTENSION);
  const authority = new CertificateAuthority('docs');
  const { cert, key } = authority.server('cloud-operator-webhooks.cloud-operator-system.svc');
  const token = join('.local', 'share', 'cloud-operator', 'local-cloud', 'token');
  mkdirSync(join(folder, dirname(token)), { recursive: true });
  for (const [name, text] of Object.entries({ 'ca.pem': authority.cert, 'webhooks.pem': cert, 'webhooks-key.pem': key, [token]: 'secret' }))
    writeFileSync(join(folder, name), text);
  const PATH = [folder, dirname(kubectl), dirname(process.execPath), process.env.PATH].join(':');
  environment = { ...process.env, PATH, KUBECONFIG: scene.cluster.kubeconfigPath, IMAGE, HOME: folder };
  const { cloudEndpoint: endpoint, tokenFile } = scene.cluster;
  const spec = { driftInterval: '1h', routePeriod: '1h', sweepInterval: '0s', local: { endpoint, tokenFile } };
  await scene.cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'aws' }, spec });
  for (const namespace of ['shop', 'argocd', 'monitoring']) await scene.cluster.kubectl(['create', 'namespace', namespace]);
  await scene.cluster.kubectl(['-n', 'argocd', 'create', 'configmap', 'argocd-cm']);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What pages leave behind is taken away, and what they speak of is there. */
beforeEach(async () => {
  await scene.cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type=merge', '-p', '{"spec":{"freeze":false}}']);
  for (const name of ['web', 'edge']) {
    await scene.cluster.apply(serviceOf(name));
    await scene.published(name);
  }
});

const blocks = pages()
  .flatMap(commandBlocks)
  .map(({ page, commands }) => ({ page, commands: commands.filter((command) => !isElsewhere(page, command)) }))
  .filter(({ commands }) => commands.length > 0)
  .map((block) => ({ ...block, first: block.commands[0] ?? '' }));

function isElsewhere(page: string, command: string): boolean {
  return NOT_RUN.some((one) => page.startsWith(one.page) && one.command.test(command));
}

/** What stands for a name of the reader's own. */
async function filledIn(command: string): Promise<string> {
  const stack = (await scene.stackOf('web')).metadata.name;
  return command
    .replaceAll(/\bSTACK\b|<stack>|lb-default-web-[0-9a-f]{10}/g, stack)
    .replaceAll(/STATUS\.INCARNATION|<uid>\[,<uid>…\]/g, 'none')
    .replace(/ …$/, '');
}

test.each(blocks)('$page: $first', async ({ commands }) => {
  const script = (await Promise.all(commands.map(filledIn))).join('\n');
  const run = promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], { env: environment, cwd: folder, timeout: 120_000 });
  await expect(run).resolves.toBeDefined();
  const calm = ['pause-', 'reconcile-', 'approve-'].map((name) => `cloud-operator.dev/${name}`);
  await scene.cluster.kubectl(['annotate', 'clb', 'web', ...calm]).catch(() => undefined);
  await scene.cluster.kubectl(['annotate', 'service', 'web', 'edge', ...calm, 'cloud-operator.dev/adopt-']).catch(() => undefined);
  const defaults = {
    managementPolicy: null,
    updatePolicy: null,
    healthCheck: null,
    scheme: null,
    driftInterval: null,
    deletionPolicy: null,
  };
  for (const name of ['web', 'edge'])
    await scene.cluster.kubectl(['patch', 'clb', name, '--type=merge', '-p', JSON.stringify({ spec: defaults })]).catch(() => undefined);
});
