import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UpdatesHarness } from '../updates/harness';

const harness = new UpdatesHarness();
beforeAll(() => harness.start({ workers: 1 }));
afterAll(() => harness.stop());

const web = { name: 'web', size: 1, zone: 'a' };
const urn = (stack: string, name: string): string => `urn:pulumi:${stack}::fake::fake:index:Thing::${name}`;

function preview(...[stack, inputs, more]: Parameters<UpdatesHarness['update']>): ReturnType<UpdatesHarness['engine']['preview']> {
  return harness.engine.preview(harness.update(stack, inputs, more), harness.hooks(stack));
}

/** Everything that is stored of stacks, as it is on disk. */
function stored(): Record<string, string> {
  const folder = join(harness.directory, 'stacks');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'hex')]));
}

describe('a preview', () => {
  test('of a new stack says what is made, and makes nothing', async () => {
    const plan = await preview('new', { things: [web] });
    expect(plan.counts).toEqual({ create: 1, update: 0, replace: 0, delete: 0, same: 0 });
    expect(plan.operations).toEqual([
      {
        op: 'create',
        type: 'fake:index:Thing',
        name: 'web',
        urn: urn('new', 'web'),
        properties: [
          { path: 'size', new: '1' },
          { path: 'zone', new: '"a"' },
        ],
      },
    ]);
    expect(harness.cloud.calls).toEqual([]);
    expect(await harness.engine.state('new')).toBeUndefined();
  });

  test('of a change says old and new values, and changes nothing', async () => {
    const things = [web, { name: 'db', size: 2 }, { name: 'old', size: 3 }, { name: 'kept', size: 4 }];
    await harness.run('change', { things });
    const before = { calls: harness.cloud.calls.length, stored: stored() };
    const wanted = { things: [{ ...web, zone: 'b' }, { name: 'db', size: 7 }, things[3] ?? web] };
    const plan = await preview('change', wanted);
    expect(plan.counts).toEqual({ create: 0, update: 1, replace: 1, delete: 1, same: 1 });
    const told = Object.fromEntries(plan.operations.map(({ name, op, properties }) => [name, { op, properties }]));
    expect(told).toEqual({
      web: { op: 'replace', properties: [{ path: 'zone', old: '"a"', new: '"b"' }] },
      db: { op: 'update', properties: [{ path: 'size', old: '2', new: '7' }] },
      old: { op: 'delete', properties: undefined },
    });
    expect({ calls: harness.cloud.calls.length, stored: stored() }).toEqual(before);
    expect((await preview('change', wanted)).hash).toBe(plan.hash);
    expect((await preview('change', { things: [...wanted.things, { name: 'more', size: 1 }] })).hash).not.toBe(plan.hash);
  });

  test('shows no secret, but that it changes', async () => {
    await harness.run('secret', { things: [{ ...web, password: 'hunter-one' }] });
    const plan = await preview('secret', { things: [{ ...web, password: 'hunter-two' }] });
    expect(plan.operations[0]?.properties).toEqual([{ path: 'password', old: '[secret]', new: '[secret]' }]);
    expect(JSON.stringify(plan)).not.toContain('hunter');
  });

  test('of a stack that was left open takes what the cloud has, and stores nothing', async () => {
    await harness.run('open', { things: [web] });
    harness.cloud.fault({ method: 'POST', name: 'db', kind: 'drop' });
    const wanted = { things: [web, { name: 'db', size: 1 }, { name: 'more', size: 1, on: 'db' }] };
    await expect(harness.run('open', wanted)).rejects.toThrow();
    expect(await harness.engine.state('open')).toMatchObject({ open: true });
    const before = stored();
    const plan = await preview('open', wanted);
    expect(plan.operations.map(({ op, name }) => `${op} ${name}`)).toEqual(['create more']);
    expect(stored()).toEqual(before);
  });

  test('fails as the update would', async () => {
    await expect(preview('invalid', { things: [{ name: 'web', size: 5000 }] })).rejects.toMatchObject({ code: 'Invalid' });
  });
});

describe('an approved plan', () => {
  test('is carried out', async () => {
    await harness.run('approved', { things: [web, { name: 'gone', size: 1 }] });
    const wanted = {
      things: [
        { ...web, zone: 'b' },
        { name: 'db', size: 2, on: 'web', password: 'hunter' },
      ],
    };
    const { hash, counts } = await preview('approved', wanted);
    const result = await harness.run('approved', wanted, { approved: hash });
    expect(result.changes).toEqual(counts);
    expect(harness.cloud.named('web', 'approved')[0]?.properties.zone).toBe('b');
  });

  test('is carried out once: what somebody sets back in the cloud is another plan, though it reads the same', async () => {
    await harness.run('once', { things: [web] });
    const wanted = { things: [{ ...web, size: 5 }] };
    const first = await preview('once', wanted);
    await harness.run('once', wanted, { approved: first.hash });
    harness.cloud.named('web', 'once')[0]!.properties.size = web.size;
    await harness.engine.adoptFindings('once', harness.cloud.discover('once'));
    const again = await preview('once', wanted, { force: true });
    expect(again.operations).toEqual(first.operations);
    expect(again.hash).not.toBe(first.hash);
  });

  test('is not carried out once it has become another', async () => {
    await harness.run('outdated', { things: [web] });
    const wanted = { things: [{ ...web, size: 5 }] };
    const { hash } = await preview('outdated', wanted);
    await harness.run('outdated', { things: [{ ...web, size: 3 }] });
    const calls = harness.cloud.calls.length;
    await expect(harness.run('outdated', wanted, { approved: hash })).rejects.toMatchObject({ code: 'Conflict', reason: 'PlanOutdated' });
    expect(harness.cloud.calls.length).toBe(calls);
    expect(await harness.run('outdated', wanted, { approved: (await preview('outdated', wanted)).hash })).toMatchObject({
      result: 'Updated',
    });
  });

  test('of which the cloud makes something else is stopped there, and goes on with the approval of a new plan alone', async () => {
    await harness.run('departed', { things: [web] });
    const wanted = { things: [{ ...web, size: 5 }] };
    const { hash } = await preview('departed', wanted);
    // The stack gives its address, which a preview takes for one that stays.
    harness.cloud.named('web', 'departed')[0]!.properties.address = '10.9.9.9';
    await expect(harness.run('departed', wanted, { approved: hash })).rejects.toMatchObject({
      ...{ code: 'Conflict', reason: 'PlanOutdated' },
      message: expect.stringContaining('what the stack gives became something else than the plan that was approved') as string,
    });
    const left = await harness.engine.state('departed');
    expect([left?.open, left?.underway]).toEqual([true, undefined]);
    const next = await preview('departed', wanted);
    expect(next.hash).not.toBe(hash);
    expect(await harness.run('departed', wanted, { approved: next.hash })).toMatchObject({
      result: 'Updated',
      outputs: { web: '10.9.9.9' },
    });
  });
});
