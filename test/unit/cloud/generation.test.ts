import {
  isUndated,
  movedInput,
  nextInput,
  onlyRetires,
  replacing,
  retirementIn,
  stamped,
  type GenerationalInput,
} from '../../../operator/cloud/plan/generation';
import type { TimeLeft } from '../../../operator/cloud/plan/retirements';
import { canonicalJson } from '../../../operator/base/json';

interface Input extends GenerationalInput {
  scheme: string;
  port: number;
}

const NOW = Date.parse('2026-01-01T00:00:00Z');
const LATER = '2026-01-01T00:05:00Z';
/** What is left at a moment of one clock that nobody sets. */
const at =
  (now: number): TimeLeft =>
  (until) =>
    Math.max(0, Date.parse(until) - now);
const equal = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b);
const input = (scheme: string, port = 80): Input => ({ uid: 'u', name: 'web', scheme, port });

function next(accepted: GenerationalInput | undefined, wanted: Input, { gap = false, now = NOW } = {}): ReturnType<typeof nextInput> {
  const replacement = (a: GenerationalInput, b: GenerationalInput) =>
    (a as Input).scheme === (b as Input).scheme ? undefined : { why: 'the scheme', gap };
  return nextInput(accepted, wanted, { left: at(now), replacement });
}

test('the first generation has no number, and changes in place keep it so', () => {
  expect(next(undefined, input('A')).input).toEqual(input('A'));
  expect(next(input('A'), input('A', 81)).input).toEqual(input('A', 81));
});

test('a replacement holds both; once it has succeeded the old one has a time to go, and goes', () => {
  const { input: candidate, replacement } = next(input('A'), input('B'));
  expect(candidate).toEqual({ ...input('B'), generation: 1, retiring: { input: input('A') } });
  expect(replacement).toEqual({ why: 'the scheme', gap: false });
  const accepted = stamped(candidate, LATER);
  expect(accepted).toEqual({ ...candidate, retiring: { input: input('A'), until: LATER } });
  expect(stamped(accepted, '2027-01-01T00:00:00Z')).toEqual(accepted);
  expect(retirementIn(accepted, at(NOW), 1)).toBe(300_000);

  expect(next(accepted, input('B')).input).toEqual(accepted);
  expect(next(accepted, input('B', 81)).input).toEqual({ ...accepted, port: 81 });
  const after = next(accepted, input('B'), { now: Date.parse(LATER) }).input;
  expect(after).toEqual({ ...input('B'), generation: 1 });
  expect(onlyRetires(accepted, after, equal)).toBe(true);
  expect(onlyRetires(accepted, { ...after, port: 81 } as Input, equal)).toBe(false);
  expect(next(after, input('A')).input).toEqual({ ...input('A'), generation: 2, retiring: { input: after } });
});

test('until clients are sent to the new one the old one stays, whatever is asked for meanwhile', () => {
  const { input: made } = next(input('A'), input('B'));
  const never = { now: Date.parse('2030-01-01T00:00:00Z') };
  expect([isUndated(input('A')), isUndated(made), isUndated(stamped(made, LATER))]).toEqual([false, true, false]);
  expect(next(made, input('B'), never)).toEqual({ input: made });
  expect(next(made, input('B', 81), never)).toEqual({ input: { ...made, port: 81 } });
  const { waitsUntil = 'nothing' } = next(made, input('A'), never);
  expect(replacing(waitsUntil).message).toMatch(/that begins when the old one has gone$/);
  expect(replacing(LATER).message).toMatch(new RegExp(`has gone, at ${LATER}$`));
});

test('a second replacement waits for the end of the first', () => {
  const accepted = stamped(next(input('A'), input('B')).input, LATER);
  expect(next(accepted, input('A')).waitsUntil).toBe(LATER);
  const { input: third, waitsUntil } = next(accepted, input('A'), { now: Date.parse(LATER) });
  expect(waitsUntil).toBeUndefined();
  expect(third).toEqual({ ...input('A'), generation: 2, retiring: { input: { ...input('B'), generation: 1 } } });
});

test('what exists only once is replaced within its generation', () => {
  const { input: candidate, replacement } = next({ ...input('A'), generation: 3 }, input('B'), { gap: true });
  expect(candidate).toEqual({ ...input('B'), generation: 3 });
  expect(replacement?.gap).toBe(true);
});

test('what can only go when the other is there takes the old one’s place in one update, as the next generation', () => {
  const replacement = () => ({ why: 'the label', gap: true, renamed: true as const });
  const found = nextInput({ ...input('A'), adopted: { a: 'b' } }, input('B'), { left: at(NOW), replacement });
  expect(found).toEqual({ input: { ...input('B'), generation: 1 }, replacement: replacement() });
});

test('a member that another stack has is made anew here, and keeps the mark of its move', () => {
  const {
    input: candidate,
    replacement,
    waitsUntil,
  } = movedInput({ stack: 'old', input: input('A') }, input('B'), { why: 'it moves', gap: false, left: at(NOW) });
  expect(candidate).toEqual({ ...input('B'), generation: 1, movedFrom: { stack: 'old' } });
  expect([replacement, waitsUntil]).toEqual([{ why: 'it moves', gap: false }, undefined]);
  const accepted = stamped(candidate, LATER);
  expect(accepted).toEqual({ ...candidate, movedFrom: { stack: 'old', until: LATER } });
  expect(stamped(accepted, '2027-01-01T00:00:00Z')).toEqual(accepted);
  expect(next(accepted, input('B', 81)).input).toEqual({ ...accepted, port: 81 });
  expect(next(accepted, input('A')).input).toEqual({
    ...input('A'),
    generation: 2,
    movedFrom: { stack: 'old', until: LATER },
    retiring: { input: { ...input('B'), generation: 1 } },
  });
});

test('the next move waits until the stack before has given it up', () => {
  const origin = { stack: 'b', input: { ...input('A'), generation: 1, movedFrom: { stack: 'a', until: LATER } } };
  const move = { why: 'it moves', gap: false, left: at(NOW) };
  expect(movedInput(origin, input('A'), move)).toMatchObject({ waitsUntil: LATER });
  const then = movedInput(origin, input('A'), { ...move, left: at(Date.parse(LATER)) });
  expect(then).toEqual({
    input: { ...input('A'), generation: 2, movedFrom: { stack: 'b' } },
    replacement: { why: 'it moves', gap: false },
  });
});

test('what was taken over stays so until another one takes its place', () => {
  const adopted = { groups: 'None' };
  const accepted: GenerationalInput = { ...input('A'), adopted };
  expect(next(accepted, input('A', 81)).input).toEqual({ ...input('A', 81), adopted });
  const { input: replaced } = next(accepted, input('B'));
  expect(replaced).toEqual({ ...input('B'), generation: 1, retiring: { input: accepted } });
  // Under the same names in the program it would be taken for what was taken over, so it says that it is not.
  const inPlace: GenerationalInput = { ...input('B'), inPlaceOfAdopted: true };
  expect(next(accepted, input('B'), { gap: true }).input).toEqual(inPlace);
  expect(next(inPlace, input('B', 81)).input).toEqual({ ...inPlace, port: 81 });
  expect(next(inPlace, input('A'), { gap: true }).input).toEqual({ ...input('A'), inPlaceOfAdopted: true });
  expect(next(inPlace, input('A')).input).toEqual({ ...input('A'), generation: 1, retiring: { input: inPlace } });
});
