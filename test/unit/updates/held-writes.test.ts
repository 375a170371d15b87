import { OperatorError, type ErrorCode } from '../../../operator/base/errors';
import { HeldWrites, type StateHold } from '../../../operator/updates/held-writes';
import { FakeClock, settle } from '../kube/fake-clock';

let clock: FakeClock;
let held: HeldWrites;
/** What was told: the message and in how many seconds the update gives up, or that it goes on. */
let told: string[];

beforeEach(() => {
  clock = new FakeClock();
  told = [];
  const tell = (hold: StateHold | undefined): void =>
    void told.push(hold === undefined ? 'over' : `${hold.error.message}, ${(hold.until - clock.now()) / 1000}`);
  held = new HeldWrites({ store: 'the cupboard', holdMs: 60_000, clock, tell });
});

const fail = (message: string, code: ErrorCode = 'Transient'): Promise<unknown> =>
  held.watch(() => Promise.reject(new OperatorError(code, message))).catch(() => undefined);
const succeed = (): Promise<void> => held.watch(() => Promise.resolve());

test('a short trouble is not told', async () => {
  await fail('500');
  await clock.advance(2_000);
  await succeed();
  await clock.advance(60_000);
  expect(told).toEqual([]);
});

test('a longer one is told once, each other answer too, and that it is over', async () => {
  await fail('500');
  await clock.advance(1_000);
  await fail('500');
  await clock.advance(2_000);
  await fail('500');
  await clock.advance(5_000);
  await fail('429', 'Throttled');
  await succeed();
  expect(told).toEqual(['500, 57', '429, 52', 'over']);
});

test('a write that nobody answers is told too, also when it succeeds after all', async () => {
  let answer: () => void = () => undefined;
  const writing = held.watch(() => new Promise<void>((resolve) => (answer = resolve)));
  await clock.advance(3_000);
  expect(told).toEqual(['state store (the cupboard): no answer to a write for 3 s, 57']);
  answer();
  await writing;
  expect(told.at(-1)).toBe('over');
});

test.each<ErrorCode>(['Conflict', 'Credentials', 'Quota', 'Invalid'])('%s ends the update, which says so itself', async (code) => {
  await fail('no', code);
  await clock.advance(60_000);
  expect(told).toEqual([]);
});

test('after the end of the update nothing is told, and the next trouble counts from its own beginning', async () => {
  await fail('500');
  held.end();
  await clock.advance(10_000);
  await fail('500');
  await clock.advance(2_999);
  await settle();
  expect(told).toEqual([]);
});
