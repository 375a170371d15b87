import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { LocalCloudClient, type LocalCloudClientOptions } from '../../../providers/local/client';
import { startScriptedServer, type ScriptedServer } from './scripted-server';

/** Time that passes only by waiting; every wait is noted and ends at once. */
class WaitingClock implements Clock {
  readonly waits: number[] = [];
  private at = 0;
  now = () => this.at;
  monotonic = () => this.at;
  after(ms: number, run: () => void): () => void {
    this.waits.push(ms);
    this.at += ms;
    const immediate = setImmediate(run);
    return () => clearImmediate(immediate);
  }
}

const refusal = (status: number, code: string, more: object = {}) => ({ status, body: { code, message: 'so it is', ...more } });

describe('the client of the local cloud', () => {
  let server: ScriptedServer;
  let clock: WaitingClock;
  const clients: LocalCloudClient[] = [];

  const connect = (options: Partial<LocalCloudClientOptions> = {}): LocalCloudClient => {
    const token = () => Promise.resolve('secret');
    const client = new LocalCloudClient({ endpoint: server.endpoint, token, caller: 'tester', clock, random: () => 1, ...options });
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    server = await startScriptedServer();
    clock = new WaitingClock();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await server.close();
  });

  it('sends token and caller, and keeps its connections', async () => {
    server.script({ status: 200, body: { id: 'pool-1', state: 'active' } });
    const client = connect();
    for (let i = 0; i < 5; i++) await client.get('pools', 'a/b');
    expect(server.seen[0]).toMatchObject({ method: 'GET', url: '/v1/pools/a%2Fb' });
    expect(server.seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-caller': 'tester' });
    // A second one is opened when a request starts before the first connection has taken note of its answer's end.
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('speaks over a unix socket', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'local-client-'));
    const socket = await startScriptedServer(join(directory, 'api.sock'));
    socket.script({ status: 200, body: { items: [{ id: 'i-1' }] } });
    try {
      await expect(connect({ endpoint: socket.endpoint }).list('instances')).resolves.toEqual([{ id: 'i-1' }]);
    } finally {
      await socket.close();
      rmSync(directory, { recursive: true });
    }
  });

  it('follows pages, and gives nothing when one of them fails', async () => {
    const pages = [
      { status: 200, body: { items: [{ id: 'a' }], nextPageToken: 't1' } },
      { status: 200, body: { items: [{ id: 'b' }], nextPageToken: 't2' } },
    ];
    server.script(...pages, { status: 200, body: { items: [{ id: 'c' }] } });
    const client = connect();
    await expect(client.list('pools', { cluster: 'c1', stack: 's1' })).resolves.toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    expect(server.seen.map(({ url }) => new URLSearchParams(url.split('?')[1]).get('pageToken'))).toEqual([null, 't1', 't2']);
    expect(server.seen.every(({ url }) => url.includes('cluster=c1&stack=s1'))).toBe(true);
    server.script(...pages, refusal(400, 'InvalidArgument'));
    await expect(client.list('pools')).rejects.toMatchObject({ code: 'Invalid' });
    server.script({ status: 200, body: { wrong: [] } });
    await expect(client.list('pools')).rejects.toThrow('has no items');
  });

  it.each([
    [401, 'Unauthorized', 'Credentials'],
    [403, 'Forbidden', 'Credentials'],
    [403, 'QuotaExceeded', 'Quota'],
    [409, 'NameTaken', 'Conflict'],
    [409, 'AddressInUse', 'Taken'],
    [409, 'TokenMismatch', 'Conflict'],
    [412, 'EtagMismatch', 'Conflict'],
    [400, 'InvalidArgument', 'Invalid'],
  ])('%d %s becomes %s with the message and the field', async (status, apiCode, code) => {
    server.script(refusal(status, apiCode, { field: 'listeners[0].port' }));
    const error: unknown = await connect()
      .create('pools', {}, 'token', {})
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperatorError);
    expect(error).toMatchObject({ code, apiCode, field: 'listeners[0].port', message: expect.stringContaining('so it is') as string });
    expect((error as Error).message).toContain('POST /v1/pools');
    expect((error as Error).message).not.toContain('secret');
    // A refused token is read again, but sent again only when it is another one.
    expect(server.seen).toHaveLength(1);
  });

  it('takes a rotated token', async () => {
    server.script(refusal(401, 'Unauthorized'), { status: 200, body: { id: 'p', state: 'active' } });
    const tokens = ['old', 'new'];
    await connect({ token: () => Promise.resolve(tokens.shift() ?? '') }).get('pools', 'p');
    expect(server.seen.map(({ headers }) => headers.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('waits as long as it is told, and tries again with the same body', async () => {
    server.script(refusal(429, 'Throttled', { retryAfterMs: 700 }), refusal(503, 'Unavailable'), 'drop', 'garbage', {
      status: 201,
      body: { resource: { id: 'p' } },
    });
    await expect(connect().create('pools', { name: 'x' }, 'once', {})).resolves.toEqual({ id: 'p' });
    expect(clock.waits).toEqual([700, 200, 400, 800]);
    expect(server.seen.map(({ body }) => body)).toEqual(Array(5).fill({ name: 'x', clientToken: 'once' }));
  });

  it('reads Retry-After where the answer is not one of the API', async () => {
    server.script({ status: 503, headers: { 'retry-after': '3' } }, { status: 200, body: { items: [] } });
    await connect().list('pools');
    expect(clock.waits).toEqual([3000]);
  });

  it('gives up within its budget, with the class and the wait for the queue', async () => {
    server.script(refusal(429, 'Throttled', { retryAfterMs: 6000 }));
    await expect(connect().list('pools')).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 6000 });
    expect(clock.waits).toEqual([6000, 6000, 6000]);
    clock.waits.length = 0;
    server.script(refusal(429, 'Throttled', { retryAfterMs: 60_000 }));
    await expect(connect().list('pools')).rejects.toMatchObject({ code: 'Throttled', retryAfterMs: 60_000 });
    expect(clock.waits).toEqual([]);
  });

  it('names the endpoint when nobody listens', async () => {
    const { endpoint } = server;
    const client = connect({ budgetMs: 500 });
    await server.close();
    await expect(client.list('pools')).rejects.toMatchObject({
      code: 'Transient',
      message: expect.stringContaining(`runs at ${endpoint}`) as string,
    });
    server = await startScriptedServer();
  });

  it('asks whether it may write before every try, and never for reads', async () => {
    server.script(refusal(503, 'Unavailable'));
    let asked = 0;
    const assertValid = (): void => {
      if (++asked === 3) throw new OperatorError('Canceled', 'not any more');
    };
    const calls: string[] = [];
    const client = connect({ onCall: (verb) => calls.push(verb) });
    await expect(client.setTargets('p', [], 80, { assertValid })).rejects.toMatchObject({ code: 'Canceled' });
    expect(server.seen).toHaveLength(2);
    expect(calls).toEqual(['targets', 'targets']);
    server.script({ status: 404, body: { code: 'NotFound', message: '' } });
    await expect(client.get('pools', 'p', { assertValid })).resolves.toBeUndefined();
    expect(asked).toBe(3);
  });

  it('asks again once a write that waited for its connection is about to go out', async () => {
    let valid = true;
    const endsIt = (): void => {
      valid = false;
    };
    const assertValid = (): void => {
      if (!valid) throw new OperatorError('Canceled', 'not any more');
    };
    subscribe('undici:client:beforeConnect', endsIt);
    try {
      await expect(connect().setTargets('p', [], 80, { assertValid })).rejects.toMatchObject({ code: 'Canceled' });
    } finally {
      unsubscribe('undici:client:beforeConnect', endsIt);
    }
    expect(server.seen).toEqual([]);
  });

  it('takes 404 on a delete as done and waits for what still refers to the thing', async () => {
    server.script(refusal(409, 'InUse'), refusal(404, 'NotFound'));
    await connect().remove('pools', 'p', {});
    expect(server.seen.map(({ method }) => method)).toEqual(['DELETE', 'DELETE']);
  });

  it('stops waiting when the signal is aborted', async () => {
    server.script(refusal(503, 'Unavailable'));
    const controller = new AbortController();
    const client = connect({ onCall: () => controller.abort() });
    await expect(client.list('pools', {}, { signal: controller.signal })).rejects.toMatchObject({ code: 'Canceled' });
  });

  it.each(['', 'ftp://x', 'http://127.0.0.1:1/path', 'http://user@127.0.0.1:1', 'unix:relative', 'localhost:80'])(
    'refuses the endpoint "%s"',
    (endpoint) => {
      expect(() => connect({ endpoint })).toThrow(expect.objectContaining({ code: 'Invalid', field: 'spec.local.endpoint' }) as Error);
    },
  );
});
