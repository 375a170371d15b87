import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createProxy, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { selfSigned } from '../../../operator/server/self-signed';
import { bodyOf } from '../../harness/loopback-server';
import type { ArmServer } from '../../harness/arm/arm-server';
import type { Identity } from '../../harness/arm/identity';
import { startScene } from '../../harness/arm/scene';
import { runPlugin } from './plugin';

const HOST = 'name.azurecr.io';
const THREE_HOURS = 10_800;

/** A registry of Azure's, as far as it makes out tokens; reached through a proxy, by its own name and with TLS. */
class Registry {
  readonly exchanges: Record<string, string>[] = [];
  /** What exchanges are refused with, in their order. */
  readonly refusals: number[] = [];
  readonly #certificate = selfSigned([HOST], Date.now());
  readonly #server = createServer(this.#certificate, (request, response) => void this.serve(request, response));
  readonly #proxy: Server = createProxy();

  constructor(private readonly identity: Identity) {
    this.#proxy.on('connect', (_request: IncomingMessage, client: Socket) => {
      const { port } = this.#server.address() as AddressInfo;
      const there = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        there.pipe(client).pipe(there);
      });
      for (const socket of [client, there]) socket.on('error', () => undefined);
    });
  }

  async start(): Promise<void> {
    for (const one of [this.#server, this.#proxy]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    for (const one of [this.#proxy, this.#server]) await new Promise((resolve) => one.close(resolve));
  }

  get certificate(): string {
    return this.#certificate.cert;
  }

  get proxyURL(): string {
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { access_token: token = '', ...form } = Object.fromEntries(new URLSearchParams((await bodyOf(request)).toString()));
    this.exchanges.push({ path: request.url ?? '', host: request.headers.host ?? '', ...form });
    const refusal = this.refusals.shift() ?? (this.identity.knows(`Bearer ${token}`) ? 200 : 401);
    const claims = Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + THREE_HOURS })).toString('base64url');
    const body = refusal === 200 ? { refresh_token: `x.${claims}.y` } : { errors: [{ code: 'UNAUTHORIZED', message: 'not the tenant' }] };
    response.writeHead(refusal, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  }
}

describe('credential-provider acr', () => {
  let folder: string;
  let azure: ArmServer;
  let registry: Registry;
  let environment: Record<string, string>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'acr-'));
    const applications = [
      { tenantID: 'tenant', clientID: 'node', secret: 'secret' },
      { tenantID: 'team-tenant', clientID: 'team', federated: ['jwt'] },
    ];
    azure = await startScene({ applications });
    azure.identity.machineIdentities = ['identity'];
    registry = new Registry(azure.identity);
    await registry.start();
    writeFileSync(join(folder, 'ca.pem'), registry.certificate);
    environment = {
      AZURE_POD_IDENTITY_AUTHORITY_HOST: azure.url,
      HTTPS_PROXY: registry.proxyURL,
      NO_PROXY: '127.0.0.1',
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    };
  });

  afterEach(() => {
    registry.exchanges.length = 0;
    azure.identity.requests.length = 0;
    azure.identity.audiences.length = 0;
  });

  afterAll(async () => {
    await registry.stop();
    await azure.stop();
    rmSync(folder, { recursive: true });
  });

  function config(fields: object): string {
    const file = join(folder, 'azure.json');
    writeFileSync(file, JSON.stringify({ resourceManagerEndpoint: azure.url, tenantId: 'tenant', ...fields }));
    return file;
  }

  test('the machine’s identity: its token is exchanged for the registry’s, kept for half of the time that it holds', async () => {
    const file = config({
      useManagedIdentityExtension: true,
      userAssignedIdentityID: 'identity',
      aadClientId: 'msi',
      aadClientSecret: 'msi',
    });
    const { stdout, stderr, status } = await runPlugin(['acr', '--config', file], { image: `${HOST}/web:1` }, environment);
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
    const answer = JSON.parse(stdout) as { cacheDuration: string };
    expect(answer).toMatchObject({
      apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
      cacheKeyType: 'Registry',
      auth: { [HOST]: { username: '00000000-0000-0000-0000-000000000000', password: expect.stringMatching(/^x\./) as string } },
    });
    expect(answer.cacheDuration).toMatch(/^1h(29m|30m0s)/);
    expect(registry.exchanges).toEqual([
      { path: '/oauth2/exchange', host: HOST, grant_type: 'access_token', service: HOST, tenant: 'tenant' },
    ]);
    expect([azure.identity.requests, azure.identity.audiences]).toEqual([['metadata'], ['https://containerregistry.azure.net']]);
  });

  test('without a file it is the machine’s only identity, or AZURE_CLIENT_ID', async () => {
    expect((await runPlugin(['acr'], { image: `${HOST}/web:1` }, environment)).status).toBe(0);
    const other = { ...environment, AZURE_CLIENT_ID: 'other' };
    const { stderr, status } = await runPlugin(['acr'], { image: `${HOST}/web:1` }, other);
    expect(status).toBe(1);
    expect(stderr).toMatch(/Identity not found\. Assign the identity to the machine/);
  });

  test('a client secret is not handed on: it gives a token too', async () => {
    const file = config({ aadClientId: 'node', aadClientSecret: 'secret' });
    const { stdout } = await runPlugin(['acr', '--config', file], { image: `${HOST}/web:1` }, environment);
    expect(JSON.parse(stdout)).toMatchObject({ auth: { [HOST]: { password: expect.stringMatching(/^x\./) as string } } });
    expect(azure.identity.requests).toEqual(['login']);
  });

  test('a ServiceAccount’s token goes before the node’s identity, and one that names no application gets nothing', async () => {
    const file = config({ useManagedIdentityExtension: true });
    const annotations = { 'kubernetes.azure.com/acr-client-id': 'team', 'kubernetes.azure.com/acr-tenant-id': 'team-tenant' };
    const asked = { image: `${HOST}/web:1`, serviceAccountToken: 'jwt' };
    const found = await runPlugin(['acr', '--config', file], { ...asked, serviceAccountAnnotations: annotations }, environment);
    expect(found.status).toBe(0);
    expect(azure.identity.requests).toEqual(['login']);
    expect(registry.exchanges).toMatchObject([{ tenant: 'team-tenant' }]);
    const { stdout, stderr, status } = await runPlugin(['acr', '--config', file], asked, environment);
    expect([stdout, status]).toEqual(['', 2]);
    expect(stderr).toContain('no kubernetes.azure.com/acr-client-id of the Pod');
  });

  test('images of a mirrored registry are let in at both', async () => {
    const args = ['acr', '--registry-mirror', `mcr.microsoft.com:${HOST}`];
    const { stdout } = await runPlugin(args, { image: 'mcr.microsoft.com/pause:3' }, environment);
    expect(Object.keys((JSON.parse(stdout) as { auth: object }).auth)).toEqual([HOST, 'mcr.microsoft.com']);
  });

  test('an image of another registry costs no token', async () => {
    const { stdout } = await runPlugin(['acr'], { image: 'docker.io/library/nginx' }, environment);
    expect(JSON.parse(stdout)).toMatchObject({ auth: {} });
    expect([registry.exchanges, azure.identity.requests]).toEqual([[], []]);
  });

  test('an outage of the registry is waited out; a refusal is told on standard error, with what to do', async () => {
    registry.refusals.push(503);
    expect((await runPlugin(['acr'], { image: `${HOST}/web:1` }, environment)).status).toBe(0);
    registry.refusals.push(401);
    const { stdout, stderr, status } = await runPlugin(['acr'], { image: `${HOST}/web:1` }, environment);
    expect([stdout, status]).toEqual(['', 1]);
    expect(stderr).toMatch(
      /^cloud-operator: Azure, a token of the registry name\.azurecr\.io: UNAUTHORIZED: not the tenant\. Give the identity the role AcrPull/,
    );
    expect(stderr).not.toContain('token-');
  });
});
