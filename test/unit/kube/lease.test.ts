import { silentLogger } from '../../../operator/base/log';
import { KubeClient } from '../../../operator/kube/client';
import { LeaseElector, type Lease, type LeaseElectorOptions } from '../../../operator/kube/lease';
import { waitFor } from '../../harness/wait-for';
import { FakeApiServer, json, statusBody, type Answer } from './fake-api-server';
import { FakeClock, settle } from './fake-clock';

describe('LeaseElector on an API server that fails', () => {
  let server: FakeApiServer;
  let client: KubeClient;
  let clock: FakeClock;
  let elector: LeaseElector;
  let lease: Lease | undefined;
  let version: number;
  let stop: AbortController;

  /** Keeps one Lease as an API server does: versions, conflicts. */
  const store: Answer = ({ method, body }, response) => {
    if (method === 'GET')
      return lease === undefined
        ? json(response, 404, statusBody(404, 'NotFound', 'no lease', { name: 'ccm' }))
        : json(response, 200, lease);
    const sent = JSON.parse(body) as Lease;
    if (method === 'POST' && lease !== undefined) return json(response, 409, statusBody(409, 'AlreadyExists', 'is there'));
    if (method === 'PUT' && sent.metadata.resourceVersion !== lease?.metadata.resourceVersion)
      return json(response, 409, statusBody(409, 'Conflict', 'modified'));
    lease = { ...sent, metadata: { ...sent.metadata, resourceVersion: String(++version) } };
    return json(response, 200, lease);
  };

  function heldBy(holderIdentity: string, renewTime = '2000-01-01T00:00:00.000000Z'): Lease {
    const metadata = { name: 'ccm', namespace: 'kube-system', uid: 'u', resourceVersion: String(++version), creationTimestamp: '' };
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata,
      spec: { holderIdentity, leaseDurationSeconds: 15, renewTime, leaseTransitions: 4 },
    };
  }

  const create = (options: Partial<LeaseElectorOptions> = {}) =>
    new LeaseElector({ api: client, lease: 'kube-system/ccm', identity: 'me', logger: silentLogger, clock, random: () => 0, ...options });

  beforeEach(async () => {
    lease = undefined;
    version = 0;
    stop = new AbortController();
    clock = new FakeClock();
    server = await FakeApiServer.start(store);
    client = new KubeClient(server.kubeConfig(), { clock, qps: 0 });
    elector = create();
  });
  afterEach(async () => {
    stop.abort();
    await client.close();
    await server.stop();
  });

  const until = (what: string, condition: () => boolean) => waitFor(condition, { what, timeoutMs: 5000, pollMs: 5 });
  const answered = async (count: number): Promise<void> => {
    await until(`${count} requests`, () => server.requests.length >= count);
    await settle();
  };

  function lead() {
    const events: string[] = [];
    const running = elector.run(
      {
        onStarted: async (signal) => {
          events.push('started');
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
          events.push('ended');
        },
        onLost: (error) => events.push(`lost: ${error.message}`),
      },
      stop.signal,
    );
    return { events, running };
  }

  it('creates the lease, renews it every two seconds, and gives it back when told to stop', async () => {
    const { events, running } = lead();
    await until('leadership', () => elector.leading);
    expect(lease?.spec).toEqual({
      holderIdentity: 'me',
      leaseDurationSeconds: 15,
      leaseTransitions: 0,
      acquireTime: '2030-01-01T00:16:40.000000Z',
      renewTime: '2030-01-01T00:16:40.000000Z',
    });
    expect(elector.validUntil()).toBe(clock.monotonic() + 10_000);
    await clock.advance(2000);
    await until('the renewal', () => elector.validUntil() === clock.monotonic() + 10_000);
    expect(lease?.spec).toMatchObject({
      renewTime: '2030-01-01T00:16:42.000000Z',
      acquireTime: '2030-01-01T00:16:40.000000Z',
      leaseTransitions: 0,
    });
    stop.abort();
    await running;
    expect(events).toEqual(['started', 'ended']);
    expect(lease?.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 });
    expect(elector.validUntil()).toBe(0);
  });

  it('takes over another’s lease only when it has not changed for its duration on our own clock, whatever its times say', async () => {
    lease = heldBy('other');
    lead();
    // Its renewTime is decades ago: that is not looked at.
    for (let at = 0; at < 14_000; at += 2000) {
      await answered(at / 2000 + 1);
      expect(elector.leading).toBe(false);
      await clock.advance(2000);
    }
    lease = heldBy('other', '2000-01-01T00:00:01.000000Z');
    await clock.advance(2000);
    for (let waited = 0; waited < 14_000; waited += 2000) {
      const before = server.requests.length;
      expect(elector.leading).toBe(false);
      await clock.advance(2000);
      await answered(before + 1);
    }
    await clock.advance(2000);
    await until('leadership', () => elector.leading);
    expect(lease?.spec).toMatchObject({ holderIdentity: 'me', leaseTransitions: 5 });
  });

  it('takes a free lease at once', async () => {
    lease = heldBy('');
    lead();
    await until('leadership', () => elector.leading);
    expect(lease?.spec?.leaseTransitions).toBe(5);
  });

  it('is lost ten seconds after the last renewal, even when the API server never answers', async () => {
    const { events, running } = lead();
    await until('leadership', () => elector.leading);
    const validUntil = elector.validUntil();
    server.answerWith(() => undefined);
    for (let at = 0; at < 9000; at += 1000) await clock.advance(1000);
    expect(events).toEqual(['started']);
    await clock.advance(1000);
    await running;
    expect(clock.monotonic()).toBe(validUntil);
    await settle();
    expect(events).toEqual(['started', 'lost: leaderelection lost: kube-system/ccm was not renewed for 10 s', 'ended']);
    expect(elector.validUntil()).toBe(0);
  });

  it('survives failures that end before the deadline', async () => {
    const { events } = lead();
    await until('leadership', () => elector.leading);
    server.answerWith((_request, response) => json(response, 500, statusBody(500, 'InternalError', 'no')));
    for (let failures = 1; failures <= 3; failures++) {
      const before = server.requests.length;
      await clock.advance(2000);
      await answered(before + 1);
    }
    server.answerWith(store);
    await clock.advance(2000);
    await until('the renewal', () => elector.validUntil() === clock.monotonic() + 10_000);
    expect(events).toEqual(['started']);
    server.answerWith((_request, response) => json(response, 500, statusBody(500, 'InternalError', 'no')));
    for (let failures = 1; failures <= 4; failures++) {
      const before = server.requests.length;
      await clock.advance(2000);
      await answered(before + 1);
    }
    await clock.advance(1999);
    expect(events).toEqual(['started']);
    await clock.advance(1);
    expect(events[1]).toContain('was not renewed for 10 s');
  });

  it('is lost at once when somebody else holds the lease, or held it meanwhile', async () => {
    const { events, running } = lead();
    await until('leadership', () => elector.leading);
    lease = heldBy('');
    await clock.advance(2000);
    await running;
    expect(events[1]).toBe('lost: leaderelection lost: somebody else holds kube-system/ccm');
    expect(lease.spec?.holderIdentity).toBe('');
  });

  it('keeps the lease until the work has ended', async () => {
    let finish: () => void = () => undefined;
    const running = elector.run({ onStarted: () => new Promise((resolve) => (finish = resolve)), onLost: () => undefined }, stop.signal);
    await until('leadership', () => elector.leading);
    stop.abort();
    for (let at = 0; at < 20_000; at += 2000) {
      const before = lease?.metadata.resourceVersion;
      await clock.advance(2000);
      await until('the renewal', () => lease?.metadata.resourceVersion !== before);
    }
    expect(lease?.spec?.holderIdentity).toBe('me');
    finish();
    await running;
    expect(lease?.spec?.holderIdentity).toBe('');
  });

  it('renews in one request, and reads the lease first only where somebody else has written it', async () => {
    let slow = 0;
    elector = create({ onSlowPath: () => slow++ });
    lead();
    await until('leadership', () => elector.leading);
    const methods = (from: number): string[] => server.requests.slice(from).map(({ method }) => method);
    let before = server.requests.length;
    await clock.advance(2000);
    await until('the renewal', () => elector.validUntil() === clock.monotonic() + 10_000);
    expect(methods(before)).toEqual(['PUT']);
    expect(slow).toBe(0);
    const held = lease as Lease;
    lease = { ...held, metadata: { ...held.metadata, resourceVersion: String(++version), labels: { by: 'a-person' } } };
    before = server.requests.length;
    await clock.advance(2000);
    await until('the renewal', () => elector.validUntil() === clock.monotonic() + 10_000);
    expect(methods(before)).toEqual(['PUT', 'GET', 'PUT']);
    expect(slow).toBe(1);
    expect(lease.metadata.labels).toEqual({ by: 'a-person' });
  });

  it('allows no write any more when it gives the lease back', async () => {
    const validWhenSent: number[] = [];
    server.answerWith((request, response) => {
      if (request.method === 'PUT') validWhenSent.push(elector.validUntil());
      return store(request, response);
    });
    const { running } = lead();
    await until('leadership', () => elector.leading);
    stop.abort();
    await running;
    expect(lease?.spec?.holderIdentity).toBe('');
    expect(validWhenSent).toEqual([0]);
  });

  it('rejects with what the work rejects with, and gives the lease back', async () => {
    const running = elector.run({ onStarted: () => Promise.reject(new Error('a bug')), onLost: () => undefined }, stop.signal);
    await expect(running).rejects.toThrow('a bug');
    expect(lease?.spec?.holderIdentity).toBe('');
  });

  it('is healthy as a standby, and as a leader that renews (contract 7.6)', async () => {
    expect(elector.problem()).toBeUndefined();
    lead();
    await until('leadership', () => elector.leading);
    expect(elector.problem()).toBeUndefined();
    // The process was stopped: its timers did not run.
    Object.assign(clock, { at: clock.monotonic() + 35_001 });
    expect(elector.problem()).toBe('the lease was last renewed 35 s ago');
  });

  it('refuses durations that don’t fit each other', () => {
    expect(() => create({ leaseDurationMs: 10_000 })).toThrow('greater than the renew deadline');
    expect(() => create({ retryPeriodMs: 9_000 })).toThrow('1.2 times the retry period');
  });
});
