import { Registry } from 'prom-client';
import type { StoreChange } from '../../../operator/kube/api';
import { ObjectMetrics } from '../../../operator/server/object-metrics';
import type { Judged } from '../../../operator/server/object-state';
import { FakeClock } from '../kube/fake-clock';

let clock: FakeClock;
let registry: Registry;
let objects: Judged[];
let change: (change: StoreChange<Judged>) => void;

beforeEach(() => {
  clock = new FakeClock();
  registry = new Registry();
  objects = [];
  new ObjectMetrics([registry], clock).follow('CloudRoute', {
    list: () => objects,
    onChange: (listener) => ((change = listener), () => undefined),
  });
});

function object(ready: boolean, more: Partial<Judged['metadata']> = {}): Judged {
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

test('a Service counts by our own condition, beside which others have theirs', async () => {
  const of = (ours: boolean): Judged => {
    const conditions = [
      { type: 'Ready', status: ours ? 'False' : 'True' },
      { type: 'cloud-operator.dev/Ready', status: ours ? 'True' : 'False' },
    ];
    return { ...object(false), kind: 'Service', status: { conditions } };
  };
  change({ key: 'a', current: of(false) });
  change({ key: 'a', previous: of(false), current: of(true) });
  expect(await count()).toBe('1');
});

test('what was Ready before this process began does not count', async () => {
  change({ key: 'a', current: object(true) });
  change({ key: 'a', previous: object(true), current: object(false) });
  change({ key: 'a', previous: object(false), current: object(true) });
  expect(await count()).toBeUndefined();
});

test('the oldest deletion shows its age', async () => {
  const deleted = (ago: number): Judged => object(true, { deletionTimestamp: new Date(clock.now() - ago).toISOString() });
  expect(await registry.metrics()).toContain('deleting_oldest_seconds{kind="CloudRoute"} 0');
  objects = [object(true), deleted(2000), deleted(9000)];
  expect(await registry.metrics()).toContain('deleting_oldest_seconds{kind="CloudRoute"} 9');
});

test('objects are counted by what they say; what none says any more has no series', async () => {
  const said = (state: 'Stalled' | 'Reconciling', reason: string, uid: string): Judged => {
    const conditions = ['Ready', state].map((type) => ({ type, status: type === 'Ready' ? 'False' : 'True', reason }));
    return { ...object(false, { uid }), status: { conditions } };
  };
  objects = [said('Stalled', 'QuotaExceeded', 'a'), said('Stalled', 'QuotaExceeded', 'b'), said('Reconciling', 'Updating', 'c')];
  expect(await registry.metrics()).toContain('objects{kind="CloudRoute",state="Stalled",reason="QuotaExceeded"} 2');
  expect(await registry.metrics()).toContain('objects{kind="CloudRoute",state="Reconciling",reason="Updating"} 1');
  objects = [said('Reconciling', 'Updating', 'c')];
  expect(await registry.metrics()).not.toContain('QuotaExceeded');
});

test('the object that has not been as asked for the longest shows for how long', async () => {
  const since = (ago: number): Judged => {
    const lastTransitionTime = new Date(clock.now() - ago).toISOString();
    return { ...object(false), status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Updating', lastTransitionTime }] } };
  };
  expect(await registry.metrics()).toContain('unsettled_oldest_seconds{kind="CloudRoute"} 0');
  objects = [object(true), since(1000), since(3000)];
  expect(await registry.metrics()).toContain('unsettled_oldest_seconds{kind="CloudRoute"} 3');
});

test('a Service of another controller that is being deleted is none of ours', async () => {
  const deletionTimestamp = new Date(clock.now() - 9000).toISOString();
  objects = [{ ...object(true, { deletionTimestamp }), kind: 'Service' }];
  expect(await registry.metrics()).toContain('deleting_oldest_seconds{kind="CloudRoute"} 0');
});
