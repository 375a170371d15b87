import { canonicalJson } from '../../../operator/base/json';
import type { Deployment } from '../../../operator/updates/checkpoint';
import { DirectoryStateStore } from '../../../operator/updates/state/directory-state-store';
import type { UpdateEngine } from '../../../operator/updates/engine';
import type { FakeInputs } from './fake-provider';
import { UpdatesHarness } from './harness';

const harness = new UpdatesHarness();
let journaled: UpdateEngine;
let whole: UpdateEngine;

beforeAll(async () => {
  await harness.start();
  journaled = harness.newEngine({ journalAbove: 0, workers: 1 });
  whole = harness.newEngine({ journalAbove: 1_000_000, workers: 1 });
});
afterAll(() => harness.stop());

type Things = NonNullable<FakeInputs['things']>;

const many = (count: number): Things => Array.from({ length: count }, (_, at) => ({ name: `t${at}`, size: 1 }));

async function checkpointOf(stack: string): Promise<Deployment | null> {
  return (await new DirectoryStateStore(harness.directory).read(stack))?.record.checkpoint ?? null;
}

/** Without what differs from run to run: the stack's name, times, addresses, ids, ciphertexts; and the order, which depends on how fast each create was. */
function essence(checkpoint: Deployment | null, stack: string): unknown {
  const { resources = [], pending_operations = [], metadata, secrets_providers } = checkpoint?.deployment ?? {};
  const ids = resources.flatMap(({ id, urn }) => (id === undefined ? [] : [[id, urn] as const]));
  const names = ids.sort(([a], [b]) => b.length - a.length); // thing-1 is the beginning of thing-10
  const general = (text: string): string => {
    const named = names.reduce((rest, [id, urn]) => rest.replaceAll(id, `the id of ${urn}`), text);
    return named
      .replaceAll(`:${stack}::`, ':STACK::')
      .replaceAll(`fake-${stack}`, 'fake-STACK')
      .replace(/10\.0\.0\.\d+/g, 'ADDRESS');
  };
  const reviver = (key: string, value: unknown): unknown => {
    if (key === 'created' || key === 'modified' || key === 'ciphertext') return 'some';
    return typeof value === 'string' ? general(value) : value;
  };
  const sorted = (list: unknown[]): string[] => list.map((item) => canonicalJson(JSON.parse(JSON.stringify(item), reviver))).sort();
  const { version, features } = checkpoint ?? {};
  return {
    version,
    features,
    metadata,
    secrets: secrets_providers?.type,
    resources: sorted(resources),
    pending: sorted(pending_operations),
  };
}

describe('a checkpoint that is folded from the journal is the one that the engine would have stored', () => {
  const base: Things = [
    { name: 'pool', size: 1, password: 'swordfish' },
    { name: 'web', size: 1, on: 'pool' },
    { name: 'tail', size: 1, on: 'web' },
    { name: 'other', size: 1 },
  ];
  const bigger = base.map((thing) => ({ ...thing, size: 2 }));
  // Nothing else is under way when it is refused: what the engine still does then differs from run to run.
  const more = [...bigger, { name: 'new', size: 1 }, { name: 'refused', size: 1, on: 'new' }];
  const moved = bigger.map((thing) => (thing.name === 'pool' ? { ...thing, zone: 'b' } : thing));

  /** One after another on the same two stacks. */
  const steps: { what: string; things: Things | undefined; refused?: string }[] = [
    { what: 'creates', things: base },
    { what: 'nothing to do', things: base },
    { what: 'changes', things: bigger },
    { what: 'a create that is refused after another one', things: more, refused: 'POST refused' },
    { what: 'the same again, with success', things: more },
    { what: 'a replacement, with those that depend on it', things: moved },
    { what: 'a replacement whose deletion is refused', things: bigger, refused: 'DELETE pool' },
    { what: 'the deletion of what was left', things: bigger },
    { what: 'deletions', things: bigger.slice(0, 1) },
    { what: 'a destroy that stops half way', things: undefined, refused: 'DELETE pool' },
  ];

  test.each(steps)('$what', async ({ things, refused }) => {
    const results: unknown[] = [];
    for (const [stack, engine] of [
      ['journal', journaled],
      ['whole', whole],
    ] as const) {
      const [method = '', name = ''] = refused?.split(' ') ?? [];
      if (refused !== undefined) harness.cloud.fault({ method, name, kind: 'refuse', body: { code: 'Invalid', message: 'no' } });
      const update = harness.update(stack, things === undefined ? undefined : { things }, { force: true });
      // Without a look at the cloud, so that what is compared is the engine's own state.
      const result = await engine.run(update, { isValid: () => true }).then(
        ({ changes }) => changes,
        (error: { code: string }) => error.code,
      );
      results.push([result, essence(await checkpointOf(stack), stack)]);
    }
    expect(results[0]).toEqual(results[1]);
    expect((results[0] as unknown[])[0]).toEqual(refused === undefined ? expect.any(Object) : 'Invalid');
  });
});

test('a large stack is journaled by itself, with a fraction of the writes; a small one is not', async () => {
  const count = 60;
  const engine = harness.newEngine({ workers: 1 });
  await engine.run(harness.update('large', { things: many(count) }), harness.hooks('large'));
  const large = await engine.state('large');
  expect(large).toMatchObject({ resourceCount: count, open: false });
  expect(large?.revision).toBeLessThan(count);
  await engine.run(harness.update('small', { things: many(10) }), harness.hooks('small'));
  const small = await engine.state('small');
  expect(small?.revision).toBeGreaterThan(2 * 10);
  expect(small?.revision).toBeLessThanOrEqual(2 * 10 + 7);
});

describe('a journaled update whose worker is killed', () => {
  const things = [...many(60), ...many(20).map(({ name, size }) => ({ name: `on-${name}`, size, on: name }))];

  test.each([1, 45, 70])('after %i creates: everything is found again, nothing is made twice', async (after) => {
    const stack = `killed-${after}`;
    const creates = (): number => harness.cloud.discover(stack).length;
    harness.cloud.fault({ method: 'POST', name: `t${after % 60}`, kind: 'hold' });
    const running = journaled.run(harness.update(stack, { things }), harness.hooks(stack)).catch((thrown: unknown) => thrown);
    await harness.cloud.until(() => creates() >= after && harness.cloud.heldCount > 0);
    for (const pid of journaled.workerPids) process.kill(pid, 'SIGKILL');
    expect(await running).toMatchObject({ code: 'Transient' });
    harness.cloud.release();
    const left = await checkpointOf(stack);
    const known = new Set((left?.deployment?.resources ?? []).map(({ id }) => id));
    const pending = new Set((left?.deployment?.pending_operations ?? []).map(({ resource }) => resource.urn.split('::').at(-1)));
    // What the cloud has is in the state, or its creation is noted there.
    expect(harness.cloud.discover(stack).filter(({ id, name }) => !known.has(id) && !pending.has(name))).toEqual([]);
    expect(await journaled.state(stack)).toMatchObject({ open: true });

    await journaled.run(harness.update(stack, { things }), harness.hooks(stack));
    expect(
      harness.cloud
        .discover(stack)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(things.map(({ name }) => name).sort());
    expect(await journaled.state(stack)).toMatchObject({ open: false, resourceCount: things.length });
    expect((await checkpointOf(stack))?.deployment?.pending_operations ?? []).toEqual([]);
    expect(await journaled.compare(stack, harness.cloud.discover(stack))).toEqual([]);
  });
});
