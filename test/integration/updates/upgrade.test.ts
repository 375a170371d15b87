import type { FakeInputs } from './fake-provider';
import { UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start());
afterAll(() => harness.stop());

const accepted = { uid: { listeners: 1 } };
const two: FakeInputs = {
  things: [
    { name: 'pool', size: 1 },
    { name: 'web', size: 2, on: 'pool', password: 'swordfish' },
  ],
};

/** A restarted operator, whose program has this version. */
async function upgraded(stack: string, inputs: FakeInputs, programVersion: string) {
  const engine = harness.newEngine();
  harness.events.length = 0;
  harness.cloud.calls.length = 0;
  let started = 0;
  const hooks = harness.hooks(stack, { onStart: () => void started++ });
  const result = await engine.run(harness.update(stack, inputs, { accepted, programVersion }), hooks);
  const engines = harness.events.filter(({ event }) => event.type === 'started').length;
  return {
    result: result.result,
    started,
    engines,
    workers: engine.workerPids.length,
    version: (await engine.state(stack))?.programVersion,
  };
}

test('a newer program that makes of a stack what it is already updates nothing, and is not asked again', async () => {
  const before = await harness.run('same', two, { accepted });
  expect(await upgraded('same', two, '2')).toEqual({ result: 'Unchanged', started: 0, engines: 0, workers: 1, version: '2' });
  expect(harness.cloud.calls).toEqual([]);
  expect(await upgraded('same', two, '2')).toEqual({ result: 'Unchanged', started: 0, engines: 0, workers: 0, version: '2' });
  expect(await harness.engine.state('same')).toMatchObject({ outputs: before.outputs, resources: before.resources, open: false });
});

test('a newer program that makes of a stack what it is already is known to change nothing without an engine', async () => {
  await harness.run('foreseen', two, { accepted });
  const engine = harness.newEngine();
  harness.events.length = 0;
  const plan = await engine.preview(harness.update('foreseen', two, { accepted, programVersion: '2' }), harness.hooks('foreseen'));
  expect(plan).toMatchObject({ operations: [], counts: { create: 0, update: 0, replace: 0, delete: 0, same: 2 } });
  expect(harness.events.filter(({ event }) => event.type === 'started')).toEqual([]);
  expect(await engine.state('foreseen')).toMatchObject({ programVersion: '1', inputs: two });
});

test('a newer program that makes something else of it updates it', async () => {
  await harness.run('other', two, { accepted });
  const wider: FakeInputs = { things: (two.things ?? []).map((thing) => ({ ...thing, size: thing.size + 1 })) };
  expect(await upgraded('other', wider, '2')).toMatchObject({ result: 'Updated', started: 1, engines: 1, version: '2' });
  expect(harness.cloud.named('web', 'other')[0]?.properties.size).toBe(3);
});

test('going back to the older version touches nothing', async () => {
  await harness.run('back', two, { accepted, programVersion: '2' });
  harness.cloud.calls.length = 0;
  await expect(upgraded('back', two, '1')).rejects.toMatchObject({ code: 'Invalid', reason: 'NewerVersion' });
  expect(harness.cloud.calls).toEqual([]);
});
