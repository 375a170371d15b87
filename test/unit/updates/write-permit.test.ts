import { askPermit, VALIDITY_MS } from '../../../operator/updates/write-permit';

test.each([true, false])('what a worker may write until counts from before it was asked whether it may (%s)', (may) => {
  let now = 1_000;
  const stopped = (): boolean => {
    // As an operator that is stopped for an hour while it finds out.
    now += 3_600_000;
    return may;
  };
  expect(askPermit(stopped, () => now)).toEqual({ answer: may, validUntil: 1_000 + VALIDITY_MS });
});
