import { Registry } from 'prom-client';
import type { StoreChange } from '../../../operator/kube/api';
import { ObjectMetrics, type Measured } from '../../../operator/server/object-metrics';
import { FakeClock } from '../kube/fake-clock';

let clock: FakeClock;
let registry: Registry;
let objects: Measured[];
let change: (change: StoreChange<Measured>) => void;

beforeEach(() => {
  clock = new FakeClock();
  registry = new Registry();
  objects = [];
  new ObjectMetrics([registry], clock).follow('CloudRoute', {
    list: () => objects,
    onChange: (listener) => ((change = listener), () => undefined),
  });
});

function object(ready: boolean, more: Partial<Measured['metadata']> = {}): Measured {
  const creationTimestamp = new Date(clock.now() - 4000).toISOString();
  const metadata = { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp, ...more };
  return { apiVersion: 'v1', kind: 'CloudRoute', metadata, status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] } };
}

const count = async (): Promise<string | undefined> =>
  /time_to_ready_seconds_count\{kind="CloudRoute"\} (\d+)/.exec(await registry.metrics())?.[1];

test('the first time that an object is Ready counts, once', async () => {
  change({ key: 'a', current: object(false) });
  expect(await count()).toBeUndefined();
  change({ key: 'a', previous: object(false), current: object(true) });
  expect(await registry.metrics()).toContain('time_to_ready_seconds_sum{kind="CloudRoute"} 4');
  change({ key: 'a', previous: object(true), current: object(false) });
  change({ key: 'a', previous: object(false), current: object(true) });
  expect(await count()).toBe('1');
});

test('what was Ready before this process began does not count', async () => {
  change({ key: 'a', current: object(true) });
  change({ key: 'a', previous: object(true), current: object(false) });
  change({ key: 'a', previous: object(false), current: object(true) });
  expect(await count()).toBeUndefined();
});

test('the oldest deletion shows its age', async () => {
  const deleted = (ago: number): Measured => object(true, { deletionTimestamp: new Date(clock.now() - ago).toISOString() });
  expect(await registry.metrics()).toContain('deleting_oldest_seconds{kind="CloudRoute"} 0');
  objects = [object(true), deleted(2000), deleted(9000)];
  expect(await registry.metrics()).toContain('deleting_oldest_seconds{kind="CloudRoute"} 9');
});
