import { createHash } from 'node:crypto';
import { assertFits, expectedBytes } from '../../../operator/updates/state/size-limit';
import type { StoredStack } from '../../../operator/updates/state/state-store';
import { recordOf } from '../../integration/state/record';

/** Text that hardly compresses, the same every time. */
function noise(length: number): string {
  let block = createHash('sha512').update('noise').digest();
  let text = '';
  for (; text.length < length; block = createHash('sha512').update(block).digest()) text += block.toString('base64');
  return text.slice(0, length);
}

function stored(bytes: number, inputs: { text: string } | null): StoredStack {
  return { record: recordOf('web', { inputs }), version: '1', bytes };
}

describe('expectedBytes', () => {
  test('grows with the inputs, from what is stored', () => {
    const half = expectedBytes({ text: noise(40_000) }, stored(100_000, { text: noise(80_000) }));
    expect(half).toBeGreaterThan(40_000);
    expect(half).toBeLessThan(60_000);
    expect(expectedBytes({ text: noise(80_000) }, stored(100_000, { text: noise(80_000) }))).toBe(100_000);
  });

  test('of a new stack is more than its inputs; of one that was never finished at least what is stored', () => {
    expect(expectedBytes({ text: noise(40_000) }, undefined)).toBeGreaterThan(60_000);
    expect(expectedBytes({ text: '' }, stored(5_000, null))).toBe(5_000);
  });
});

describe('assertFits', () => {
  test('refuses what would pass the limit, and says how to split it', () => {
    const refusal = { code: 'Quota', reason: 'StateTooLarge', remedy: expect.stringContaining('spec.placement') as string };
    expect(() => assertFits('web', { text: noise(80_000) }, stored(800, { text: noise(800) }), 50_000)).toThrow(matching(refusal));
    expect(() => assertFits('web', { text: noise(80_000) }, stored(800, { text: noise(800) }))).not.toThrow();
    expect(() => assertFits('web', { text: noise(800) }, undefined, 50_000)).not.toThrow();
  });

  test('never stands in the way of a deletion', () => {
    expect(() => assertFits('web', undefined, stored(10_000_000, { text: '' }), 1)).not.toThrow();
  });
});

/** For toThrow, whose types know no matcher. */
function matching(fields: object): Error {
  const matcher: unknown = expect.objectContaining(fields);
  return matcher as Error;
}
