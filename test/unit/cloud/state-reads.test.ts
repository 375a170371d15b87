import { OperatorError } from '../../../operator/base/errors';
import { StateReads } from '../../../operator/cloud/stack/state-reads';
import type { StackState } from '../../../operator/updates/update';
import { FakeClock } from '../kube/fake-clock';

const unavailable = new OperatorError('Transient', 'state store (the folder /s): 500', {
  reason: 'StateStoreUnavailable',
  remedy: 'mend it',
});
const stateOf = (clusterID: string): StackState => ({ clusterID }) as StackState;

function setUp(answer: (stack: string) => Promise<StackState | undefined>) {
  const clock = new FakeClock();
  const asked: string[] = [];
  const state = (stack: string): Promise<StackState | undefined> => {
    asked.push(stack);
    return answer(stack);
  };
  const back: string[] = [];
  const reads = new StateReads({ updates: { state }, clusterID: 'ours', clock, onBack: (stacks) => back.push(...stacks) });
  return { clock, asked, back, reads };
}

async function failureOf(reading: Promise<unknown>): Promise<OperatorError> {
  const thrown: unknown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof OperatorError) return thrown;
  throw new Error(`expected a failure, got ${String(thrown)}`);
}

test('a store in trouble is asked by one at a time, and not again at once; the others are told what it said, and when it is back', async () => {
  let answers = (): Promise<StackState> => Promise.reject(unavailable);
  const { clock, asked, back, reads } = setUp(() => answers());
  expect(await failureOf(reads.state('a'))).toBe(unavailable);
  const told = await failureOf(reads.state('b'));
  expect(asked).toEqual(['a']);
  expect(told).toMatchObject({ code: 'Transient', reason: 'StateStoreUnavailable', remedy: 'mend it' });
  expect(told.message).toBe(
    'the state of stack b is read when that of stack a can be, which just failed: state store (the folder /s): 500',
  );
  expect([reads.isUnread(unavailable), reads.isUnread(told), reads.isUnread(new OperatorError('Transient', 'other'))]).toEqual([
    true,
    true,
    false,
  ]);

  await clock.advance(2_000);
  let letGo: (state: StackState) => void = () => undefined;
  answers = () => new Promise((resolve) => (letGo = resolve));
  const probing = reads.state('c');
  await failureOf(reads.state('d'));
  expect(asked).toEqual(['a', 'c']);
  letGo(stateOf('ours'));
  expect(await probing).toEqual(stateOf('ours'));
  expect(back).toEqual(['a', 'b', 'd']);
  answers = () => Promise.resolve(stateOf('ours'));
  await Promise.all([reads.state('e'), reads.state('f')]);
  expect(asked).toEqual(['a', 'c', 'e', 'f']);
});

test('a stack whose own state is bad keeps no other from being read; what another cluster stored is not given', async () => {
  const damaged = new OperatorError('Invalid', 'nonsense', { reason: 'StateDamaged' });
  const answers: Record<string, () => Promise<StackState | undefined>> = {
    bad: () => Promise.reject(damaged),
    theirs: () => Promise.resolve(stateOf('another')),
    none: () => Promise.resolve(undefined),
  };
  const { reads } = setUp((stack) => answers[stack]?.() ?? Promise.resolve(stateOf('ours')));
  expect(await failureOf(reads.state('bad'))).toBe(damaged);
  const foreign = await failureOf(reads.state('theirs'));
  expect(foreign).toMatchObject({ code: 'Invalid', reason: 'ForeignState' });
  expect(reads.isUnread(foreign)).toBe(true);
  expect([await reads.state('none'), await reads.state('good')]).toEqual([undefined, stateOf('ours')]);
});

test('a stack that the store fails to give while it gives the others keeps these waiting once, and then comes after its own back-off alone', async () => {
  let broken = true;
  const { clock, asked, back, reads } = setUp((stack) =>
    broken && stack === 'a' ? Promise.reject(unavailable) : Promise.resolve(stateOf('ours')),
  );
  await failureOf(reads.state('a'));
  await failureOf(reads.state('b'));
  await clock.advance(2_000);
  await reads.state('b');
  // It may have been away for all: that is asked once.
  expect(back.splice(0)).toEqual(['a', 'b']);

  for (let tries = 0; tries < 3; tries++) {
    expect(await failureOf(reads.state('a'))).toBe(unavailable);
    expect(await reads.state('b')).toEqual(stateOf('ours'));
  }
  expect(back).toEqual([]);

  // Once it could be read, the next failure may be everybody's again.
  broken = false;
  await reads.state('a');
  broken = true;
  await failureOf(reads.state('a'));
  await failureOf(reads.state('b'));
  expect(asked).toEqual(['a', 'b', ...['a', 'b', 'a', 'b', 'a', 'b'], 'a', 'a']);
});

test('of a store that fails for all, the one that is asked next is told so, also where one has failed alone before', async () => {
  let broken = ['a'];
  const { clock, asked, back, reads } = setUp((stack) =>
    broken.includes(stack) ? Promise.reject(unavailable) : Promise.resolve(stateOf('ours')),
  );
  await failureOf(reads.state('a'));
  await clock.advance(2_000);
  await reads.state('b');
  back.splice(0);
  broken = ['a', 'b', 'c'];
  await failureOf(reads.state('b'));
  expect((await failureOf(reads.state('c'))).message).toContain('is read when that of stack b can be');
  await clock.advance(2_000);
  await failureOf(reads.state('a'));
  broken = [];
  await reads.state('d');
  expect(asked).toEqual(['a', 'b', 'b', 'a', 'd']);
  expect(back).toEqual(['b', 'c']);
});
