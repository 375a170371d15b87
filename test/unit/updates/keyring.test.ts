import { checkedKeyring, keyOf, newKeyring, seal, unseal, withNewKey, withoutKeys } from '../../../operator/updates/state/keyring';

const text = Buffer.from('swordfish');
const NOW = '2026-01-01T00:00:00Z';

describe('a keyring', () => {
  const ring = newKeyring();

  test('opens what it sealed, and never seals twice alike', () => {
    const [one, two] = [seal(ring, text, 'web'), seal(ring, text, 'web')];
    expect(unseal(ring, one, 'web')).toEqual(text);
    expect(one.equals(two)).toBe(false);
    expect(one.includes(text)).toBe(false);
  });

  test('refuses another stack’s value, a changed one, another key and what is no sealed value', () => {
    const sealed = seal(ring, text, 'web');
    const changed = Buffer.from(sealed);
    changed[changed.length - 1] = (changed[changed.length - 1] ?? 0) ^ 1;
    for (const [value, context, keys] of [
      [sealed, 'api', ring],
      [changed, 'web', ring],
      [sealed, 'web', newKeyring()],
      [Buffer.from('nonsense'), 'web', ring],
      [Buffer.alloc(0), 'web', ring],
      [sealed.subarray(0, 20), 'web', ring],
    ] as const) {
      expect(() => unseal(keys, value, context)).toThrow(matching({ code: 'Invalid', reason: 'WrongKey' }));
    }
  });

  test('with a new key seals with that, and still opens the former’s', () => {
    const sealed = seal(ring, text, 'web');
    const rotated = withNewKey(ring, NOW);
    expect(rotated.current).not.toBe(ring.current);
    expect(rotated.keys[ring.current]?.retiredAt).toBe(NOW);
    expect(keyOf(seal(rotated, text, 'web'))).toBe(rotated.current);
    expect(unseal(rotated, sealed, 'web')).toEqual(text);
    expect(() => unseal(withoutKeys(rotated, [ring.current]), sealed, 'web')).toThrow(/which this state store does not have/);
  });

  test('never loses its current key', () => {
    expect(withoutKeys(ring, [ring.current])).toEqual(ring);
  });

  test.each([[undefined], [null], [{}], [{ current: 'a', keys: {} }], [{ ...newKeyring(), current: 'other' }]])('%j is none', (value) => {
    expect(() => checkedKeyring(value, 'Secret x')).toThrow(/^Secret x does not hold the data keys/);
  });

  test('with a key that is not what its id says is refused', () => {
    const forged = { current: ring.current, keys: { [ring.current]: Object.values(newKeyring().keys)[0] } };
    expect(() => checkedKeyring(forged, 'Secret x')).toThrow(matching({ reason: 'WrongKey' }));
  });
});

/** For toThrow, whose types know no matcher. */
function matching(fields: object): Error {
  const matcher: unknown = expect.objectContaining(fields);
  return matcher as Error;
}
