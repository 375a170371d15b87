import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError } from '../../../operator/base/errors';
import { KubeClient, type KubeClientOptions } from '../../../operator/kube/client';
import { NODES, SERVICES } from '../../../operator/kube/object';
import { isExpired, statusOf } from '../../../operator/kube/status';
import { waitFor } from '../../harness/wait-for';
import { FakeApiServer, json, statusBody } from './fake-api-server';
import { FakeClock, settle } from './fake-clock';

let server: FakeApiServer;
let client: KubeClient;

async function connect(options: KubeClientOptions = {}, user: Record<string, unknown> = {}): Promise<void> {
  server = await FakeApiServer.start((_request, response) => json(response, 200, { metadata: { resourceVersion: '1' }, items: [] }));
  client = new KubeClient(server.kubeConfig(user), { userAgent: 'cloud-operator/9.9.9', ...options });
}

afterEach(async () => {
  await client.close();
  await server.stop();
});

async function failure(status: number, body: string, headers: Record<string, string> = {}): Promise<unknown> {
  await connect();
  server.answerWith((_request, response) => response.writeHead(status, headers).end(body));
  return client.list(NODES).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
}

describe('connections', () => {
  it('keeps them: 100 requests one after another take one or two', async () => {
    await connect();
    for (let i = 0; i < 100; i++) await client.get(SERVICES, 'demo/a');
    expect(server.requests).toHaveLength(100);
    expect(server.connections).toBeLessThanOrEqual(2);
    expect(server.requests[0]?.headers['user-agent']).toBe('cloud-operator/9.9.9');
  });

  it('shares them with a client of other limits', async () => {
    await connect();
    const other = client.withOptions({ qps: 0 });
    for (let i = 0; i < 20; i++) await (i % 2 === 0 ? client : other).get(NODES, 'a');
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('has others for a client as somebody else, who takes no credential of the kubeconfig', async () => {
    await connect({ assertWrite: () => undefined }, { token: 'of-the-kubeconfig' });
    let forgotten = 0;
    const tokens = { token: () => Promise.resolve(`t${forgotten + 1}`), forget: () => void (forgotten += 1) };
    const other = client.withTokens(tokens);
    const sent = () => server.requests.at(-1)?.headers.authorization;
    try {
      await other.list(NODES);
      expect(sent()).toBe('Bearer t1');
      await client.list(NODES);
      expect(sent()).toBe('Bearer of-the-kubeconfig');
      expect(server.connections).toBe(2);
      server.answerWith((_request, response) => json(response, 401, statusBody(401, 'Unauthorized', 'Unauthorized')));
      await expect(other.list(NODES)).rejects.toThrow(OperatorError);
      server.answerWith((_request, response) => json(response, 200, { metadata: { resourceVersion: '1' }, items: [] }));
      await other.withOptions({ qps: 0 }).list(NODES);
      expect(sent()).toBe('Bearer t2');
    } finally {
      await other.close();
    }
  });

  it('is fenced as the client that it comes from', async () => {
    const lost = new OperatorError('Canceled', 'the lease is lost');
    await connect({
      assertWrite: () => {
        throw lost;
      },
    });
    const other = client.withTokens({ token: () => Promise.resolve('t'), forget: () => undefined });
    await expect(other.create(SERVICES, 'demo', { metadata: { name: 'a' } })).rejects.toThrow('the lease is lost');
    expect(server.requests).toEqual([]);
    await other.close();
  });

  it('sends nothing when the lease was lost while a token was asked for', async () => {
    let held = true;
    await connect({
      assertWrite: () => {
        if (!held) throw new OperatorError('Canceled', 'the lease is lost');
      },
    });
    const slow = (): Promise<string> => {
      held = false;
      return Promise.resolve('t');
    };
    const other = client.withTokens({ token: slow, forget: () => undefined });
    await expect(other.create(SERVICES, 'demo', { metadata: { name: 'a' } })).rejects.toThrow('the lease is lost');
    expect(server.requests).toEqual([]);
    await other.close();
  });

  it('names what can’t be reached', async () => {
    await connect();
    await server.stop();
    const port = /:(\d+)$/.exec(client.kubeConfig.getCurrentCluster()?.server ?? '')?.[1] ?? '';
    await expect(client.list(NODES)).rejects.toMatchObject({
      code: 'Transient',
      message: expect.stringMatching(`GET /api/v1/nodes: ECONNREFUSED.*${port}`) as string,
    });
  });

  it('reports an answer that breaks off', async () => {
    await connect();
    server.answerWith((_request, response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{"metadata":');
      setImmediate(() => response.destroy());
    });
    await expect(client.list(NODES)).rejects.toMatchObject({ code: 'Transient' });
  });
});

describe('credentials', () => {
  it('reads a token file again, at once when the API server refuses the old token', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'token-'));
    const tokenFile = join(directory, 'token');
    writeFileSync(tokenFile, 'first\n');
    await connect({}, { authProvider: { name: 'tokenFile', config: { tokenFile } } });
    const sent = () => server.requests.at(-1)?.headers.authorization;
    await client.get(NODES, 'a');
    expect(sent()).toBe('Bearer first');
    writeFileSync(tokenFile, 'second\n');
    server.answerWith((_request, response) => json(response, 401, statusBody(401, 'Unauthorized', 'Unauthorized')));
    await expect(client.get(NODES, 'a')).rejects.toMatchObject({ code: 'Credentials' });
    server.answerWith((_request, response) => json(response, 200, {}));
    await client.get(NODES, 'a');
    expect(sent()).toBe('Bearer second');
    rmSync(directory, { recursive: true });
  });

  it('makes new connections when the certificate changes, and keeps them as long as it doesn’t', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'certificate-'));
    const files = { certFile: join(directory, 'cert'), keyFile: join(directory, 'key') };
    writeFileSync(files.certFile, 'one');
    writeFileSync(files.keyFile, 'key');
    const clock = new FakeClock();
    await connect({ clock }, files);
    for (let i = 0; i < 3; i++) {
      await client.get(NODES, 'a');
      await clock.advance(11_000);
    }
    const before = server.connections;
    expect(before).toBeLessThanOrEqual(2);
    writeFileSync(files.certFile, 'two');
    await client.get(NODES, 'a');
    expect(server.connections).toBe(before + 1);
    rmSync(directory, { recursive: true });
  });

  it('runs the exec plugin of the kubeconfig', async () => {
    const credential = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-plugin' },
    });
    await connect({}, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [credential] } });
    await client.get(NODES, 'a');
    expect(server.requests[0]?.headers.authorization).toBe('Bearer from-plugin');
  });

  it('requests that come together read the credentials once, whatever has become of the last ones', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plugin-'));
    const runs = join(directory, 'runs');
    // Each is over at once.
    const status = { token: 'from-plugin', expirationTimestamp: '2020-01-01T00:00:00Z' };
    const credential = JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });
    const script = `echo run >> ${runs}; echo '${credential}'`;
    const clock = new FakeClock();
    await connect({ clock, qps: 0 }, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] } });
    const together = (): Promise<unknown> => Promise.all(Array.from({ length: 20 }, () => client.get(NODES, 'a')));
    await together();
    await clock.advance(11_000);
    await together();
    expect(readFileSync(runs, 'utf8')).toBe('run\nrun\n');
    rmSync(directory, { recursive: true });
  });

  it('a plugin that hangs delays nobody beyond the deadline', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plugin-'));
    const ended = join(directory, 'ended');
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', `sleep 2; touch ${ended}`] };
    const clock = new FakeClock();
    await connect({ clock, qps: 0 }, { exec });
    const reading = client.get(NODES, 'a').catch((thrown: unknown) => thrown);
    await settle();
    await clock.advance(30_000);
    expect(await reading).toMatchObject({ code: 'Transient', message: 'GET /api/v1/nodes/a: no answer within 30 s' });
    expect(existsSync(ended)).toBe(false);
    await waitFor(() => existsSync(ended), { what: 'the plugin to end', timeoutMs: 5_000 });
    rmSync(directory, { recursive: true });
    expect(server.requests).toEqual([]);
  });

  it('says which user’s plugin failed', async () => {
    await connect({}, { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: '/no/such/plugin' } });
    await expect(client.get(NODES, 'a')).rejects.toMatchObject({
      code: 'Credentials',
      message: expect.stringMatching(/user "tester".*ENOENT/) as string,
    });
  });
});

describe('failed answers', () => {
  it('carries Retry-After of a 429', async () => {
    const thrown = await failure(429, JSON.stringify(statusBody(429, 'TooManyRequests', 'too many')), { 'retry-after': '7' });
    expect(thrown).toMatchObject({ code: 'Throttled', retryAfterMs: 7000 });
  });

  it.each([-1, 1])('reads a date in Retry-After by the clock of who answers, which is %d h off from ours', async (hours) => {
    const theirs = Date.now() + hours * 3_600_000;
    const headers = { 'retry-after': new Date(theirs + 30_000).toUTCString(), date: new Date(theirs).toUTCString() };
    expect(await failure(503, 'a page', headers)).toMatchObject({ code: 'Transient', retryAfterMs: 30_000 });
  });

  it('takes retryAfterSeconds of the Status where there is no header', async () => {
    const thrown = await failure(503, JSON.stringify(statusBody(503, 'ServerTimeout', 'busy', { retryAfterSeconds: 3 })));
    expect(thrown).toMatchObject({ code: 'Transient', retryAfterMs: 3000 });
  });

  it('shows a page that is no Status in one line', async () => {
    const thrown = await failure(502, '<html>\n<body>Bad\n  Gateway</body></html>');
    expect(thrown).toMatchObject({ code: 'Transient', message: 'GET /api/v1/nodes: 502 NoStatus: <html> <body>Bad Gateway</body></html>' });
  });

  it('names a missing permission, a quota, a terminating namespace apart', async () => {
    const forbidden = (message: string, details?: object) => JSON.stringify(statusBody(403, 'Forbidden', message, details));
    expect(await failure(403, forbidden('nodes is forbidden: User "x" cannot list'))).toMatchObject({
      code: 'Credentials',
      message: expect.stringContaining('RBAC') as string,
    });
    await client.close();
    await server.stop();
    expect(await failure(403, forbidden('services "a" is forbidden: exceeded quota: few, requested: services=1'))).toMatchObject({
      code: 'Quota',
    });
    await client.close();
    await server.stop();
    const terminating = forbidden('unable to create new content in namespace demo', {
      causes: [{ reason: 'NamespaceTerminating', message: 'namespace demo is being terminated' }],
    });
    expect(await failure(403, terminating)).toMatchObject({ code: 'Conflict' });
  });

  it('shows the fields that are wrong', async () => {
    const causes = [
      { reason: 'FieldValueInvalid', message: 'Invalid value: 0', field: 'spec.ports[0].port' },
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.selector' },
    ];
    const thrown = await failure(422, JSON.stringify(statusBody(422, 'Invalid', 'Service "a" is invalid', { name: 'a', causes })));
    expect(thrown).toMatchObject({
      code: 'Invalid',
      field: 'spec.ports[0].port',
      message:
        'GET /api/v1/nodes: 422 Invalid: Service "a" is invalid; spec.ports[0].port: Invalid value: 0; spec.selector: Required value',
    });
    expect(statusOf(thrown)?.reason).toBe('Invalid');
  });

  it('gives up after the deadline', async () => {
    const clock = new FakeClock();
    await connect({ clock, timeoutMs: 4000 });
    const asked = new Promise<void>((resolve) => server.answerWith(() => resolve()));
    const reading = client.get(NODES, 'a').catch((thrown: unknown) => thrown);
    await asked;
    await clock.advance(4000);
    expect(await reading).toMatchObject({ code: 'Transient', message: 'GET /api/v1/nodes/a: no answer within 4 s' });
    expect(clock.pending()).toEqual([]);
  });

  it('refuses keys of the wrong scope before anything is sent', async () => {
    await connect();
    await expect(client.get(NODES, 'demo/a')).rejects.toMatchObject({ code: 'Invalid' });
    await expect(client.get(SERVICES, 'a')).rejects.toMatchObject({ code: 'Invalid' });
    expect(server.requests).toHaveLength(0);
  });
});

describe('lists', () => {
  it('starts over in one page when the continue token has expired', async () => {
    await connect();
    const item = (name: string) => ({ metadata: { name, uid: name, resourceVersion: '1' } });
    server.answerWith(({ query }, response) => {
      if (query.get('continue') === 'token') json(response, 410, statusBody(410, 'Expired', 'The provided continue parameter is too old'));
      else if (query.get('limit') === '500')
        json(response, 200, { metadata: { resourceVersion: '5', continue: 'token' }, items: [item('gone'), item('a')] });
      else json(response, 200, { metadata: { resourceVersion: '9' }, items: [item('a'), item('b')] });
    });
    expect((await client.list(NODES)).map((node) => node.metadata.name)).toEqual(['a', 'b']);
    const pages = [];
    for await (const page of client.pages(NODES)) pages.push([page.resourceVersion, page.restart]);
    expect(pages).toEqual([
      ['5', false],
      ['9', true],
    ]);
  });

  it('takes a null list for an empty one', async () => {
    await connect();
    server.answerWith((_request, response) => json(response, 200, { metadata: { resourceVersion: '1' }, items: null }));
    expect(await client.list(NODES)).toEqual([]);
  });
});

describe('rate limit', () => {
  it('lets a burst through, then the average, in order', async () => {
    const clock = new FakeClock();
    await connect({ clock, qps: 2, burst: 3 });
    const done: number[] = [];
    const all = Array.from({ length: 6 }, (_, i) => client.get(NODES, `n${i}`).then(() => done.push(i)));
    await Promise.all(all.slice(0, 3));
    await settle();
    expect(server.requests).toHaveLength(3);
    await clock.advance(500);
    await all[3];
    expect(done.at(-1)).toBe(3);
    await clock.advance(1000);
    await Promise.all(all);
    expect(server.requests.map(({ path }) => path.slice(-2))).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5']);
  });
});

describe('watch', () => {
  const options = { resourceVersion: '7', timeoutSeconds: 300 };
  const event = (type: string, name: string, resourceVersion: string) =>
    `${JSON.stringify({ type, object: { metadata: { name, resourceVersion } } })}\n`;

  it('asks for bookmarks and ends when the server does', async () => {
    await connect();
    server.answerWith((_request, response) => response.writeHead(200).end(event('ADDED', 'a', '8') + event('BOOKMARK', '', '9')));
    const seen = [];
    for await (const { type, object } of client.watch(NODES, options)) seen.push([type, object.metadata.resourceVersion]);
    expect(seen).toEqual([
      ['ADDED', '8'],
      ['BOOKMARK', '9'],
    ]);
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
      timeoutSeconds: '300',
    });
  });

  it('closes the request when the reader leaves', async () => {
    await connect();
    const closed = new Promise<void>((resolve) => {
      server.answerWith((_request, response) => {
        response.on('close', resolve);
        response.writeHead(200).write(event('ADDED', 'a', '8'));
      });
    });
    for await (const { type } of client.watch(NODES, options)) {
      expect(type).toBe('ADDED');
      break;
    }
    await closed;
  });

  it('ends with Canceled when it is aborted, in the middle of the stream', async () => {
    await connect();
    server.answerWith((_request, response) => response.writeHead(200).write(event('ADDED', 'a', '8')));
    const stop = new AbortController();
    const watching = (async () => {
      for await (const { type } of client.watch(NODES, { ...options, signal: stop.signal }))
        stop.abort(new OperatorError('Canceled', type));
    })();
    await expect(watching).rejects.toMatchObject({ code: 'Canceled', message: 'watch nodes: ADDED' });
  });

  it('tells a 410 in the answer and a refused watch', async () => {
    await connect();
    server.answerWith((_request, response) => json(response, 410, statusBody(410, 'Expired', 'too old resource version')));
    const expired = await client
      .watch(NODES, options)
      .next()
      .catch((thrown: unknown) => thrown);
    expect(isExpired(expired)).toBe(true);
    server.answerWith((_request, response) => json(response, 429, statusBody(429, 'TooManyRequests', 'x'), { 'retry-after': '2' }));
    await expect(client.watch(NODES, options).next()).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 2000 });
  });
});
