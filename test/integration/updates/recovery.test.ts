import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { UpdateEngine } from '../../../operator/updates/engine';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { UpdateHooks } from '../../../operator/updates/update';
import type { FakeInputs } from './fake-provider';
import { UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start());
afterAll(() => harness.stop());

const things = [
  { name: 'web', size: 1 },
  { name: 'db', size: 2, on: 'web' },
];

function enginePid(stack: string): number {
  const started = harness.events.findLast(({ stack: other, event }) => other === stack && event.type === 'started');
  if (started?.event.type !== 'started') throw new Error(`no engine was started for ${stack}`);
  return started.event.enginePid;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Starts an update whose create of `web` commits in the cloud and is never answered. */
async function interruptedCreate(stack: string, interrupt: () => void): Promise<OperatorError> {
  harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
  const running = harness.run(stack, { things }).catch((thrown: unknown) => thrown as OperatorError);
  await harness.cloud.until(() => harness.cloud.named('web', stack).length === 1 && harness.cloud.heldCount > 0);
  interrupt();
  const error = await running;
  harness.cloud.release();
  if (!(error instanceof OperatorError)) throw new Error('the interrupted update did not fail');
  return error;
}

async function expectRecovered(stack: string, inputs: FakeInputs = { things }): Promise<void> {
  expect(await harness.engine.state(stack)).toMatchObject({ open: true });
  const result = await harness.run(stack, inputs);
  expect(harness.cloud.named('web', stack)).toHaveLength(1);
  expect(harness.cloud.named('db', stack)).toHaveLength(1);
  expect(result.changes).toMatchObject({ create: 1, replace: 0, delete: 0 });
  expect(await harness.engine.state(stack)).toMatchObject({ open: false });
  expect(await harness.engine.compare(stack, harness.cloud.discover(stack))).toEqual([]);
}

describe('an update that is interrupted after the cloud has committed', () => {
  test('by kill -9 of the worker: found again, nothing twice, no process left', async () => {
    const error = await interruptedCreate('worker-killed', () => {
      for (const pid of harness.engine.workerPids) process.kill(pid, 'SIGKILL');
    });
    expect(error.code).toBe('Transient');
    expect(error.message).toMatch(/worker process ended: SIGKILL/);
    await expectRecovered('worker-killed');
  });

  test('by kill -9 of the engine', async () => {
    const error = await interruptedCreate('engine-killed', () => process.kill(enginePid('engine-killed'), 'SIGKILL'));
    expect(error).toMatchObject({ code: 'Transient' });
    expect(error.message).toMatch(/ended with signal SIGKILL/);
    await expectRecovered('engine-killed');
  });

  test('by a lost answer', async () => {
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'drop' });
    const error = await harness.run('lost', { things }).catch((thrown: unknown) => thrown as OperatorError);
    expect(error).toMatchObject({ code: 'Transient', resource: 'urn:pulumi:lost::fake::fake:index:Thing::web' });
    await expectRecovered('lost');
  });

  test('and is then deleted: what the crash left is removed too', async () => {
    await interruptedCreate('then-deleted', () => process.kill(enginePid('then-deleted'), 'SIGKILL'));
    const result = await harness.run('then-deleted', undefined);
    expect(result.changes.delete).toBe(1);
    expect(harness.cloud.named('web', 'then-deleted')).toHaveLength(0);
    expect(await harness.engine.state('then-deleted')).toBeUndefined();
  });

  test('and whose state is lost altogether: a destroy still cleans up', async () => {
    await harness.run('forgotten', { things });
    const stranger = harness.newEngine({ store: new DirectoryStateStore(`${harness.directory}/elsewhere`) });
    const result = await stranger.run(harness.update('forgotten', undefined), harness.hooks('forgotten'));
    expect(result.changes.delete).toBe(2);
    expect(harness.cloud.discover('forgotten')).toEqual([]);
  });

  test('by the end of the operator: the engine goes with it', async () => {
    const other = harness.newEngine();
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const running = other
      .run(harness.update('closed', { things }), harness.hooks('closed'))
      .catch((thrown: unknown) => thrown as OperatorError);
    await harness.cloud.until(() => harness.cloud.named('web', 'closed').length === 1);
    const pid = enginePid('closed');
    const closing = other.close();
    harness.cloud.release();
    expect(await running).toMatchObject({ code: 'Canceled' });
    await closing;
    expect(isAlive(pid)).toBe(false);
    // The step in flight was finished and stored: nothing is found that was not known.
    expect(await harness.engine.compare('closed', harness.cloud.discover('closed'))).toEqual([]);
  });
});

describe('fencing', () => {
  test('a lost lease stops the writes to the cloud', async () => {
    let valid = true;
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const running = harness.engine
      .run(harness.update('fenced', { things }), harness.hooks('fenced', { isValid: () => valid }))
      .catch((thrown: unknown) => thrown as OperatorError);
    await harness.cloud.until(() => harness.cloud.named('web', 'fenced').length === 1);
    const pids = harness.engine.workerPids;
    valid = false;
    // The worker is ended while its first create waits for an answer: it may be one of an official plugin, which can't be told to stop.
    expect(await running).toMatchObject({ code: 'Canceled' });
    expect(pids.some(isAlive)).toBe(false);
    harness.cloud.release();
    expect(harness.cloud.named('db', 'fenced')).toHaveLength(0);
    expect(
      await harness.engine
        .run(harness.update('fenced', { things }), harness.hooks('fenced', { isValid: () => false }))
        .catch((e: unknown) => e),
    ).toMatchObject({
      code: 'Canceled',
    });
    await expectRecoveredAfterFence();
  });

  async function expectRecoveredAfterFence(): Promise<void> {
    const result = await harness.run('fenced', { things });
    expect(result.result).toBe('Updated');
    expect(harness.cloud.named('web', 'fenced')).toHaveLength(1);
    expect(harness.cloud.named('db', 'fenced')).toHaveLength(1);
  }

  test('a second writer of the state ends the update at its next step', async () => {
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const running = harness.run('raced', { things }).catch((thrown: unknown) => thrown as OperatorError);
    await harness.cloud.until(() => harness.cloud.named('web', 'raced').length === 1);
    const rival = harness.newEngine();
    expect(await rival.adoptFindings('raced', harness.cloud.discover('raced'))).toMatchObject([{ kind: 'Unknown' }]);
    harness.cloud.release();
    const error = await running;
    expect(error).toMatchObject({ code: 'Conflict' });
    expect(harness.cloud.named('db', 'raced')).toHaveLength(0);
    const result = await rival.run(harness.update('raced', { things }), harness.hooks('raced'));
    expect(result.epoch).toBe(2);
    expect(harness.cloud.named('web', 'raced')).toHaveLength(1);
    expect(harness.cloud.named('db', 'raced')).toHaveLength(1);
  });
});

describe('an update that waits for a worker', () => {
  /** One worker, which an update of `first` has whose create of `web` is not answered; then what waits for it. */
  async function behind(first: string, hooks: Partial<UpdateHooks>): Promise<{ engine: UpdateEngine; waiting: Promise<unknown> }> {
    const engine = harness.newEngine({ workers: 1 });
    harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
    const running = engine.run(harness.update(first, { things }), harness.hooks(first)).catch((thrown: unknown) => thrown);
    await harness.cloud.until(() => harness.cloud.named('web', first).length === 1 && harness.cloud.heldCount > 0);
    const waiting = engine.run(harness.update(`${first}-waits`, { things }), harness.hooks(`${first}-waits`, hooks));
    const settled = waiting.catch((thrown: unknown) => thrown);
    return { engine, waiting: running.then(() => settled) };
  }

  test('does not begin where the cloud was frozen meanwhile', async () => {
    let frozen = false;
    const started: string[] = [];
    const { waiting } = await behind('thawed', { isFrozen: () => frozen, onStart: () => void started.push('waits') });
    frozen = true;
    harness.cloud.release();
    expect(await waiting).toMatchObject({ code: 'Canceled', message: expect.stringContaining('frozen') as string });
    expect([harness.cloud.named('web', 'thawed-waits'), started]).toEqual([[], []]);
  });

  test('does not begin where the cloud was frozen, or the operator ended, while its credentials were asked for', async () => {
    let frozen = false;
    const settings = (): Promise<JsonObject> => {
      frozen = true;
      return Promise.resolve({ url: harness.cloud.url });
    };
    const { waiting } = await behind('asked', { isFrozen: () => frozen, settings });
    harness.cloud.release();
    expect(await waiting).toMatchObject({ code: 'Canceled', message: expect.stringContaining('frozen') as string });
    const { engine, waiting: last } = await behind('ending', {
      settings: () => {
        void engine.close();
        return Promise.resolve({ url: harness.cloud.url });
      },
    });
    harness.cloud.release();
    expect(await last).toMatchObject({ code: 'Canceled', message: 'updates are being shut down' });
    expect([...harness.cloud.named('web', 'asked-waits'), ...harness.cloud.named('web', 'ending-waits')]).toEqual([]);
  });
});

test('an update that was refused before its worker was ready does not stop what that worker runs next', async () => {
  const engine = harness.newEngine({ workers: 1 });
  let frozen = false;
  let pid: number | undefined;
  // Its worker was just begun, and has said nothing yet.
  const onStart = (): void => {
    [pid] = engine.workerPids;
    process.kill(pid!, 'SIGSTOP');
    frozen = true;
  };
  const refused = engine.run(harness.update('refused', { things }), harness.hooks('refused', { isFrozen: () => frozen, onStart }));
  await expect(refused).rejects.toMatchObject({ code: 'Canceled', message: expect.stringContaining('frozen') as string });
  process.kill(pid!, 'SIGCONT');
  harness.cloud.fault({ method: 'POST', name: 'web', kind: 'hold' });
  const next = engine.run(harness.update('next-one', { things }), harness.hooks('next-one'));
  await harness.cloud.until(() => harness.cloud.heldCount > 0);
  const heldAt = performance.now();
  // Longer than a heartbeat.
  await harness.until(() => performance.now() - heldAt > 1_200);
  harness.cloud.release();
  expect(await next).toMatchObject({ result: 'Updated' });
  expect(engine.workerPids).toEqual([pid]);
});

test('what is answered late to one update is no answer to the next one of the same worker', async () => {
  const engine = harness.newEngine({ workers: 1 });
  const answers: (() => void)[] = [];
  const syncTargets = (): Promise<void> => new Promise((resolve) => answers.push(resolve));
  const run = (stack: string): Promise<unknown> =>
    engine.run(harness.update(stack, { group: stack }), harness.hooks(stack, { syncTargets })).catch((thrown: unknown) => thrown);
  const late = { code: 'Transient', message: expect.stringContaining('were not registered within') as string };
  expect(await run('late')).toMatchObject(late);
  const [pid] = engine.workerPids;
  const next = run('next');
  await harness.until(() => answers.length === 2);
  answers[0]?.();
  expect(await next).toMatchObject(late);
  expect(engine.workerPids).toEqual([pid]);
});

describe('drift', () => {
  test('is seen property by property and healed by a forced update', async () => {
    await harness.run('drift', { things });
    const [web] = harness.cloud.named('web', 'drift');
    const [db] = harness.cloud.named('db', 'drift');
    if (web === undefined || db === undefined) throw new Error('not created');
    web.properties.size = 99;
    harness.cloud.things.delete(db.id);
    const found = harness.cloud.discover('drift');
    const calls = harness.cloud.calls.length;
    const drift = await harness.engine.compare('drift', found);
    expect(drift).toEqual([
      {
        urn: 'urn:pulumi:drift::fake::fake:index:Thing::web',
        kind: 'Changed',
        property: 'size',
        old: '1',
        new: '99',
        detail: 'wanted 1, found 99',
      },
      { urn: 'urn:pulumi:drift::fake::fake:index:Thing::db', kind: 'Missing', detail: `fake:index:Thing ${db.id} is gone` },
    ]);
    expect(harness.cloud.calls.length).toBe(calls);
    expect(await harness.engine.adoptFindings('drift', found)).toEqual(drift);
    const result = await harness.run('drift', { things });
    expect(result.changes).toEqual({ create: 1, update: 1, replace: 0, delete: 0, same: 0 });
    expect(harness.cloud.named('web', 'drift')[0]?.properties.size).toBe(1);
    expect(await harness.engine.compare('drift', harness.cloud.discover('drift'))).toEqual([]);
  });

  test('is not looked for in what the cloud had before an update that ended meanwhile, or runs', async () => {
    const { engine, cloud } = harness;
    await harness.run('late', { things: [{ name: 'web', size: 1 }] });
    const since = engine.moment();
    const found = cloud.discover('late');
    await harness.run('late', { things });
    const before = await engine.state('late');
    expect(await engine.compare('late', found, since)).toBeUndefined();
    expect(await engine.adoptFindings('late', found, since)).toBeUndefined();
    expect(await engine.state('late')).toEqual(before);

    cloud.fault({ method: 'PATCH', name: 'web', kind: 'hold' });
    const running = harness.run('late', { things: [{ name: 'web', size: 3 }] });
    await cloud.until(() => cloud.heldCount > 0);
    expect(await engine.adoptFindings('late', cloud.discover('late'), engine.moment())).toBeUndefined();
    cloud.release();
    await running;
    await harness.run('late', { things: [{ name: 'web', size: 3 }] }); // nothing to do: what was found before it holds
    expect(await engine.adoptFindings('late', cloud.discover('late'), engine.moment())).toEqual([]);
  });

  test('what its members were brought to can be amended while nothing of it runs', async () => {
    const { engine, cloud } = harness;
    const wanted = harness.update('amended', { things }, { accepted: { u: { name: 'web' } } });
    await engine.run(wanted, harness.hooks('amended'));
    const before = await engine.state('amended');
    await engine.amend('amended', (accepted) => ({ ...accepted, u: { name: 'web', until: 'then' } }));
    const after = await engine.state('amended');
    expect(after?.accepted).toEqual({ u: { name: 'web', until: 'then' } });
    expect([after?.inputsHash, after?.resources]).toEqual([before?.inputsHash, before?.resources]);
    await engine.amend('amended', (accepted) => accepted);
    await engine.amend('nobody', () => ({ u: {} }));
    expect(await engine.state('amended')).toEqual(after);
    expect(await engine.state('nobody')).toBeUndefined();

    cloud.fault({ method: 'PATCH', name: 'web', kind: 'hold' });
    const running = harness.run('amended', { things: [{ name: 'web', size: 3 }] });
    await cloud.until(() => cloud.heldCount > 0);
    await expect(engine.amend('amended', () => ({}))).rejects.toMatchObject({ code: 'Conflict' });
    cloud.release();
    await running;
  });

  test('a twin left by a crash is deleted by the next update', async () => {
    await harness.run('twin', { things });
    const [web] = harness.cloud.named('web', 'twin');
    harness.cloud.things.set('thing-twin', { id: 'thing-twin', name: 'web', stack: 'twin', properties: { size: 1 } });
    await harness.engine.adoptFindings('twin', harness.cloud.discover('twin'));
    await harness.run('twin', { things });
    expect(harness.cloud.named('web', 'twin').map((thing) => thing.id)).toEqual([web?.id]);
  });
});
