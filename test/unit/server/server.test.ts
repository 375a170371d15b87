import { request } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { silentLogger } from '../../../operator/base/log';
import { HealthChecks } from '../../../operator/server/health';
import { OperatorServer } from '../../../operator/server/http-server';
import { Metrics } from '../../../operator/server/metrics';
import { FakeClock } from '../kube/fake-clock';

describe('OperatorServer', () => {
  let health: HealthChecks;
  let metrics: Metrics;
  let server: OperatorServer;
  let url: string;
  let clock: FakeClock;

  beforeEach(async () => {
    clock = new FakeClock();
    health = new HealthChecks(silentLogger, clock);
    metrics = new Metrics();
    server = new OperatorServer({ bindAddress: '127.0.0.1', port: 0, health, metrics, logger: silentLogger });
    const { address, port } = await server.start();
    url = `http://${address}:${port}`;
  });
  afterEach(() => server.stop());

  async function get(path: string): Promise<[number, string]> {
    const response = await fetch(url + path);
    return [response.status, await response.text()];
  }

  it('answers as Kubernetes’ servers do', async () => {
    health.add('leaderElection', () => undefined);
    expect(await get('/healthz')).toEqual([200, 'ok']);
    expect(await get('/healthz?verbose')).toEqual([200, '[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n']);
    expect(await get('/healthz/leaderElection')).toEqual([200, 'ok']);
    expect(await get('/livez?verbose')).toEqual([200, '[+]ping ok\nlivez check passed\n']);
    expect((await get('/livez/leaderElection'))[0]).toBe(404);
    expect((await get('/elsewhere'))[0]).toBe(404);
    expect((await get('/healthz/a/b'))[0]).toBe(404);
  });

  it('has the election’s check in place of ping, as upstream, and counts only what /healthz asks', async () => {
    health.add('leaderElection', () => undefined);
    health.add('caches', () => undefined, ['readyz']);
    health.withoutPing();
    expect(await get('/healthz?verbose')).toEqual([200, '[+]leaderElection ok\nhealthz check passed\n']);
    expect((await get('/healthz/ping'))[0]).toBe(404);
    expect(await get('/livez?verbose')).toEqual([200, '[+]ping ok\nlivez check passed\n']);
    const [, slis] = await get('/metrics/slis');
    expect(slis.match(/^kubernetes_healthcheck\{.*type="healthz"\} 1$/gm)).toEqual([
      'kubernetes_healthcheck{name="leaderElection",type="healthz"} 1',
    ]);
  });

  it('names the check that failed, and its reason only where that check is asked for', async () => {
    health.add('stores', () => Promise.reject(new Error('services have not been listed')), ['readyz']);
    expect(await get('/readyz')).toEqual([500, '[+]ping ok\n[-]stores failed: reason withheld\nreadyz check failed\n']);
    expect(await get('/readyz/stores')).toEqual([500, 'internal server error: services have not been listed\n']);
    expect(await get('/readyz?exclude=stores')).toEqual([200, 'ok']);
    expect(await get('/healthz')).toEqual([200, 'ok']);
    health.remove('stores');
    expect(await get('/readyz')).toEqual([200, 'ok']);
  });

  it('names what is excluded, and what can’t be because there is no such check', async () => {
    const asked = jest.fn();
    health.add('leaderElection', asked);
    const excluded = '[+]ping ok\n[+]leaderElection excluded: ok\n';
    expect(await get('/healthz?verbose&exclude=leaderElection')).toEqual([200, `${excluded}healthz check passed\n`]);
    expect(asked).not.toHaveBeenCalled();
    const query = 'verbose&exclude=typo&exclude=leaderElection&exclude=another';
    const warning = 'warn: some health checks cannot be excluded: no matches for "another","typo"\n';
    expect(await get(`/healthz?${query}`)).toEqual([200, `${excluded}${warning}healthz check passed\n`]);
    expect(await get('/healthz?exclude=typo')).toEqual([200, 'ok']);
    health.add('stores', () => Promise.reject(new Error('not yet')));
    expect(await get('/healthz?exclude=leaderElection')).toEqual([
      500,
      `${excluded}[-]stores failed: reason withheld\nhealthz check failed\n`,
    ]);
  });

  it('does not wait for a check that hangs', async () => {
    let asked: () => void = () => undefined;
    const wasAsked = new Promise<void>((resolve) => (asked = resolve));
    health.add('hanging', () => (asked(), new Promise(() => undefined)));
    const answer = get('/healthz/hanging');
    await wasAsked;
    await clock.advance(5000);
    expect(await answer).toEqual([500, 'internal server error: no answer within 5 s\n']);
    expect(clock.pending()).toEqual([]);
  });

  it('refuses two checks of one name', () => {
    health.add('a', () => undefined);
    expect(() => health.add('a', () => undefined)).toThrow('already');
  });

  it('shows metrics in Prometheus’ format', async () => {
    const queue = metrics.forQueue('service');
    metrics.watchQueue({ name: 'service', longestRunningMs: 2500, unfinishedMs: 3000, oldestMs: 1500 });
    queue.added();
    queue.depth(3);
    queue.started(250);
    queue.finished(40, true);
    metrics.cloudCalled('local', 'put', 'Answered');
    metrics.drift.found('local', 'Routes', 'Heal');
    metrics.controllerRuns('service', true);
    metrics.leases.watch('cloud-controller-manager', () => true);
    metrics.requests.answered({ verb: 'GET', host: 'api:6443' }, '200', 30);
    metrics.built('1.2.3');
    metrics.updated('local', 'Updated', 800);
    const [status, text] = await get('/metrics');
    expect(status).toBe(200);
    for (const line of [
      'workqueue_depth{name="service"} 3',
      'workqueue_adds_total{name="service"} 1',
      'workqueue_retries_total{name="service"} 0',
      'workqueue_queue_duration_seconds_sum{name="service"} 0.25',
      'workqueue_work_duration_seconds_count{name="service"} 1',
      'workqueue_longest_running_processor_seconds{name="service"} 2.5',
      'cloud_operator_workqueue_failures_total{name="service"} 1',
      'workqueue_unfinished_work_seconds{name="service"} 3',
      'cloud_operator_workqueue_oldest_seconds{name="service"} 1.5',
      'cloud_operator_cloud_calls_total{provider="local",verb="put",code="Answered"} 1',
      'cloud_operator_drift_total{provider="local",kind="Routes",policy="Heal"} 1',
      'running_managed_controllers{name="service",manager="cloud-controller-manager"} 1',
      'leader_election_master_status{name="cloud-controller-manager"} 1',
      'rest_client_requests_total{code="200",method="GET",host="api:6443"} 1',
      'rest_client_request_duration_seconds_bucket{le="0.1",verb="GET",host="api:6443"} 1',
      'cloud_operator_update_duration_seconds_bucket{le="1",provider="local",result="Updated"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('bears nonsense', async () => {
    expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
    expect((await get('/healthz/%E0%A4%A'))[0]).toBe(404);
    const status = await new Promise((resolve, reject) => {
      request(`${url}/`, { path: '//' }, (response) => resolve(response.statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
    expect(await get('/healthz')).toEqual([200, 'ok']);
  });

  it('says which port is taken', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const second = new OperatorServer({ bindAddress: '127.0.0.1', port, health, metrics, logger: silentLogger });
    await expect(second.start()).rejects.toMatchObject({
      code: 'Invalid',
      message: `can't serve health and metrics on 127.0.0.1:${port}: the port is in use; choose another`,
    });
    await second.stop();
    await new Promise((resolve) => other.close(resolve));
  });
});
