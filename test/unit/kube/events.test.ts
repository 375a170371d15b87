import { isDeepStrictEqual } from 'node:util';
import { silentLogger } from '../../../operator/base/log';
import type { EventTarget } from '../../../operator/kube/api';
import { KubeClient } from '../../../operator/kube/client';
import { KubeEventRecorder } from '../../../operator/kube/events';
import { waitFor } from '../../harness/wait-for';
import { FakeApiServer, json, statusBody, type Answer } from './fake-api-server';
import { FakeClock } from './fake-clock';

const SERVICE: EventTarget = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'demo', uid: 'uid-1', resourceVersion: '7' },
};
const NODE: EventTarget = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', uid: 'uid-2' } };

interface Written {
  method: string;
  path: string;
  body: { count: number; message: string; firstTimestamp: string; lastTimestamp: string; metadata?: { name: string; namespace: string } };
}

describe('KubeEventRecorder', () => {
  let server: FakeApiServer;
  let client: KubeClient;
  let clock: FakeClock;
  let recorder: KubeEventRecorder;
  const accept: Answer = (_request, response) => json(response, 201, {});

  beforeEach(async () => {
    clock = new FakeClock();
    server = await FakeApiServer.start(accept);
    client = new KubeClient(server.kubeConfig(), { clock, qps: 0 });
    recorder = new KubeEventRecorder({ api: client, component: 'service-controller', logger: silentLogger, clock, random: () => 0.5 });
  });
  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  const written = (): Written[] =>
    server.requests.map(({ method, path, body }) => ({ method, path, body: JSON.parse(body) as Written['body'] }));
  const untilWritten = (count: number) =>
    waitFor(() => server.requests.length === count, { what: `${count} writes`, timeoutMs: 5000, pollMs: 5 });

  it('writes upstream’s shape', async () => {
    recorder.event(SERVICE, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    recorder.event(NODE, 'Warning', 'NotReady', 'gone');
    await recorder.flush();
    const [ofService, ofNode] = written();
    expect(ofService).toMatchObject({
      method: 'POST',
      path: '/api/v1/namespaces/demo/events',
      body: {
        apiVersion: 'v1',
        kind: 'Event',
        involvedObject: { apiVersion: 'v1', kind: 'Service', name: 'web', namespace: 'demo', uid: 'uid-1', resourceVersion: '7' },
        reason: 'EnsuringLoadBalancer',
        message: 'Ensuring load balancer',
        type: 'Normal',
        count: 1,
        firstTimestamp: '2030-01-01T00:16:40Z',
        lastTimestamp: '2030-01-01T00:16:40Z',
        source: { component: 'service-controller' },
        reportingComponent: 'service-controller',
      },
    });
    expect(ofService?.body.metadata?.name).toMatch(/^web\.[0-9a-f]{16}$/);
    expect(ofNode?.path).toBe('/api/v1/namespaces/default/events');
    expect(ofNode?.body.metadata?.name).not.toBe(ofService?.body.metadata?.name.replace('web', 'node-1'));
  });

  it('raises the count of an identical one, and writes it anew when it has expired', async () => {
    recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', 'no quota');
    await untilWritten(1);
    await clock.advance(60_000);
    recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', 'no quota');
    await untilWritten(2);
    const [created, patched] = written();
    expect(patched).toEqual({
      method: 'PATCH',
      path: `/api/v1/namespaces/demo/events/${created?.body.metadata?.name}`,
      body: { count: 2, message: 'no quota', lastTimestamp: '2030-01-01T00:17:40Z' },
    });
    server.answerWith(({ method }, response) =>
      method === 'PATCH' ? json(response, 404, statusBody(404, 'NotFound', 'gone', { name: 'x' })) : json(response, 201, {}),
    );
    recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', 'no quota');
    await untilWritten(4);
    expect(written()[3]).toMatchObject({ method: 'POST', body: { count: 3, firstTimestamp: created?.body.firstTimestamp } });
    await recorder.flush();
  });

  it('keeps nine distinct messages single and folds the tenth (contract 12)', async () => {
    for (let i = 1; i <= 12; i++) recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', `failure ${i}`);
    await recorder.flush();
    const all = written();
    expect(all.slice(0, 9).map(({ body }) => body.message)).toEqual(Array.from({ length: 9 }, (_, i) => `failure ${i + 1}`));
    expect(all.slice(9).map(({ method, body }) => [method, body.message, body.count])).toEqual([
      ['POST', '(combined from similar events): failure 10', 1],
      ['PATCH', '(combined from similar events): failure 11', 2],
      ['PATCH', '(combined from similar events): failure 12', 3],
    ]);
  });

  it('does not fold what lies more than ten minutes apart', async () => {
    for (let i = 1; i <= 9; i++) recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', `failure ${i}`);
    await untilWritten(9);
    await clock.advance(601_000);
    recorder.event(SERVICE, 'Warning', 'SyncLoadBalancerFailed', 'failure 10');
    await recorder.flush();
    expect(written()[9]?.body.message).toBe('failure 10');
  });

  it('lets 25 of one object through, then one in 300 s, and counts the others', async () => {
    for (let i = 0; i < 30; i++) recorder.event(SERVICE, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    recorder.event(NODE, 'Normal', 'Other', 'another object');
    await untilWritten(26);
    expect(written()[24]?.body.count).toBe(25);
    await clock.advance(299_000);
    recorder.event(SERVICE, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    await clock.advance(1_000);
    recorder.event(SERVICE, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    await recorder.flush();
    expect(written()).toHaveLength(27);
    expect(written()[26]?.body.count).toBe(32);
  });

  it('tries twelve times on an unreachable API server, ten seconds apart, then goes on with the next', async () => {
    server.answerWith((_request, response) => response.destroy());
    recorder.event(SERVICE, 'Normal', 'First', 'one');
    recorder.event(SERVICE, 'Normal', 'Second', 'two');
    for (let attempt = 1; attempt <= 11; attempt++) {
      await untilWritten(attempt);
      // The request's own time-out of 30 s goes when its failure is known.
      const pause = attempt === 1 ? 5_000 : 10_000;
      await waitFor(() => isDeepStrictEqual(clock.pending(), [pause]), { what: `a pause of ${pause} ms`, timeoutMs: 5000, pollMs: 5 });
      if (attempt === 11)
        server.answerWith((_request, response) => (server.requests.length === 12 ? response.destroy() : json(response, 201, {})));
      await clock.advance(10_000);
    }
    await untilWritten(13);
    expect(server.requests[11]?.body).toContain('"one"');
    expect(server.requests[12]?.body).toContain('"two"');
    await recorder.flush();
  });

  it('does not repeat what the API server refuses', async () => {
    server.answerWith((_request, response) => json(response, 403, statusBody(403, 'Forbidden', 'no')));
    recorder.event(SERVICE, 'Normal', 'First', 'one');
    recorder.event(SERVICE, 'Normal', 'Second', 'two');
    await untilWritten(2);
    await recorder.flush();
    expect(clock.pending()).toEqual([]);
  });

  it('holds at most a thousand, and stops at the end of the time for the flush', async () => {
    server.answerWith(() => undefined);
    for (let i = 0; i < 1500; i++)
      recorder.event({ ...SERVICE, metadata: { ...SERVICE.metadata, uid: `uid-${i}` } }, 'Normal', 'Many', `message ${i}`);
    await untilWritten(1);
    let flushed = false;
    const flushing = recorder.flush(3000).then(() => (flushed = true));
    await clock.advance(2999);
    expect(flushed).toBe(false);
    await clock.advance(1);
    await flushing;
    recorder.event(SERVICE, 'Normal', 'Late', 'after the end');
    server.answerWith(accept);
    expect(server.requests).toHaveLength(1);
  });
});
