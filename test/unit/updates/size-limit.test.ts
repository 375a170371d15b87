import { createHash } from 'node:crypto';
import type { Deployment } from '../../../operator/updates/checkpoint';
import { assertFits, expectedBytes, isGrowth } from '../../../operator/updates/state/size-limit';
import type { StoredStack } from '../../../operator/updates/state/state-store';
import { recordOf } from '../../integration/state/record';

/** Text that hardly compresses, the same every time. */
function noise(length: number): string {
  let block = createHash('sha512').update('noise').digest();
  let text = '';
  for (; text.length < length; block = createHash('sha512').update(block).digest()) text += block.toString('base64');
  return text.slice(0, length);
}

function stored(bytes: number, inputs: { text: string } | null, open = false): StoredStack {
  return { record: recordOf('web', { inputs, open }), version: '1', bytes };
}

describe('expectedBytes', () => {
  test('grows with the inputs, from what is stored', () => {
    const half = expectedBytes({ text: noise(40_000) }, stored(100_000, { text: noise(80_000) }));
    expect(half).toBeGreaterThan(40_000);
    expect(half).toBeLessThan(60_000);
    expect(expectedBytes({ text: noise(80_000) }, stored(100_000, { text: noise(80_000) }))).toBe(100_000);
  });

  test('of a new stack is more than its inputs; so is one that was never finished, of which another spec may be wanted by now', () => {
    expect(expectedBytes({ text: noise(40_000) }, undefined)).toBeGreaterThan(60_000);
    expect(expectedBytes({ text: noise(400) }, stored(5_000, null))).toBe(expectedBytes({ text: noise(400) }, undefined));
  });

  test('of one whose last update did not end is not what that has left', () => {
    const [inputs, wanted] = [{ text: noise(400) }, { text: noise(800) }];
    expect(expectedBytes(wanted, stored(90_000, inputs, true))).toBe(expectedBytes(wanted, undefined));
    expect(expectedBytes(wanted, stored(400, inputs, true))).toBe(expectedBytes(wanted, stored(400, inputs)));
  });
});

describe('assertFits', () => {
  test('refuses what would pass the limit, and says how to split it', () => {
    const refusal = { code: 'Quota', reason: 'StateTooLarge', remedy: expect.stringContaining('spec.placement') as string };
    expect(() => assertFits('web', { text: noise(80_000) }, stored(800, { text: noise(800) }), 50_000)).toThrow(matching(refusal));
    expect(() => assertFits('web', { text: noise(80_000) }, stored(800, { text: noise(800) }))).not.toThrow();
    expect(() => assertFits('web', { text: noise(800) }, undefined, 50_000)).not.toThrow();
  });

  test('never stands in the way of a deletion, nor of the way back to what there was', () => {
    expect(() => assertFits('web', undefined, stored(10_000_000, { text: '' }), 1)).not.toThrow();
    const grown = stored(60_000, { text: noise(800) });
    expect(() => assertFits('web', { text: noise(800) }, grown, 50_000)).not.toThrow();
    expect(() => assertFits('web', { text: noise(700) }, grown, 50_000)).not.toThrow();
    expect(() => assertFits('web', { text: noise(900) }, grown, 50_000)).toThrow('too large');
  });
});

describe('isGrowth', () => {
  const thing = { urn: 'urn:pulumi:web::fake::fake:index:Thing::a', type: 'fake:index:Thing', custom: true, id: 'a' };
  function checkpoint(things: number, ...pending: string[]): Deployment {
    const resources = Array.from({ length: things }, (_, n) => ({ ...thing, urn: `${thing.urn}${n}` }));
    const operations = pending.map((type) => ({ type, resource: thing }));
    const manifest = { time: '', magic: '', version: '' };
    return { version: 3, deployment: { manifest, resources, pending_operations: operations } };
  }

  test.each<[string, Deployment, Deployment | null, boolean]>([
    ['one more', checkpoint(2), checkpoint(1), true],
    ['one that is about to be made', checkpoint(1, 'creating'), checkpoint(1), true],
    ['the first one', checkpoint(0, 'creating'), null, true],
    ['one that changes, or goes', checkpoint(1, 'updating', 'deleting'), checkpoint(1), false],
    ['one less', checkpoint(1), checkpoint(2), false],
  ])('%s', (_what, now, before, grows) => {
    expect(isGrowth(now, before)).toBe(grows);
  });
});

/** For toThrow, whose types know no matcher. */
function matching(fields: object): Error {
  const matcher: unknown = expect.objectContaining(fields);
  return matcher as Error;
}
