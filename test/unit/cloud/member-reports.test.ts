import { z } from 'zod';
import { statusBase } from '../../../crds/kind';
import { echoOf } from '../../../operator/cloud/reconcile-token';

describe('the echo of a reconcile token', () => {
  const allowed = z.object({ lastHandledReconcile: statusBase.lastHandledReconcile });

  test.each([
    ['none', undefined],
    ['a short one', '2026-01-01T00:00:00Z'],
    ['the longest', 'x'.repeat(256)],
  ])('%s is echoed as it is', (_what, token) => expect(echoOf(token)).toBe(token));

  test('the status can not hold a longer one', () => {
    expect(allowed.safeParse({ lastHandledReconcile: 'x'.repeat(257) }).success).toBe(false);
  });

  test.each([
    ['long', 'x'.repeat(257)],
    ['huge', 'x'.repeat(200_000)],
    ['of characters of two units, cut in none', '🚀'.repeat(129)],
  ])('%s: the status can hold the echo, and another token has another', (_what, token) => {
    expect(allowed.safeParse({ lastHandledReconcile: echoOf(token) }).success).toBe(true);
    expect(echoOf(token)).not.toBe(echoOf(`${token}2`));
  });
});
