import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import type { Member } from '../../../operator/cloud/stack/stack-kind';
import { StackMoves } from '../../../operator/cloud/stack/stack-moves';
import type { RegisteredCloud } from '../../../operator/cloud/providers/registry';
import { Retirements } from '../../../operator/cloud/plan/retirements';
import type { GenerationalInput } from '../../../operator/cloud/plan/generation';
import type { Store } from '../../../operator/kube/api';
import type { StackState } from '../../../operator/updates/update';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const PAST = '2025-12-31T23:59:00Z';
const LATER = '2026-01-01T00:05:00Z';

type Accepted = Omit<GenerationalInput, 'uid' | 'name'>;
interface Scene {
  /** The CloudProvider that the object asks for. */
  frozen?: boolean;
  /** The CloudProvider of the stack `old` is only observed. */
  observed?: boolean;
  /** The CloudProvider of the stack `old` says that what is deleted stays. */
  orphans?: boolean;
  /** Which of the two CloudProviders has the annotation `pause`. */
  paused?: 'p' | 'p-old';
  /** The pass makes the object; default: where it asks for the stack. */
  passing?: boolean;
  /** What each stack has of the member; null = state that does not say. */
  states: Record<string, Accepted | 'nothing' | 'unknown' | 'never made'>;
  metadata?: { deletionTimestamp?: string; annotations?: Record<string, string> };
}

/** One object that has gone from `old` to `new`, seen from either. */
async function seenFrom(
  stack: 'old' | 'new',
  { states, metadata = {}, frozen = false, observed = false, orphans = false, paused, passing = stack === 'new' }: Scene,
) {
  const object = { metadata: { uid: 'u', name: 'web', ...metadata }, spec: { provider: 'p' } } as unknown as Member;
  const index = new StackIndex();
  index.assign('web', 'old');
  index.assign('web', 'new');
  const again: string[] = [];
  const state = (name: string): StackState | undefined => {
    const has = states[name];
    if (has === undefined) return undefined;
    if (has === 'never made') return { neverMade: true } as StackState;
    return (has === 'unknown'
      ? {}
      : { accepted: has === 'nothing' ? {} : { u: { uid: 'u', name: 'web', ...has } } }) as unknown as StackState;
  };
  const moves = new StackMoves<Member>({
    index,
    store: { get: () => object, list: () => [object] } as unknown as Store<Member>,
    updates: { state: (name) => Promise.resolve(state(name)) },
    registry: {
      get: () => ({ cloud: {}, spec: { freeze: frozen, retireAfter: '5m' } }) as unknown as RegisteredCloud,
      isFrozen: () => frozen,
      observes: (provider) => observed && provider === 'p-old',
      pauseOf: (provider) => (provider === paused ? 'All' : undefined),
      deletionPolicyOf: (provider) => (orphans && provider === 'p-old' ? 'Orphan' : undefined),
    },
    record: { providerOf: (name) => (name === 'old' ? 'p-old' : 'p') },
    again: (name, afterMs) => again.push(`${name} ${afterMs}`),
    retirements: new Retirements({ now: () => NOW, monotonic: () => 0 }),
  });
  const found = await moves.gather(stack, passing ? [object] : [], state(stack));
  return {
    origin: found.origins.get('u')?.stack,
    elsewhere: [...found.elsewhere],
    departing: [...found.departing],
    abandoned: found.abandoned,
    again,
    formers: index.formersOf('web'),
  };
}

const nothing = { origin: undefined, elsewhere: [], departing: [], abandoned: false, again: [], formers: ['old'] };
const moved = (until: string): Accepted => ({ generation: 1, movedFrom: { stack: 'old', until } });
/** What a replacement made of it there. */
const replaced: Accepted = { generation: 1, retiring: { input: { uid: 'u', name: 'web' }, until: PAST } };
const promised: Accepted = { ...moved(PAST), promised: true };

describe('the stack that it asks for', () => {
  test.each<[string, Scene, Partial<typeof nothing> | object]>([
    ['has not taken it over', { states: { old: {} } }, { origin: 'old' }],
    ['has tried in vain', { states: { old: {}, new: 'nothing' } }, { origin: 'old' }],
    ['has taken it over', { states: { old: {}, new: moved(LATER) } }, {}],
    [
      'has an older one of it: it went and comes back at once',
      { states: { old: moved(LATER), new: {} } },
      { origin: 'old', again: ['new 300000'] },
    ],
    ['has taken it over, while the other one replaced it', { states: { old: replaced, new: moved(LATER) } }, {}],
    [
      'has replaced it, while the other one took it over, and it comes back',
      { states: { old: { generation: 1, movedFrom: { stack: 'new', until: PAST } }, new: replaced } },
      { origin: 'old' },
    ],
    [
      'has taken it over from there, as that had from here before',
      { states: { old: { generation: 1, movedFrom: { stack: 'new', until: PAST } }, new: moved(PAST) } },
      {},
    ],
    ['has promised to make it, and has the other give it up', { states: { old: {}, new: promised } }, { origin: 'old', again: ['old 0'] }],
    ['has promised to make it, and the other has given it up', { states: { old: 'nothing', new: promised } }, {}],
    ['has it, where the other one’s promise was taken back', { states: { old: promised, new: {} } }, {}],
    ['is the only one that ever had it', { states: { old: 'nothing' } }, {}],
    ['can’t know what an older state has', { states: { old: 'unknown' } }, {}],
  ])('%s', async (_, scene, expected) => {
    expect(await seenFrom('new', scene)).toEqual({ ...nothing, ...expected });
  });
});

describe('the stack that it was in', () => {
  const kept = { elsewhere: ['u'] };
  test.each<[string, Scene, object]>([
    ['keeps it until the other has it', { states: { old: {} } }, kept],
    ['keeps it while the other fails', { states: { old: {}, new: 'nothing' } }, kept],
    ['keeps it for a while after that', { states: { old: {}, new: moved(LATER) } }, { ...kept, again: ['old 300000'] }],
    ['then lets it go', { states: { old: {}, new: moved(PAST) } }, { departing: ['u'] }],
    [
      'keeps it for a while where it replaced it meanwhile',
      { states: { old: replaced, new: moved(LATER) } },
      { ...kept, again: ['old 300000'] },
    ],
    ['then lets that go too', { states: { old: replaced, new: moved(PAST) } }, { departing: ['u'] }],
    [
      'lets it go where a third one had it, and both took it over from that',
      {
        states: {
          old: { generation: 1, movedFrom: { stack: 'third', until: PAST } },
          new: { generation: 1, movedFrom: { stack: 'third', until: PAST } },
        },
      },
      { departing: ['u'] },
    ],
    [
      'lets it go where both made it at the same time, and neither from the other’s',
      { states: { old: {}, new: {} } },
      { departing: ['u'] },
    ],
    ['gives it up at once for a promise', { states: { old: {}, new: promised } }, { departing: ['u'] }],
    ['keeps it while what was promised could not be made', { states: { old: {}, new: promised }, frozen: true }, kept],
    ['drops a promise that was taken back', { states: { old: promised, new: {} } }, { departing: ['u'] }],
    [
      'drops it also while the object is paused: nothing was made',
      { states: { old: promised }, metadata: { annotations: { 'cloud-operator.dev/pause': '' } } },
      { departing: ['u'] },
    ],
    ['keeps it where it is the newer one', { states: { old: moved(PAST), new: {} } }, kept],
    ['lets it go with its deletion', { states: { old: {} }, metadata: { deletionTimestamp: PAST } }, { departing: ['u'] }],
    [
      'keeps it while it is paused',
      { states: { old: {}, new: moved(PAST) }, metadata: { annotations: { 'cloud-operator.dev/pause': '' } } },
      kept,
    ],
    ['keeps it while its own CloudProvider is only observed', { states: { old: {}, new: moved(PAST) }, observed: true }, kept],
    ['keeps it while its own CloudProvider is paused', { states: { old: {}, new: moved(PAST) }, paused: 'p-old' }, kept],
    [
      'keeps it then also when it is deleted, which waits',
      { states: { old: {} }, metadata: { deletionTimestamp: PAST }, paused: 'p-old' },
      kept,
    ],
    [
      'lets it go while the other one’s CloudProvider is paused',
      { states: { old: {}, new: moved(PAST) }, paused: 'p' },
      { departing: ['u'] },
    ],
    ['keeps it while what was promised is not made because of a pause', { states: { old: {}, new: promised }, paused: 'p' }, kept],
    ['also what was promised and taken back there', { states: { old: promised, new: {} }, observed: true }, kept],
    [
      'keeps it then also when it is deleted, which that does not hold up',
      { states: { old: {} }, metadata: { deletionTimestamp: PAST }, observed: true },
      { ...kept, formers: [], again: ['new 0'] },
    ],
    [
      'leaves it there where its own CloudProvider’s policy says so, and holds up no deletion by that',
      { states: { old: {} }, metadata: { deletionTimestamp: PAST }, orphans: true },
      { ...kept, formers: [], again: ['new 0'] },
    ],
    [
      'but while that one is paused the deletion waits',
      { states: { old: {} }, metadata: { deletionTimestamp: PAST }, orphans: true, paused: 'p-old' },
      kept,
    ],
    ['is making it, though it has left since the pass began', { states: {}, passing: true }, {}],
    ['has nothing of it any more', { states: { old: 'nothing', new: moved(PAST) } }, { formers: [], again: ['new 0'] }],
    [
      'is gone, and the deletion goes on',
      { states: { new: {} }, metadata: { deletionTimestamp: PAST } },
      { formers: [], again: ['new 0'] },
    ],
    ['never had it, and it went back', { states: { old: 'unknown', new: {} } }, { abandoned: true }],
    ['may have it', { states: { old: 'unknown' } }, {}],
    ['was never made: what is left of it may stand in the other one’s way', { states: { old: 'never made' } }, { abandoned: true }],
  ])('%s', async (_, scene, expected) => {
    expect(await seenFrom('old', scene)).toEqual({ ...nothing, ...expected });
  });
});
