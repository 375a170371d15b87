import pino from 'pino';
import { OperatorError } from '../../../operator/base/errors';
import type { UpdateResult } from '../../../operator/updates/update';
import type { FakeInputs } from './fake-provider';
import { UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start({ graceMs: 1_000 }));
afterAll(() => harness.stop());

const web = { name: 'web', size: 1 };

async function failure(stack: string, inputs: FakeInputs, deadlineMs?: number): Promise<OperatorError> {
  const more = deadlineMs === undefined ? {} : { deadlineMs };
  const error = await harness.run(stack, inputs, more).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OperatorError)) throw new Error(`expected an OperatorError, got ${String(error)}`);
  return error;
}

/** The same stack works afterwards: neither pool nor state was harmed. */
async function expectHealthy(stack: string): Promise<void> {
  const result = await harness.run(stack, { things: [web] });
  expect(result.result).toBe('Updated');
  expect(harness.cloud.named('web', stack)).toHaveLength(1);
}

describe('a program that misbehaves costs its own update only', () => {
  test('throws', async () => {
    const error = await failure('throws', { mode: 'throw' });
    expect([error.code, error.message]).toEqual(['Invalid', 'stack throws: the program failed: listener 7 is not to my taste']);
    await expectHealthy('throws');
  });

  test('calls process.exit', async () => {
    const error = await failure('exits', { mode: 'exit' });
    expect([error.code, error.message]).toEqual(['Invalid', 'stack exits: the program failed: the program called process.exit(3)']);
    await expectHealthy('exits');
  });

  test('never yields', async () => {
    const error = await failure('loops', { mode: 'loop' }, 2_000);
    expect([error.code, error.message]).toEqual(['Transient', 'stack loops: the update did not end within 2000 ms and was stopped']);
    await expectHealthy('loops');
  });

  test('waits for ever', async () => {
    const error = await failure('hangs', { mode: 'hang' }, 2_000);
    expect([error.code, error.message]).toEqual(['Transient', 'stack hangs: the update did not end within 2000 ms and was stopped']);
    await expectHealthy('hangs');
  });

  test('registers two resources of one name', async () => {
    const error = await failure('twice', { mode: 'twice', things: [web] });
    expect(error.code).toBe('Invalid');
    expect(error.message).toMatch(/Duplicate resource URN/i);
    expect(error.resource).toMatch(/::fake:index:Thing::web$/);
    await expectHealthy('twice');
  });

  test('returns nothing', async () => {
    const error = await failure('nothing', { mode: 'nothing' });
    expect([error.code, error.message]).toEqual([
      'Invalid',
      "stack nothing: the program returned undefined instead of an object with the stack's outputs",
    ]);
    await expectHealthy('nothing');
  });

  test('leaves a rejection unhandled', async () => {
    const error = await failure('rejects', { mode: 'reject' });
    expect(error.code).toBe('Invalid');
    expect(error.message).toMatch(/nobody waits for this/);
    await expectHealthy('rejects');
  });

  test('leaves a call behind, which fails while the worker runs the next update: that is not touched, and the worker is not used again', async () => {
    const log: string[] = [];
    const logger = pino({}, { write: (line: string) => void log.push(line) });
    const alone = harness.newEngine({ workers: 1, logger });
    const run = (stack: string, inputs: FakeInputs): Promise<UpdateResult> =>
      alone.run(harness.update(stack, inputs), harness.hooks(stack));
    harness.cloud.fault({ method: 'POST', name: '', kind: 'hold' });
    await run('forgetful', { forget: `${harness.cloud.url}/things` });
    await harness.cloud.until(() => harness.cloud.heldCount === 1);
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const next = run('next', { things: [web] });
    await harness.cloud.until(() => harness.cloud.heldCount === 2);
    const [worker] = alone.workerPids;
    harness.cloud.cutFirst();
    await harness.until(() => log.some((line) => line.includes('uncaught in the worker')));
    harness.cloud.release();
    expect(await next).toMatchObject({ result: 'Updated', changes: { create: 1 } });
    await harness.until(() => !alone.workerPids.includes(worker!));
  });

  test('writes to standard output: harmless, even when it looks like our own events', async () => {
    const result = await harness.run('prints', { mode: 'print', things: [web] });
    expect(result.changes.create).toBe(1);
  });

  test('names a provider that is not there', async () => {
    const error = await harness.engine
      .run(harness.update('absent', {}, { providerKind: 'absent' }), harness.hooks('absent'))
      .catch((thrown: unknown) => thrown as OperatorError);
    expect(error).toMatchObject({ code: 'Invalid', message: 'there is no provider "absent"' });
  });
});

describe('a failure of the cloud keeps its class', () => {
  test('with retryAfter, field, remedy and URN', async () => {
    const body = { code: 'Throttled', message: 'slow down', retryAfterMs: 4321, field: 'spec.listeners[0].port', remedy: 'wait' };
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'refuse', body });
    const error = await failure('throttled', { things: [web] });
    expect(error).toMatchObject({
      code: 'Throttled',
      message: 'stack throttled: resource "web": slow down',
      retryAfterMs: 4321,
      field: 'spec.listeners[0].port',
      remedy: 'wait',
      resource: 'urn:pulumi:throttled::fake::fake:index:Thing::web',
    });
    await expectHealthy('throttled');
  });

  test('what a person must repair comes before what passes by itself', async () => {
    harness.cloud.fault({ method: 'POST', name: 'a', kind: 'refuse', body: { code: 'Transient', message: 'later' } });
    harness.cloud.fault({ method: 'POST', name: 'b', kind: 'refuse', body: { code: 'Quota', message: 'no more' } });
    const error = await failure('several', {
      things: [
        { name: 'a', size: 1 },
        { name: 'b', size: 1 },
      ],
    });
    expect(['Quota', 'Transient']).toContain(error.code);
    if (error.message.includes('more failure')) expect(error.code).toBe('Quota');
  });

  test('an input that the resource type refuses names the property', async () => {
    const error = await failure('refused', { things: [{ name: 'web', size: 5000 }] });
    expect(error).toMatchObject({
      code: 'Invalid',
      field: 'size',
      message: 'stack refused: fake:index:Thing "web": size: must be at most 1000',
      resource: 'urn:pulumi:refused::fake::fake:index:Thing::web',
    });
  });

  test('of two stacks in parallel, one failing, the other is not touched', async () => {
    harness.cloud.fault({ method: 'POST', name: 'bad', kind: 'refuse', body: { code: 'Credentials', message: 'who are you' } });
    const things = [web, { name: 'second', size: 2, on: 'web' }];
    const [good, bad] = await Promise.allSettled([
      harness.run('good', { things }),
      harness.run('bad', { things: [{ name: 'bad', size: 1 }, ...things] }),
    ]);
    expect(good.status === 'fulfilled' && good.value.changes.create).toBe(2);
    expect(bad.status === 'rejected' && (bad.reason as OperatorError).code).toBe('Credentials');
  });
});
