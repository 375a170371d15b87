import { Retirements } from '../../../operator/cloud/plan/retirements';

const MINUTE = 60_000;
const RETIRE_AFTER = 5 * MINUTE;
const HOUR = 60 * MINUTE;

/** A machine whose wall clock can be set. */
class Machine {
  private elapsed = 0;
  private offset = Date.parse('2026-01-01T00:00:00Z');
  readonly clock = { now: () => this.offset + this.elapsed, monotonic: () => this.elapsed };
  readonly retirements = new Retirements(this.clock);
  readonly left = this.retirements.within(RETIRE_AFTER);

  in(ms: number): string {
    return new Date(this.clock.now() + ms).toISOString();
  }

  pass(ms: number): void {
    this.elapsed += ms;
  }

  set(byMs: number): void {
    this.offset += byMs;
  }
}

test('a time comes when it comes, and stays over', () => {
  const machine = new Machine();
  const until = machine.in(MINUTE);
  expect(machine.left(until)).toBe(MINUTE);
  machine.pass(MINUTE - 1);
  expect(machine.left(until)).toBe(1);
  machine.pass(2 * MINUTE);
  expect(machine.left(until)).toBe(0);
  expect(machine.left(machine.in(-MINUTE))).toBe(0);
});

test.each([
  ['back', -30 * HOUR],
  ['forward', 30 * HOUR],
])('a wall clock that is set %s meanwhile changes nothing', (_how, byMs) => {
  const machine = new Machine();
  const until = machine.in(RETIRE_AFTER);
  machine.left(until);
  machine.set(byMs);
  expect(machine.left(until)).toBe(RETIRE_AFTER);
  machine.pass(RETIRE_AFTER);
  expect(machine.left(until)).toBe(0);
});

test('a time that was written under a wall clock that was ahead, or is met under one that is behind, comes after retireAfter', () => {
  const machine = new Machine();
  const until = machine.in(30 * HOUR);
  expect(machine.left(until)).toBe(RETIRE_AFTER);
  machine.pass(RETIRE_AFTER);
  expect(machine.left(until)).toBe(0);
});

test('what is begun now goes after retireAfter, though the wall clock is set before anybody asks', () => {
  const machine = new Machine();
  const until = machine.retirements.begin(RETIRE_AFTER);
  expect(until).toBe(machine.in(RETIRE_AFTER));
  machine.set(30 * HOUR);
  expect(machine.left(until)).toBe(RETIRE_AFTER);
});
