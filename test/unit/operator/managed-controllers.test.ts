import { silentLogger } from '../../../operator/base/log';
import { ManagedControllers, type ManagedController } from '../../../operator/managed-controllers';
import { HealthChecks } from '../../../operator/server/health';
import { Metrics } from '../../../operator/server/metrics';
import { FakeClock } from '../kube/fake-clock';

class Recorded implements ManagedController {
  requeued = 0;

  constructor(
    readonly name: ManagedController['name'],
    private readonly log: string[],
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    this.log.push(this.name);
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  }

  requeueAll(): void {
    this.requeued++;
  }
}

function scene(random: number[], times: { startIntervalMs?: number; minResyncMs?: number }) {
  const clock = new FakeClock();
  const log: string[] = [];
  const controllers = (['cloud-node-controller', 'service-lb-controller', 'node-route-controller'] as const).map(
    (name) => new Recorded(name, log),
  );
  const health = new HealthChecks(silentLogger, clock);
  const metrics = new Metrics(clock);
  const managed = new ManagedControllers(controllers, {
    ...{ startIntervalMs: 0, minResyncMs: 0, health, metrics, clock, logger: silentLogger },
    ...times,
    random: () => random.shift() ?? 0.5,
  });
  const stop = new AbortController();
  return { clock, log, controllers, health, metrics, stop, ended: managed.run(stop.signal) };
}

test('controllers start in random order, once to twice the interval apart', async () => {
  const { clock, log, stop, ended } = scene([0.9, 0.1, 0.5, 0.25, 1], { startIntervalMs: 1000 });
  await clock.advance(0);
  expect(log).toEqual(['service-lb-controller']);
  await clock.advance(1249);
  expect(log).toHaveLength(1);
  await clock.advance(1);
  expect(log).toEqual(['service-lb-controller', 'node-route-controller']);
  await clock.advance(2000);
  expect(log).toEqual(['service-lb-controller', 'node-route-controller', 'cloud-node-controller']);
  stop.abort();
  await ended;
});

test('all objects are looked at again after once to twice the resync period', async () => {
  const { clock, controllers, stop, ended } = scene([0.25], { minResyncMs: 1000 });
  await clock.advance(1249);
  expect(controllers.map(({ requeued }) => requeued)).toEqual([0, 0, 0]);
  await clock.advance(1);
  expect(controllers.map(({ requeued }) => requeued)).toEqual([1, 1, 1]);
  await clock.advance(1500);
  expect(controllers.map(({ requeued }) => requeued)).toEqual([2, 2, 2]);
  stop.abort();
  await ended;
});

test('what runs has a health check and a metric, by the alias', async () => {
  const { clock, health, metrics, stop, ended } = scene([], {});
  await clock.advance(0);
  expect((await health.answerOne('healthz', 'service-lb-controller')).status).toBe(200);
  const shown = async (): Promise<string> => metrics.registry.getSingleMetricAsString('running_managed_controllers');
  expect(await shown()).toContain('running_managed_controllers{name="service",manager="cloud-controller-manager"} 1');
  stop.abort();
  await ended;
  expect((await health.answerOne('healthz', 'service-lb-controller')).status).toBe(404);
  expect(await shown()).toContain('running_managed_controllers{name="service",manager="cloud-controller-manager"} 0');
});
