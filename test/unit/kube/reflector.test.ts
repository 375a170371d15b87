import type { ServerResponse } from 'node:http';
import { silentLogger } from '../../../operator/base/log';
import type { StoreChange } from '../../../operator/kube/api';
import { KubeClient } from '../../../operator/kube/client';
import { NODES, type KubeObject, type ResourcePath } from '../../../operator/kube/object';
import { keepManagedFieldsOf, Reflector, type ReflectorOptions } from '../../../operator/kube/reflector';
import { waitFor } from '../../harness/wait-for';
import { FakeApiServer, json, statusBody, type SeenRequest } from './fake-api-server';
import { FakeClock } from './fake-clock';

const WIDGETS: ResourcePath = { group: 'demo.example', version: 'v1', plural: 'widgets', kind: 'Widget', namespaced: true };

function object(name: string, resourceVersion: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name, resourceVersion, creationTimestamp: '' } };
}

function line(type: string, name: string, resourceVersion: string): string {
  return `${JSON.stringify({ type, object: object(name, resourceVersion) })}\n`;
}

/** A reflector of Nodes on a fake API server. Lists and watches are answered in the order in which answers were given; the last one stays. */
class Scene {
  readonly changes: string[] = [];
  readonly lists: SeenRequest[] = [];
  readonly watches: { request: SeenRequest; response: ServerResponse }[] = [];
  private readonly stop = new AbortController();
  private running: Promise<void> | undefined;

  private constructor(
    readonly server: FakeApiServer,
    readonly client: KubeClient,
    readonly reflector: Reflector<KubeObject>,
    readonly clock: FakeClock,
  ) {}

  static async open(options: Partial<ReflectorOptions<KubeObject>> = {}): Promise<Scene> {
    const server = await FakeApiServer.start(() => undefined);
    const clock = new FakeClock();
    const client = new KubeClient(server.kubeConfig(), { clock, qps: 0 });
    const reflector = new Reflector<KubeObject>({
      api: client,
      resource: NODES,
      logger: silentLogger,
      clock,
      random: () => 0.5,
      ...options,
    });
    return new Scene(server, client, reflector, clock);
  }

  /** `lists` and `watches`: what to do with the first, second … request; the last one is for all that follow. */
  start(lists: ((response: ServerResponse) => unknown)[], watches: ((response: ServerResponse) => unknown)[]): void {
    this.server.answerWith((request, response) => {
      if (request.query.get('watch') === 'true') {
        this.watches.push({ request, response });
        return (watches[this.watches.length - 1] ?? watches.at(-1))?.(response);
      }
      this.lists.push(request);
      return (lists[this.lists.length - 1] ?? lists.at(-1))?.(response);
    });
    this.reflector.store.onChange(({ key, previous, current }: StoreChange<KubeObject>) => {
      this.changes.push(`${key} ${previous?.metadata.resourceVersion ?? '-'}>${current?.metadata.resourceVersion ?? '-'}`);
    });
    this.running = this.reflector.start(this.stop.signal);
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await waitFor(condition, { what, timeoutMs: 5000, pollMs: 5 });
  }

  /** Waits for the back-off after the n-th failure and gives its length in milliseconds. */
  async backOff(failures: number): Promise<number> {
    await this.until(`failure ${failures}`, () => this.reflector.status().failures === failures && this.clock.pending().length === 1);
    return this.clock.pending()[0] ?? NaN;
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.running;
    await this.client.close();
    await this.server.stop();
  }
}

const listOf =
  (version: string, ...objects: KubeObject[]) =>
  (response: ServerResponse): void =>
    json(response, 200, { metadata: { resourceVersion: version }, items: objects });
const quietWatch = (response: ServerResponse): unknown => response.writeHead(200).flushHeaders();
const failing =
  (status: number, reason: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    json(response, status, statusBody(status, reason, `${reason} says the test`), headers);

describe('Reflector', () => {
  let scene: Scene;
  afterEach(() => scene.close());

  it('lists, then watches from the version of the list', async () => {
    scene = await Scene.open();
    scene.start([listOf('10', object('a', '3'), object('b', '4'))], [quietWatch]);
    await scene.reflector.store.whenSynced();
    await scene.until('the watch', () => scene.watches.length === 1);
    const { request, response } = scene.watches[0] as (typeof scene.watches)[0];
    expect(request.query.get('resourceVersion')).toBe('10');
    expect(request.query.get('timeoutSeconds')).toBe('450');
    response.write(line('MODIFIED', 'a', '11') + line('DELETED', 'b', '12') + line('ADDED', 'c', '13'));
    await scene.until('three events', () => scene.changes.length === 5);
    expect(scene.changes).toEqual(['a ->3', 'b ->4', 'a 3>11', 'b 4>-', 'c ->13']);
    expect(scene.reflector.status()).toMatchObject({ phase: 'Watching', synced: true, failures: 0, message: 'watching nodes' });
  });

  it.each<[number, string, boolean]>([
    [404, 'NotFound', true],
    [403, 'Forbidden', true],
    [401, 'Unauthorized', false],
    [500, 'InternalError', false],
  ])('whether anything is there is known once it could be listed, or a %i %s says that it can not: %s', async (status, reason, known) => {
    scene = await Scene.open();
    let tried = false;
    void scene.reflector.tried.then(() => (tried = true));
    scene.start([failing(status, reason), listOf('10')], [quietWatch]);
    const delay = await scene.backOff(1);
    expect(tried).toBe(known);
    await scene.clock.advance(delay);
    await scene.reflector.store.whenSynced();
    await scene.until('the word of it', () => tried);
  });

  it('lists again after a 410 in the stream and finds what was deleted meanwhile', async () => {
    scene = await Scene.open();
    const expired = `${JSON.stringify({ type: 'ERROR', object: statusBody(410, 'Expired', 'too old resource version: 10 (99)') })}\n`;
    scene.start(
      [listOf('10', object('a', '3'), object('b', '4')), listOf('99', object('b', '4'), object('c', '50'))],
      [(response) => response.writeHead(200).end(expired), quietWatch],
    );
    expect(await scene.backOff(1)).toBe(1200);
    await scene.clock.advance(1200);
    await scene.until('the second watch', () => scene.watches.length === 2);
    expect(scene.changes).toEqual(['a ->3', 'b ->4', 'c ->50', 'a 3>-']);
    expect(scene.watches[1]?.request.query.get('resourceVersion')).toBe('99');
  });

  it('goes on from the last event after a reset in the middle of a line', async () => {
    scene = await Scene.open();
    const cut = (response: ServerResponse): void => {
      response.writeHead(200).write(line('ADDED', 'a', '11') + line('BOOKMARK', '', '15') + '{"type":"ADDED","obj');
      setImmediate(() => response.destroy());
    };
    scene.start([listOf('10')], [cut, quietWatch]);
    await scene.clock.advance(await scene.backOff(1));
    await scene.until('the second watch', () => scene.watches.length === 2);
    expect(scene.lists).toHaveLength(1);
    expect(scene.watches[1]?.request.query.get('resourceVersion')).toBe('15');
    expect(scene.changes).toEqual(['a ->11']);
  });

  it('backs off longer and longer on every kind of error, up to 30 s, and starts anew after ten good seconds', async () => {
    scene = await Scene.open();
    const bad = [
      failing(500, 'InternalError'),
      failing(401, 'Unauthorized'),
      failing(503, 'ServiceUnavailable'),
      failing(400, 'BadRequest'),
    ];
    scene.start([...bad, ...bad, listOf('10')], [quietWatch]);
    const delays: number[] = [];
    for (let failure = 1; failure <= 8; failure++) {
      const delay = await scene.backOff(failure);
      delays.push(delay);
      expect(scene.reflector.store.synced).toBe(false);
      await scene.clock.advance(delay);
    }
    expect(delays).toEqual([1200, 2400, 4800, 9600, 19200, 30000, 30000, 30000]);
    await scene.until('the watch', () => scene.watches.length === 1);
    expect(scene.reflector.status()).toMatchObject({ phase: 'Watching', failures: 8 });
    await scene.clock.advance(10_000);
    expect(scene.reflector.status()).toEqual({ phase: 'Watching', synced: true, failures: 0, message: 'watching nodes' });
    scene.watches[0]?.response.destroy();
    expect(await scene.backOff(1)).toBe(1200);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['answers 401', failing(401, 'Unauthorized')],
    ['answers 403', failing(403, 'Forbidden')],
    ['answers 409', failing(409, 'Conflict')],
    ['answers 410', failing(410, 'Expired')],
    ['answers 429', failing(429, 'TooManyRequests', { 'retry-after': '1' })],
    ['answers 500', failing(500, 'InternalError')],
    ['drops every connection', (response) => response.destroy()],
  ])('an API server that %s for ten minutes is asked seldom, and what it has then is found', async (_what, fault) => {
    scene = await Scene.open();
    let broken = true;
    const whileBroken = (good: (response: ServerResponse) => unknown) => (response: ServerResponse) => (broken ? fault : good)(response);
    scene.start([listOf('10', object('a', '3')), whileBroken(listOf('99', object('b', '98')))], [whileBroken(quietWatch)]);
    let elapsed = 0;
    for (let failures = 1; elapsed < 600_000; failures++) {
      elapsed += await scene.backOff(failures);
      const [due = 0] = scene.clock.pending();
      if (elapsed >= 600_000) broken = false;
      await scene.clock.advance(due);
    }
    expect(scene.lists.length + scene.watches.length).toBeLessThan(60);
    await scene.until(
      'a watch that lasts',
      () => scene.reflector.status().phase === 'Watching' && scene.watches.at(-1)?.response.headersSent === true,
    );
    scene.watches.at(-1)?.response.write(line('ADDED', 'c', '100'));
    await scene.until('what came after', () => scene.reflector.store.get('c') !== undefined);
  });

  it('honours Retry-After', async () => {
    scene = await Scene.open();
    scene.start([failing(429, 'TooManyRequests', { 'retry-after': '17' }), listOf('10')], [quietWatch]);
    expect(await scene.backOff(1)).toBe(17_000);
    expect(scene.reflector.status()).toMatchObject({
      phase: 'Waiting',
      message: expect.stringContaining('429') as string,
      lastError: { code: 'Throttled' },
    });
  });

  it('does not hammer a server whose watches end at once', async () => {
    scene = await Scene.open();
    scene.start([listOf('10')], [(response) => response.writeHead(200).end()]);
    const delays: number[] = [];
    for (let failure = 1; failure <= 3; failure++) {
      delays.push(await scene.backOff(failure));
      await scene.clock.advance(delays.at(-1) ?? 0);
    }
    expect(delays).toEqual([1200, 2400, 4800]);
    expect(scene.lists).toHaveLength(1);
  });

  it('watches again at once when the server ends a watch in good order', async () => {
    scene = await Scene.open();
    scene.start([listOf('10')], [quietWatch]);
    await scene.until('the watch', () => scene.watches.length === 1);
    await scene.clock.advance(60_000);
    scene.watches[0]?.response.end(line('BOOKMARK', '', '30'));
    await scene.until('the second watch', () => scene.watches.length === 2);
    expect(scene.watches[1]?.request.query.get('resourceVersion')).toBe('30');
    expect(scene.reflector.status().failures).toBe(0);
  });

  it('notices a watch that has gone silent: after its own time and a minute, or three minutes where bookmarks come', async () => {
    scene = await Scene.open();
    scene.start([listOf('10')], [quietWatch]);
    await scene.until('the watch', () => scene.watches.length === 1 && scene.reflector.status().phase === 'Watching');
    await scene.clock.advance(509_000);
    expect(scene.watches).toHaveLength(1);
    await scene.clock.advance(1_000);
    await scene.clock.advance(await scene.backOff(1));
    await scene.until('the second watch', () => scene.watches.length === 2);
    scene.watches[1]?.response.write(line('BOOKMARK', '', '30') + line('ADDED', 'a', '31'));
    await scene.until('the event', () => scene.changes.length === 1);
    await scene.clock.advance(100_000);
    scene.watches[1]?.response.write(line('ADDED', 'b', '32'));
    await scene.until('another event', () => scene.changes.length === 2);
    await scene.clock.advance(179_000);
    expect(scene.watches).toHaveLength(2);
    await scene.clock.advance(1_000);
    await scene.clock.advance(await scene.backOff(1));
    await scene.until('the third watch', () => scene.watches.length === 3);
    expect(scene.watches[2]?.request.query.get('resourceVersion')).toBe('32');
    expect(scene.lists).toHaveLength(1);
  });

  it('a watch that nobody answers is no healthy one: it is asked for anew after 30 s, and in longer and longer steps', async () => {
    scene = await Scene.open();
    const unanswered = (): undefined => undefined;
    scene.start([listOf('10')], [unanswered, unanswered, quietWatch]);
    const delays: number[] = [];
    for (let failure = 1; failure <= 2; failure++) {
      await scene.until('the watch', () => scene.watches.length === failure && scene.reflector.status().phase === 'Watching');
      await scene.clock.advance(29_000);
      expect(scene.reflector.status()).toMatchObject({ phase: 'Watching', failures: failure - 1 });
      await scene.clock.advance(1_000);
      delays.push(await scene.backOff(failure));
      expect(scene.reflector.status().message).toBe('waiting nodes: watch nodes: no answer within 30 s');
      await scene.clock.advance(delays.at(-1) ?? 0);
    }
    expect(delays).toEqual([1200, 2400]);
    await scene.until('the answer', () => scene.watches.length === 3 && scene.clock.pending().length === 2);
    await scene.clock.advance(10_000);
    expect(scene.reflector.status()).toMatchObject({ phase: 'Watching', failures: 0 });
    expect(scene.lists).toHaveLength(1);
  });

  it('waits for a CRD without noise, says so, and comes quickly when told', async () => {
    scene = await Scene.open({ resource: WIDGETS });
    const missing = (response: ServerResponse): unknown =>
      response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found\n');
    scene.start([missing, missing, missing, missing, missing, missing, listOf('10', object('a', '3'))], [quietWatch]);
    const delays: number[] = [];
    for (let failure = 1; failure <= 5; failure++) {
      delays.push(await scene.backOff(failure));
      await scene.clock.advance(delays.at(-1) ?? 0);
    }
    expect(delays).toEqual([750, 1500, 3000, 5000, 5000]);
    await scene.backOff(6);
    expect(scene.reflector.status()).toMatchObject({
      phase: 'Missing',
      synced: false,
      message: 'waiting for the CustomResourceDefinition widgets.demo.example: the API server doesn’t know this resource',
    });
    scene.reflector.retryNow();
    await scene.reflector.store.whenSynced();
    expect(scene.reflector.status()).toMatchObject({ synced: true, failures: 0 });
  });

  it('drops what the transform drops, and keeps unknown fields', async () => {
    scene = await Scene.open();
    const fat = { ...object('a', '3'), future: { field: 1 } };
    Object.assign(fat.metadata, { managedFields: [{ manager: 'x' }] });
    scene.start([listOf('10', fat)], [quietWatch]);
    await scene.reflector.store.whenSynced();
    expect(scene.reflector.store.get('a')).toEqual({ ...object('a', '3'), future: { field: 1 } });
  });

  it('keeps of managedFields what one manager has written', () => {
    const [ours, theirs] = [{ manager: 'ours', fieldsV1: { 'f:status': {} } }, { manager: 'theirs' }];
    const written = { ...object('a', '3'), metadata: { ...object('a', '3').metadata, managedFields: [theirs, ours] } };
    expect(keepManagedFieldsOf('ours')(written).metadata).toEqual({ ...object('a', '3').metadata, managedFields: [ours] });
    expect(keepManagedFieldsOf('nobody')(written)).toEqual(object('a', '3'));
  });

  it('stops in the middle of a list', async () => {
    scene = await Scene.open();
    scene.start([() => undefined], [quietWatch]);
    await scene.until('the list', () => scene.lists.length === 1);
    await scene.close();
    expect(scene.reflector.status()).toMatchObject({ phase: 'Stopped', synced: false });
    expect(scene.clock.pending()).toEqual([]);
  });
});
