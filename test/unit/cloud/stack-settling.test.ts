import type { GenerationalInput } from '../../../operator/cloud/plan/generation';
import { Retirements } from '../../../operator/cloud/plan/retirements';
import type { Member } from '../../../operator/cloud/stack/stack-kind';
import type { UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import { StackSettling, type StackSettlingOptions } from '../../../operator/cloud/stack/stack-settling';
import type { JsonObject } from '../../../operator/base/json';
import { OperatorError } from '../../../operator/base/errors';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const LATER = '2026-01-01T00:05:00.000Z';
const old: GenerationalInput = { uid: 'u', name: 'web' };
const replaced: GenerationalInput = { ...old, generation: 1, retiring: { input: old } };
const moved: GenerationalInput = { ...old, generation: 1, movedFrom: { stack: 'former' } };

interface Scene {
  accepted: GenerationalInput;
  candidate?: GenerationalInput;
  /** The status of the object can't be written. */
  unwritten?: boolean;
  /** The lease is somebody else's by now. */
  lost?: boolean;
  /** Another stack has a newer generation of it. */
  elsewhere?: boolean;
  /** A lever keeps its targets as they are. */
  targets?: 'Kept';
}

/** What was done after an update, in its order, and what is stored then. */
async function settled({ accepted, candidate = accepted, unwritten = false, lost = false, elsewhere = false, targets }: Scene) {
  const done: string[] = [];
  let stored = { u: accepted } as unknown as JsonObject;
  const object = { kind: 'CloudLoadBalancer', metadata: { uid: 'u', name: 'web' }, spec: { provider: 'p' } } as unknown as Member;
  const settling = new StackSettling<Member>({
    kind: {
      settle: () => Promise.resolve({ fields: {}, verdict: { state: 'Ready', message: '' } }),
      keep: () => Promise.resolve(void done.push('targets')),
    },
    reports: {
      know: () => undefined,
      arrived: () => undefined,
      isElsewhere: () => elsewhere,
      report: () => {
        done.push('status');
        return unwritten ? Promise.reject(new OperatorError('Transient', 'the API server is away')) : Promise.resolve();
      },
    },
    holds: { clear: () => undefined },
    record: { drift: () => [] },
    index: { formersOf: () => [], tell: () => [] },
    again: (stack: string, afterMs: number) => done.push(`${stack} again in ${afterMs}`),
    retirements: new Retirements({ now: () => NOW, monotonic: () => 0 }),
    updates: {
      amend: (_stack: string, change: (has: JsonObject) => JsonObject) => {
        const next = change(stored);
        if (next !== stored) done.push('dated');
        stored = next;
        return Promise.resolve();
      },
    },
    isValid: () => !lost,
  } as unknown as StackSettlingOptions<Member>);
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [], conflicts: false };
  const plan: UpdatePlan<Member> = {
    kind: 'Update',
    engine: true,
    ...none,
    parts: [{ object, candidate, accepted, ...(targets && { targets }) }],
  };
  const settlement = { stack: 'new', cloud: { spec: { retireAfter: '5m' } }, result: {} } as never;
  await settling.settle(plan, { failed: [], result: undefined }, settlement).catch(() => undefined);
  return { done, stored: stored.u };
}

describe('the time of the old generation', () => {
  test('begins once the status has the new one’s address, and is stored', async () => {
    expect(await settled({ accepted: replaced })).toEqual({
      done: ['status', 'dated', 'new again in 300000'],
      stored: { ...replaced, retiring: { input: old, until: LATER } },
    });
  });

  test('of a move: the stack that has it is told when it is stored', async () => {
    expect(await settled({ accepted: moved })).toEqual({
      done: ['status', 'dated', 'former again in 0'],
      stored: { ...moved, movedFrom: { stack: 'former', until: LATER } },
    });
  });

  test.each<[string, Scene, string[]]>([
    ['while the status can’t be written', { accepted: replaced, unwritten: true }, ['status', 'new again in 300000']],
    ['once the lease is lost', { accepted: replaced, lost: true }, ['status', 'new again in 300000']],
    ['while the replacement has not succeeded', { accepted: old, candidate: replaced }, ['status', 'new again in 300000']],
  ])('does not begin %s', async (_when, scene, done) => {
    expect(await settled(scene)).toEqual({ done, stored: scene.accepted });
  });

  test('is what it was in all passes after that', async () => {
    const dated = { ...replaced, retiring: { input: old, until: LATER } };
    expect(await settled({ accepted: dated })).toEqual({ done: ['status', 'new again in 300000'], stored: dated });
  });
});

test('targets of what another stack has a newer generation of are kept, too, unless a lever holds them', async () => {
  expect((await settled({ accepted: old, elsewhere: true })).done).toEqual(['targets']);
  expect((await settled({ accepted: old, elsewhere: true, targets: 'Kept' })).done).toEqual([]);
});
