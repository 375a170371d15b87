import { UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start());
afterAll(() => harness.stop());

describe('a stack through the engine', () => {
  const web = { name: 'web', size: 1 };

  test('is created, updated, left alone and destroyed', async () => {
    const created = await harness.run('life', { things: [web, { name: 'db', size: 2, on: 'web' }] });
    expect(created.result).toBe('Updated');
    expect(created.changes).toEqual({ create: 2, update: 0, replace: 0, delete: 0, same: 0 });
    expect(created.cloudCalls).toBe(2);
    expect(created.outputs.web).toBe(harness.cloud.named('web')[0]?.properties.address);
    expect(created.resources.map((resource) => resource.name).sort()).toEqual(['db', 'web']);

    const changed = await harness.run('life', {
      things: [
        { ...web, size: 5 },
        { name: 'db', size: 2, on: 'web' },
      ],
    });
    expect(changed.changes).toEqual({ create: 0, update: 1, replace: 0, delete: 0, same: 1 });
    expect(harness.cloud.named('web')[0]?.properties.size).toBe(5);
    expect(changed.incarnation).toBe(created.incarnation);

    const calls = harness.cloud.calls.length;
    const events = harness.events.length;
    const same = await harness.run('life', {
      things: [
        { ...web, size: 5 },
        { name: 'db', size: 2, on: 'web' },
      ],
    });
    expect(same.result).toBe('Unchanged');
    expect(same.outputs).toEqual(changed.outputs);
    expect(harness.cloud.calls.length).toBe(calls);
    expect(harness.events.length).toBe(events);

    const destroyed = await harness.run('life', undefined);
    expect(destroyed.result).toBe('Destroyed');
    expect(destroyed.changes.delete).toBe(2);
    expect(harness.cloud.things.size).toBe(0);
    expect(await harness.engine.state('life')).toBeUndefined();
  });
});
