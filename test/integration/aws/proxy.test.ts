import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloudLoadBalancerSpec, cloudProviderSpec } from '../../../crds';
import { systemClock } from '../../../operator/base/clock';
import { silentLogger } from '../../../operator/base/log';
import { UpdateEngine } from '../../../operator/updates/engine';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import { awsProvider } from '../../../providers/aws';
import { ensureTools } from '../../../tools/ensure';
import { bodyOf, LoopbackServer } from '../../harness/loopback-server';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { MotoAccount } from './moto-account';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
/** A host that no resolver knows: only a proxy leads there. */
const AWS = 'aws.invalid';

/** A proxy that knows one host, and leads it to moto. */
class Proxy extends LoopbackServer {
  readonly actions: string[] = [];

  constructor(private readonly behind: string) {
    super();
  }

  protected async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host } = new URL(request.url ?? '');
    const body = (await bodyOf(request)).toString();
    if (host !== AWS) return void response.writeHead(502).end();
    this.actions.push(new URLSearchParams(body).get('Action') ?? '');
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const answer = await fetch(this.behind, { method: 'POST', headers: { authorization, 'content-type': type }, body });
    response.writeHead(answer.status, { 'content-type': 'text/xml' }).end(await answer.text());
  }
}

describeWithMoto('AWS behind a proxy that the environment names', () => {
  const directory = mkdtempSync(join(tmpdir(), 'aws-proxy-'));
  const before = { ...process.env };
  let moto: Moto;
  let account: MotoAccount;
  let proxy: Proxy;

  beforeAll(async () => {
    moto = await startMoto();
    account = new MotoAccount(moto.url);
    await account.prepare();
    proxy = new Proxy(moto.url);
    await proxy.start();
    process.env.HTTP_PROXY = proxy.url;
    process.env.NO_PROXY = '127.0.0.1';
  }, 120_000);
  afterAll(async () => {
    process.env = before;
    account.close();
    await proxy.stop();
    await moto.stop();
    rmSync(directory, { recursive: true, force: true });
  });

  test('the operator’s calls and its workers’ go by it, those for a role too', async () => {
    const { pulumi } = await ensureTools(['pulumi']);
    const endpoints = (['EC2', 'ElasticLoadBalancingV2', 'STS'] as const).map((service) => ({ service, url: `http://${AWS}` }));
    const spec = account.providerSpec({ endpoints, assumeRole: { roleARN: 'arn:aws:iam::123456789012:role/operator' } });
    const cloud = await awsProvider.connect(cloudProviderSpec.parse(spec), account.connectContext(CLUSTER));
    const engine = new UpdateEngine({
      store: new DirectoryStateStore(directory),
      tools: { pulumi },
      logger: silentLogger,
      clock: systemClock,
    });
    await cloud.prepareUpdate!();
    const uid = '00000001-0000-4000-8000-000000000000';
    const listeners = [{ name: 'web', port: 80, nodePort: 30_080 }];
    const input = {
      uid,
      ownerUID: uid,
      namespace: 'demo',
      name: 'web',
      spec: cloudLoadBalancerSpec.parse({ provider: 'aws', aws: {}, listeners }),
    };
    const update = {
      ...{ stack: 'proxied', project: 'aws', providerName: 'aws', providerKind: awsProvider.kind, clusterID: CLUSTER },
      programVersion: awsProvider.programVersion,
      settings: cloud.workerSettings(),
    };
    const hooks = { isValid: () => true, syncTargets: () => Promise.resolve() };
    await engine.run({ ...update, inputs: cloud.loadBalancers!.render('proxied', [input]) }, hooks);
    await engine.run({ ...update, inputs: undefined }, hooks);
    expect(proxy.actions).toEqual(expect.arrayContaining(['AssumeRole', 'DescribeInstances', 'CreateLoadBalancer', 'DeleteLoadBalancer']));
    expect(await account.loadBalancers()).toEqual([]);
    await engine.close();
    await cloud.close();
  });
});
