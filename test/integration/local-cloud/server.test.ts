import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Processes, type CallOptions, type CloudProcess } from './process';

describe('the server', () => {
  const processes = new Processes();
  let cloud: CloudProcess;
  beforeAll(async () => {
    cloud = await processes.start();
  });
  afterAll(() => processes.cleanUp());

  test.each<[string, string, CallOptions, object]>([
    ['no token', 'GET /v1/pools', { headers: { authorization: '' } }, { status: 401, body: { code: 'Unauthorized' } }],
    ['wrong token', 'GET /v1/pools', { headers: { authorization: 'Bearer x' } }, { status: 401, body: { code: 'Unauthorized' } }],
    ['admin without token', 'GET /_calls', { headers: { authorization: '' } }, { status: 401, body: { code: 'Unauthorized' } }],
    ['health without token', 'GET /healthz', { headers: { authorization: '' } }, { status: 200, body: { status: 'ok' } }],
    ['unknown path', 'GET /v2/pools', {}, { status: 404, body: { code: 'NotFound' } }],
    ['unknown collection', 'GET /v1/buckets', {}, { status: 404, body: { code: 'NotFound' } }],
    ['unknown id', 'GET /v1/pools/pool-x', {}, { status: 404, body: { code: 'NotFound' } }],
    ['unknown sub-resource', 'PUT /v1/instances/i-1/targets', { body: {} }, { status: 404, body: { code: 'NotFound' } }],
    ['wrong method', 'PUT /v1/pools', { body: {} }, { status: 405, body: { code: 'InvalidArgument' } }],
    ['wrong method, admin', 'POST /_calls', { body: {} }, { status: 405, body: { code: 'InvalidArgument' } }],
    ['write to operations', 'POST /v1/operations', { body: {} }, { status: 405, body: { code: 'InvalidArgument' } }],
    ['not JSON', 'POST /v1/pools', { raw: '{"name"' }, { status: 400, body: { code: 'InvalidArgument', field: 'body' } }],
    ['no object', 'POST /v1/pools', { raw: '[1]' }, { status: 400, body: { code: 'InvalidArgument' } }],
    ['bad encoding', 'GET /v1/pools/%ff', {}, { status: 400, body: { code: 'InvalidArgument', field: 'path' } }],
    ['bad page size', 'GET /v1/pools?pageSize=0', {}, { status: 400, body: { code: 'InvalidArgument', field: 'pageSize' } }],
    ['bad page token', 'GET /v1/pools?pageToken=x', {}, { status: 400, body: { code: 'InvalidArgument', field: 'pageToken' } }],
    ['unknown parameter', 'GET /v1/pools?color=red', {}, { status: 400, body: { code: 'InvalidArgument', field: 'color' } }],
    ['bad drift', 'POST /_drift', { body: { kind: 'earthquake' } }, { status: 400, body: { code: 'InvalidArgument', field: 'kind' } }],
    [
      'drift of no route',
      'POST /_drift',
      { body: { kind: 'deleteRoute', destinationCIDR: '10.9.0.0/24' } },
      { status: 404, body: { code: 'NotFound' } },
    ],
  ])('%s', async (_title, request, options, expected) => {
    const [method = '', path = ''] = request.split(' ');
    expect(await cloud.call(method, path, options)).toMatchObject(expected);
  });

  test('a body of 5 MB is refused, and the answer arrives', async () => {
    const raw = `{"name": "${'x'.repeat(5 * 1024 * 1024)}"}`;
    expect(await cloud.call('POST', '/v1/pools', { raw })).toMatchObject({ status: 413, body: { field: 'body' } });
  });

  test('bytes that are no HTTP end only their own connection', async () => {
    const socket = connect(Number(new URL(cloud.ready.endpoint).port), '127.0.0.1');
    socket.end('\0\x01 nonsense\r\n\r\n');
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect((await cloud.call('GET', '/healthz')).status).toBe(200);
  });

  test('pages hold everything once, also while others are deleted and made', async () => {
    const own = await processes.start();
    for (let index = 0; index < 7; index++) {
      const tags = { clusterID: index % 2 === 0 ? 'even' : 'odd', stack: `s${index}` };
      await own.create('addresses', { name: `a${index}`, tags });
    }
    const first = (await own.call('GET', '/v1/addresses?pageSize=3')).body;
    expect(first.items).toHaveLength(3);
    await own.call('DELETE', `/v1/addresses/${first.items[2]?.id}`);
    await own.create('addresses', { name: 'late' });
    const second = (await own.call('GET', `/v1/addresses?pageSize=3&pageToken=${first.nextPageToken}`)).body;
    const third = (await own.call('GET', `/v1/addresses?pageSize=3&pageToken=${second.nextPageToken}`)).body;
    const names = [...second.items, ...third.items].map(({ name }) => name);
    expect(names).toEqual(['a3', 'a4', 'a5', 'a6', 'late']);
    expect(third).not.toHaveProperty('nextPageToken');
    expect((await own.list('addresses', '?cluster=odd')).map(({ name }) => name)).toEqual(['a1', 'a3', 'a5']);
    expect((await own.list('addresses', '?stack=s4&cluster=even')).map(({ name }) => name)).toEqual(['a4']);
    expect(await own.list('addresses', '?name=none')).toEqual([]);
  });

  test('throttled: 429 with Retry-After and retryAfterMs', async () => {
    await cloud.faults({ match: { caller: 'test', collection: 'routes' }, act: { throttle: { rps: 1, burst: 1 } } });
    expect((await cloud.call('GET', '/v1/routes')).status).toBe(200);
    const refused = await cloud.call('GET', '/v1/routes');
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' }, body: { code: 'Throttled' } });
    expect(refused.body.retryAfterMs).toBeGreaterThan(0);
    expect((await cloud.call('GET', '/_faults')).body.rules[0]).toMatchObject({ matched: 2, acted: 1 });
    await cloud.faults();
  });

  test('quota refuses new ones, not the repetition of one that is there', async () => {
    const own = await processes.start();
    await own.create('addresses', { name: 'a', clientToken: 'a' });
    await own.faults({ match: { collection: 'addresses' }, act: { quota: { max: 1 } } });
    expect(await own.create('addresses', { name: 'b' })).toMatchObject({ status: 403, body: { code: 'QuotaExceeded' } });
    expect((await own.create('addresses', { name: 'a', clientToken: 'a' })).status).toBe(200);
  });

  test('a list that lags catches up', async () => {
    const own = await processes.start();
    await own.faults({ match: { verb: 'list' }, times: 1, act: { listLagMs: 600_000 } });
    await own.create('addresses', { name: 'new' });
    expect(await own.list('addresses')).toEqual([]);
    expect(await own.list('addresses')).toHaveLength(1);
  });

  test('etag, If-Match, drift and operations over the wire', async () => {
    const made = await cloud.create('pools', { name: 'etag', protocol: 'TCP' });
    const path = `/v1/pools/${made.body.resource.id}`;
    expect(made.headers.etag).toBe('"g1"');
    const { body } = await cloud.call('POST', '/_drift', {
      body: { kind: 'patch', collection: 'pools', id: made.body.resource.id, fields: { drainMs: 7 } },
    });
    expect(body.resource).toMatchObject({ drainMs: 7, etag: 'g2' });
    const stale = await cloud.call('PATCH', path, { body: { drainMs: 8 }, headers: { 'if-match': '"g1"' } });
    expect(stale).toMatchObject({ status: 412, body: { code: 'EtagMismatch' } });
    expect((await cloud.call('GET', `/v1/operations/${made.body.operation.id}`)).body).toMatchObject({ state: 'done', verb: 'create' });
    expect((await cloud.call('DELETE', path, { headers: { 'if-match': '"g2"' } })).body.operation).toMatchObject({ state: 'done' });
    expect((await cloud.call('GET', path)).status).toBe(404);
  });

  test('metrics are Prometheus text', async () => {
    const { headers, body } = await cloud.call('GET', '/metrics');
    expect(headers['content-type']).toContain('text/plain');
    expect(body).toMatch(/^localcloud_resources\{collection="routetables"\} 1$/m);
    expect(body).toMatch(/^localcloud_requests_total\{verb="create",collection="pools",code="201"\} \d+$/m);
  });
});

describe('the process', () => {
  const processes = new Processes();
  afterEach(() => processes.cleanUp());

  test('SIGTERM ends it in order and leaves only its state', async () => {
    const cloud = await processes.start();
    expect((await stat(join(cloud.directory, 'token'))).mode & 0o777).toBe(0o600);
    expect(await cloud.end('SIGTERM')).toBe(0);
    expect(await readdir(join(cloud.directory, 'state'))).toEqual(['journal']);
  });

  test('SIGTERM while a call is on its way: the connection is closed, the end is in order', async () => {
    const cloud = await processes.start();
    await cloud.faults({ match: {}, act: { latencyMs: { min: 600_000, max: 600_000 } } });
    const hanging = cloud.call('GET', '/v1/pools');
    const outcome = expect(hanging).rejects.toThrow();
    await expect(cloud.call('GET', '/_topology')).resolves.toMatchObject({ body: { tier: 'none' } });
    expect(await cloud.end('SIGTERM')).toBe(0);
    await outcome;
  });

  test('it ends when its parent closes standard input', async () => {
    const cloud = await processes.start();
    cloud.child.stdin.end();
    expect(await cloud.ended()).toBe(0);
  });

  test("a second one on the same directory is refused; a dead one's lock is not in the way", async () => {
    const cloud = await processes.start();
    await expect(processes.start(cloud.directory)).rejects.toThrow(/exit code 1: local-cloud: .* is in use by process \d+; stop that/);
    await cloud.end('SIGKILL');
    const next = await processes.start(cloud.directory);
    expect((await next.call('GET', '/healthz')).status).toBe(200);
  });

  test("of four that want a dead one's directory at once, one gets it", async () => {
    const dead = await processes.start();
    await dead.end('SIGKILL');
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => processes.start(dead.directory)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await readdir(join(dead.directory, 'state'))).sort()).toEqual(['journal', 'lock']);
  });

  test('a taken port is named', async () => {
    const cloud = await processes.start();
    const port = Number(new URL(cloud.ready.endpoint).port);
    await expect(processes.start(undefined, { listen: { port } })).rejects.toThrow(
      `exit code 1: local-cloud: port ${port} on 127.0.0.1 is taken`,
    );
  });

  test('a unix socket, for this user only, and over the remains of a dead process', async () => {
    const directory = await processes.directory();
    const socket = join(directory, 'api.sock');
    const first = await processes.start(directory, { listen: { socket } });
    expect(first.ready.endpoint).toBe(`unix:${socket}`);
    expect((await stat(socket)).mode & 0o777).toBe(0o600);
    await first.end('SIGKILL');
    const second = await processes.start(directory, { listen: { socket } });
    expect((await second.call('GET', '/healthz')).body).toEqual({ status: 'ok' });
  });

  test.each<[string, (directory: string) => Promise<Record<string, unknown>>, RegExp]>([
    ['an unknown tier', () => Promise.resolve({ tier: 'moon' }), /exit code 2: local-cloud: .*config.json: tier: /],
    ['an unknown field', () => Promise.resolve({ colour: 'red' }), /exit code 2: local-cloud: .*colour: there is no such field/],
    ['port and socket', () => Promise.resolve({ listen: { port: 1, socket: '/x' } }), /exit code 2: .*listen: give a port or a socket/],
    [
      'a token that others can read',
      async (directory) => {
        await writeFile(join(directory, 'token'), 'x'.repeat(40));
        await chmod(join(directory, 'token'), 0o644);
        return {};
      },
      /exit code 2: .*can be read by others; chmod 600/,
    ],
    [
      'an empty token',
      async (directory) => {
        await writeFile(join(directory, 'token'), '', { mode: 0o600 });
        return {};
      },
      /exit code 2: .*holds no token/,
    ],
  ])('%s ends it with one clear line', async (_title, prepare, message) => {
    const directory = await processes.directory();
    const extra = await prepare(directory);
    const failure = await processes.start(directory, extra).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    expect(failure).toMatch(message);
    expect(failure.trim().split('\n')).toHaveLength(1);
  });

  test('a damaged journal is refused with its place', async () => {
    const cloud = await processes.start();
    for (const name of ['a', 'b', 'c']) await cloud.create('addresses', { name });
    await cloud.end();
    const { readFile } = await import('node:fs/promises');
    const file = join(cloud.directory, 'state', 'journal');
    const bytes = await readFile(file);
    bytes[Math.floor(bytes.length / 2)] = 0x21;
    await writeFile(file, bytes);
    await expect(processes.start(cloud.directory)).rejects.toThrow(/exit code 2: .*journal is damaged: line \d+ \(byte \d+\).*; restore/);
  });
});
