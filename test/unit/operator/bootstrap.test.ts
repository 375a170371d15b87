import { Bootstrap } from '../../../operator/bootstrap';
import { silentLogger } from '../../../operator/base/log';
import type { KubeClient } from '../../../operator/kube/client';
import type { Permission } from '../../../operator/permissions';
import type { StaleCollection } from '../../../operator/stores';
import { FakeClock } from '../kube/fake-clock';

const RULES: Permission[] = [{ part: 'cloud-node-lifecycle', why: '', group: '', resources: ['nodes'], verbs: ['get', 'delete'] }];

test('a right that is taken away later is found missing too: looked for every 5 minutes, and every 15 s until it is there again', async () => {
  const denied = new Set<string>();
  let asked = 0;
  const api = {
    withOptions: () => api,
    raw: (_verb: string, _path: string, { body }: { body: { spec: { resourceAttributes: { verb: string } } } }) => {
      asked++;
      return Promise.resolve({ status: { allowed: !denied.has(body.spec.resourceAttributes.verb) } });
    },
  } as unknown as KubeClient;
  const [clock, told] = [new FakeClock(), [] as (readonly string[])[]];
  const retryNow = jest.fn();
  const bootstrap = new Bootstrap({
    ...{ api, servicesApi: api, clock, logger: silentLogger, installCRDs: false, watchesServices: false, begun: Promise.resolve() },
    stores: { blocked: () => [], stale: () => [], retryNow } as never,
    rights: [{ api, permissions: RULES }],
    onMissingRights: (rules) => told.push(rules),
    onStale: () => undefined,
  });
  const stop = new AbortController();
  const running = bootstrap.run(stop.signal);
  await clock.advance(0);
  expect([asked, told]).toEqual([2, []]);
  denied.add('delete');
  await clock.advance(299_999);
  expect(asked).toBe(2);
  await clock.advance(1);
  expect([asked, told]).toEqual([4, [['nodes (delete)']]]);
  await clock.advance(30_000);
  expect([asked, told]).toEqual([8, [['nodes (delete)']]]);
  denied.clear();
  await clock.advance(15_000);
  expect([asked, told, retryNow.mock.calls]).toEqual([10, [['nodes (delete)'], []], [[]]]);
  stop.abort(new Error('the test is over'));
  await clock.advance(0);
  await running;
});

test('collections whose changes don’t come in are told when they, or the reason, are others than before', async () => {
  let stale: StaleCollection[] = [];
  const told: (readonly StaleCollection[])[] = [];
  const clock = new FakeClock();
  const bootstrap = new Bootstrap({
    ...{ clock, logger: silentLogger, installCRDs: false, watchesServices: false, begun: Promise.resolve(), rights: [] },
    ...{ api: {} as KubeClient, servicesApi: {} as KubeClient, onMissingRights: () => undefined },
    stores: { blocked: () => [], stale: () => stale, retryNow: () => undefined } as never,
    onStale: (found) => told.push(found),
  });
  const stop = new AbortController();
  const running = bootstrap.run(stop.signal);
  const nodes = (why: string): StaleCollection[] => [{ collection: 'nodes', why }];
  for (const found of [[], nodes('500'), nodes('500'), nodes('refused'), [], []]) {
    stale = found;
    await clock.advance(5_000);
  }
  expect(told).toEqual([nodes('500'), nodes('refused'), []]);
  stop.abort(new Error('the test is over'));
  await clock.advance(0);
  await running;
});
