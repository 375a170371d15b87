import type { CloudStackStatus, Drift, WaitingPlan } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { silentLogger } from '../../../operator/base/log';
import { StackRecord, stackSpec, type StoredStack } from '../../../operator/cloud/stack/stack-record';
import type { KubeApi } from '../../../operator/kube/api';
import { MemoryStore } from '../../../operator/kube/store';
import type { UpdateResult } from '../../../operator/updates/update';
import { FakeClock } from '../kube/fake-clock';

const STACK = 'lb-default-web';
const SPEC = stackSpec('local', 'LoadBalancer');
const HOUR = 3_600_000;

class Bench {
  readonly clock = new FakeClock();
  /** Of the wall clock only, in milliseconds. */
  offset = 0;
  failing = false;
  readonly sent: CloudStackStatus[] = [];
  readonly store = new MemoryStore<StoredStack>({}, silentLogger);
  readonly record = new StackRecord({
    api: {
      apply: (_resource: unknown, _key: unknown, body: { status?: CloudStackStatus }) => this.apply(body),
      remove: () => Promise.resolve(),
    } as unknown as KubeApi,
    store: this.store,
    holder: 'test',
    clock: {
      now: () => this.clock.now() + this.offset,
      monotonic: () => this.clock.monotonic(),
      after: (ms: number, run: () => void) => this.clock.after(ms, run),
    },
    logger: silentLogger,
  });

  private apply({ status }: { status?: CloudStackStatus }): Promise<unknown> {
    if (this.failing) return Promise.reject(new OperatorError('Throttled', '429 TooManyRequests'));
    if (status !== undefined) this.sent.push(status);
    return Promise.resolve({});
  }
}

const begin = ({ record }: Bench): void => record.started(STACK, SPEC, ['default/web'], { kind: 'Update', cause: 'Change' });

test('what could not be written is written later, without another change', async () => {
  const bench = new Bench();
  begin(bench);
  await bench.clock.advance(0);
  bench.failing = true;
  const result = { durationMs: 500, changes: { create: 1, update: 0, replace: 0, delete: 0, same: 0 }, cloudCalls: 1, resources: [] };
  bench.record.succeeded(STACK, SPEC, ['default/web'], result as unknown as UpdateResult);
  await bench.clock.advance(0);
  expect(bench.sent.at(-1)?.attempts?.[0]?.result).toBe('Running');
  await bench.clock.advance(2_000);
  bench.failing = false;
  expect(bench.clock.pending()).toEqual([1_000]);
  await bench.clock.advance(1_000);
  expect(bench.sent.at(-1)?.attempts?.[0]).toMatchObject({ result: 'Succeeded', durationMs: 500 });
  expect(bench.clock.pending()).toEqual([]);
});

test('all that happens while nothing can be written waits for one next try, which is made after a second, then two, and says the newest', async () => {
  const bench = new Bench();
  bench.failing = true;
  for (let attempt = 0; attempt < 5; attempt++) {
    begin(bench);
    bench.record.failed(STACK, SPEC, ['default/web'], { error: new OperatorError('Transient', `no answer to try ${attempt}`) });
    await bench.clock.advance(0);
  }
  expect(bench.clock.pending()).toEqual([1_000]);
  await bench.clock.advance(1_000);
  expect(bench.clock.pending()).toEqual([2_000]);
  begin(bench);
  await bench.clock.advance(1_500);
  expect(bench.clock.pending()).toEqual([500]);
  bench.failing = false;
  await bench.clock.advance(500);
  expect(bench.clock.pending()).toEqual([]);
  expect(bench.sent.at(-1)?.attempts?.map(({ result }) => result)).toEqual(['Running', ...Array<string>(4).fill('Failed')]);

  bench.failing = true;
  begin(bench);
  await bench.clock.advance(0);
  expect(bench.clock.pending()).toEqual([1_000]);
});

test('what waits for a window alone is said of the stack, once it is there, and after an update of others too', async () => {
  const bench = new Bench();
  const held = { member: 'default/web', message: 'a change of its spec waits' };
  begin(bench);
  await bench.record.waiting(STACK, SPEC, [], held);
  const result = { durationMs: 1, changes: { create: 0, update: 0, replace: 0, delete: 0, same: 1 }, cloudCalls: 1, resources: [] };
  const said = (): unknown => bench.sent.at(-1)?.conditions?.find(({ type }) => type === 'Ready');
  bench.record.succeeded(STACK, SPEC, ['default/web'], result as unknown as UpdateResult);
  await bench.clock.advance(0);
  expect(said()).toMatchObject({ reason: 'AwaitingWindow', message: 'default/web: a change of its spec waits' });
  await bench.record.waiting(STACK, SPEC, []);
  bench.record.unchanged(STACK, SPEC, ['default/web'], result as unknown as UpdateResult);
  await bench.clock.advance(0);
  expect(said()).toMatchObject({ status: 'True' });
});

test('what an attempt did is kept with it, also when it failed, and not with the next', async () => {
  const bench = new Bench();
  const operations = [{ op: 'update', type: 'local:index:LoadBalancer', name: 'web', urn: 'urn:web' }] as const;
  begin(bench);
  bench.record.carriedOut(STACK, { cloudCalls: 2 });
  bench.record.carriedOut(STACK, { operations: [...operations], omitted: 2 });
  bench.record.carriedOut(STACK, { cloudCalls: 3 });
  bench.record.failed(STACK, SPEC, ['default/web'], { error: new OperatorError('Quota', 'too many') });
  begin(bench);
  const result = { durationMs: 1, changes: { create: 0, update: 0, replace: 0, delete: 0, same: 1 }, cloudCalls: 1, resources: [] };
  bench.record.succeeded(STACK, SPEC, ['default/web'], result as unknown as UpdateResult);
  await bench.clock.advance(0);
  const [last, before] = bench.sent.at(-1)?.attempts ?? [];
  expect(last).not.toHaveProperty('operations');
  expect(last).toMatchObject({ cloudCalls: 1 });
  expect(before).toMatchObject({ result: 'Failed', operations, omitted: 2, cloudCalls: 3 });
});

test('what a failed attempt has left in the cloud is shown', async () => {
  const bench = new Bench();
  begin(bench);
  const resources = [{ type: 'local:index:TargetPool', id: 'pool-1', name: 'web-tcp-80', urn: 'urn:web' }];
  await bench.clock.advance(0);
  bench.sent.length = 0;
  const error = new OperatorError('Quota', 'too many');
  bench.record.failed(STACK, SPEC, ['default/web'], { error, left: { resources, epoch: 4 } });
  await bench.clock.advance(0);
  expect(bench.sent).toHaveLength(1);
  expect(bench.sent.at(-1)).toMatchObject({ resources, resourceCount: 1, epoch: 4, attempts: [{ result: 'Failed' }] });
  bench.record.failed(STACK, SPEC, ['default/web'], { error, left: { resources: [] } });
  await bench.clock.advance(0);
  expect(bench.sent.at(-1)).toMatchObject({ resources: [], resourceCount: 0, epoch: 4 });
});

test('the last five attempts are kept, the newest first', async () => {
  const bench = new Bench();
  for (const durationMs of [1, 2, 3, 4, 5, 6, 7]) {
    begin(bench);
    const result = { durationMs, changes: { create: 0, update: 1, replace: 0, delete: 0, same: 0 }, cloudCalls: 1, resources: [] };
    bench.record.succeeded(STACK, SPEC, ['default/web'], result as unknown as UpdateResult);
    await bench.clock.advance(1_000);
  }
  expect(bench.sent.at(-1)?.attempts?.map(({ durationMs }) => durationMs)).toEqual([7, 6, 5, 4, 3]);
});

test('what an earlier leader writes late over ours is written again, and nothing else is', async () => {
  const bench = new Bench();
  const stored = (holder: string | undefined): StoredStack =>
    ({ metadata: { name: STACK }, spec: SPEC, status: holder === undefined ? undefined : { holder } }) as StoredStack;
  bench.record.noticed(stored('earlier')); // nothing is known of it yet: it is what the earlier leader has left
  begin(bench);
  await bench.clock.advance(0);
  expect(bench.sent).toHaveLength(1);
  bench.record.noticed(stored('test'));
  await bench.clock.advance(0);
  expect(bench.sent).toHaveLength(1);
  bench.record.noticed(stored('earlier'));
  await bench.clock.advance(0);
  expect(bench.sent).toHaveLength(2);
  expect(bench.sent[1]).toEqual(bench.sent[0]);
});

test('nothing is tried any more after the end, nor for a stack that is gone', async () => {
  const bench = new Bench();
  bench.failing = true;
  begin(bench);
  await bench.clock.advance(0);
  expect(bench.clock.pending()).toEqual([1_000]);
  await bench.record.flush();
  expect(bench.clock.pending()).toEqual([]);
});

test.each([HOUR, -HOUR])('an attempt’s duration does not change with the wall clock (set by %i ms)', async (offset) => {
  const bench = new Bench();
  begin(bench);
  await bench.clock.advance(1_500);
  bench.offset = offset;
  bench.record.failed(STACK, SPEC, ['default/web'], { error: new OperatorError('Transient', 'no') });
  await bench.clock.advance(0);
  expect(bench.sent.at(-1)?.attempts?.[0]).toMatchObject({ result: 'Failed', durationMs: 1_500 });
});

/** A record of an earlier run of the operator. */
const RECORD = { metadata: { name: STACK }, spec: SPEC, status: { members: ['default/web'], holder: 'earlier' } } as unknown as StoredStack;

test('what somebody deletes is written again, and whose stack it is is known meanwhile', async () => {
  const bench = new Bench();
  expect(bench.record.deleted(RECORD)).toBe(true);
  expect(bench.record.providerOf(STACK)).toBe('local');
  await bench.clock.advance(0);
  expect(bench.sent).toMatchObject([{ members: ['default/web'], holder: 'earlier' }]);

  bench.record.noticed(RECORD);
  expect(bench.record.providerOf(STACK)).toBeUndefined();
});

test.each([
  ['of a stack that is no more', RECORD, true],
  ['of what a sweep has found', { ...RECORD, status: { incarnation: 'found-1' } }, false],
])('a record goes for good: %s', async (_what, record, isOver) => {
  const bench = new Bench();
  if (isOver) {
    begin(bench);
    await bench.record.removed(STACK);
    bench.sent.length = 0;
  }
  expect(bench.record.deleted(record)).toBe(false);
  await bench.clock.advance(0);
  expect(bench.sent).toEqual([]);
});

test('why nothing is done about a stack is said once, beside how its cloud differs', async () => {
  const bench = new Bench();
  bench.store.set({ ...RECORD, metadata: { ...RECORD.metadata, resourceVersion: '1' } });
  bench.record.reported(STACK, SPEC, [{ kind: 'Changed' } as unknown as Drift]);
  for (let pass = 0; pass < 2; pass++)
    bench.record.rests(STACK, { state: 'Reconciling', reason: 'StackHeld', message: 'nothing is updated', serving: true });
  await bench.clock.advance(0);
  expect(bench.sent).toHaveLength(2);
  expect(bench.sent.at(-1)?.conditions).toMatchObject([
    { type: 'Ready', status: 'True', reason: 'StackHeld', message: 'nothing is updated' },
    { type: 'Reconciling', reason: 'StackHeld' },
    { type: 'Drifted', message: '1 difference between the cloud and what is wanted' },
  ]);
});

test('of many plans that wait the first 16 are shown, and how many are not, for as long as that is so', async () => {
  const bench = new Bench();
  const plans = (count: number): WaitingPlan[] =>
    Array.from({ length: count }, (_, at) => ({
      member: `default/s${at}`,
      hash: 'h',
      reason: 'so',
      summary: '1 to update',
      operations: [],
    }));
  const shown: [number | undefined, number | undefined, string | undefined][] = [];
  for (const count of [18, 17, 16, 0]) {
    void bench.record.waiting(STACK, SPEC, plans(count));
    await bench.clock.advance(0);
    const { plans: found, plansOmitted, conditions } = bench.sent.at(-1) ?? {};
    shown.push([found?.length, plansOmitted, /and \d+ more/.exec(conditions?.[0]?.message ?? '')?.[0]]);
  }
  expect(shown.slice(0, 3)).toEqual([
    [16, 2, 'and 17 more'],
    [16, 1, 'and 16 more'],
    [16, undefined, 'and 15 more'],
  ]);
  expect(shown[3]?.slice(0, 2)).toEqual([undefined, undefined]);
});
