import type { PlannedOperation } from '../../../crds';
import { capped, operationsOf, PLAN_LIMITS, planHash, summaryOf, type EngineStep } from '../../../operator/updates/plan';

const SECRET = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270', ciphertext: 'c2VjcmV0' };
const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const urn = (name: string): string => `urn:pulumi:s::p::local:index:Thing::${name}`;

function step(op: string, name: string, old?: EngineStep['old'], wanted?: EngineStep['new']): EngineStep {
  return { op, urn: urn(name), type: 'local:index:Thing', ...(old && { old }), ...(wanted && { new: wanted }) };
}

function operation(name: string, properties = 0): PlannedOperation {
  const changes = Array.from({ length: properties }, (_, index) => ({ path: `p${index}`, old: '1', new: '2' }));
  return { op: 'update', type: 'local:index:Thing', name, urn: urn(name), ...(properties > 0 && { properties: changes }) };
}

describe('operations', () => {
  test('the three steps of a replacement are one operation, which says when the old one goes first', () => {
    const [old, wanted] = [{ inputs: { scheme: 'Public', size: 1 } }, { inputs: { scheme: 'Internal', size: 1 } }];
    const made = step('create-replacement', 'web', old, wanted);
    const replace = step('replace', 'web', old, wanted);
    const removed = step('delete-replaced', 'web', old);
    const expected = {
      op: 'replace',
      type: 'local:index:Thing',
      name: 'web',
      urn: urn('web'),
      properties: [{ path: 'scheme', old: '"Public"', new: '"Internal"' }],
    };
    expect(operationsOf([made, replace, removed])).toEqual([expected]);
    expect(operationsOf([removed, replace, made])).toEqual([{ ...expected, deleteFirst: true }]);
  });

  test('what is left of an earlier replacement is deleted', () => {
    expect(operationsOf([step('delete-replaced', 'web', { inputs: {} })])).toMatchObject([{ op: 'delete', name: 'web' }]);
  });

  test('steps that change nothing are none', () => {
    expect(operationsOf([step('same', 'web'), step('read', 'db'), step('refresh', 'web')])).toEqual([]);
  });

  test('a secret never shows, whether the engine hid it or not', () => {
    const [old, wanted] = [
      { inputs: { key: '[secret]', list: [{ token: SECRET }] } },
      { inputs: { key: '[secret]', list: [{ token: 'x' }] } },
    ];
    const [found] = operationsOf([{ ...step('update', 'web', old, wanted), differs: ['key', 'list[0].token'] }]);
    expect(found?.properties).toEqual([
      { path: 'key', old: '[secret]', new: '[secret]' },
      { path: 'list[0].token', old: '[secret]', new: '"x"' },
    ]);
    expect(JSON.stringify(found)).not.toContain('c2VjcmV0');
  });

  test('values that nobody knows yet say so; long ones are cut', () => {
    const wanted = { inputs: { id: UNKNOWN, ids: [UNKNOWN], text: 'x'.repeat(1000) } };
    const [found] = operationsOf([step('create', 'web', undefined, wanted)]);
    const [id, ids, text] = found?.properties ?? [];
    expect([id?.new, ids?.new]).toEqual(['[known after the update]', '[[known after the update]]']);
    expect(text?.new).toHaveLength(256);
  });
});

describe('the hash', () => {
  const of = { stack: 's', inputsHash: 'i', programVersion: '1', operations: [operation('a', 2), operation('b')] };

  test('is the same for the same plan, in whatever order it was made', () => {
    const [a, b] = of.operations;
    const mixed = [{ ...b }, { properties: a?.properties, urn: a?.urn, op: a?.op, name: a?.name, type: a?.type }] as PlannedOperation[];
    expect(planHash({ ...of, operations: mixed })).toBe(planHash(of));
    expect(planHash(of)).toMatch(/^[0-9a-f]{32}$/);
  });

  test.each([
    ['another stack', { stack: 't' }],
    ['other inputs', { inputsHash: 'j' }],
    ['another program', { programVersion: '2' }],
    ['an operation less', { operations: [operation('a', 2)] }],
    ['another property', { operations: [operation('a', 3), operation('b')] }],
    ['an update of it that became something else', { departures: 1 }],
    ['an approved update of it that was carried out', { approvals: 1 }],
    ['a deletion first', { operations: [operation('a', 2), { ...operation('b'), deleteFirst: true }] }],
  ])('differs for %s', (_, change) => {
    expect(planHash({ ...of, ...change })).not.toBe(planHash(of));
  });
});

describe('what is shown', () => {
  test('is everything while it fits', () => {
    const operations = [operation('a', 3), operation('b')];
    expect(capped(operations)).toEqual({ operations });
  });

  test('has at most 50 resources, 200 properties and 16 KB, and says how much is left out', () => {
    const many = capped(Array.from({ length: 60 }, (_, index) => operation(`r${index}`)));
    expect([many.operations.length, many.omitted]).toEqual([50, 10]);

    const wide = capped([operation('a', 150), operation('b', 150)]);
    expect(wide.operations.map(({ properties }) => properties?.length)).toEqual([150, 50]);
    expect(wide.omitted).toBe(100);

    const long = Array.from({ length: 200 }, (_, index) => ({ path: `p${index}`, old: 'x'.repeat(256), new: 'y'.repeat(256) }));
    const big = capped([{ ...operation('a'), properties: long }, operation('b')]);
    expect(Buffer.byteLength(JSON.stringify(big.operations))).toBeLessThanOrEqual(PLAN_LIMITS.bytes);
    expect((big.operations[0]?.properties?.length ?? 0) + (big.omitted ?? 0)).toBe(big.operations.length === 2 ? 200 : 201);
  });

  test('begins with one line that names what is replaced', () => {
    const counts = { create: 1, update: 0, replace: 1, delete: 0, same: 4 };
    const operations: PlannedOperation[] = [{ ...operation('web'), op: 'replace', deleteFirst: true }];
    expect(summaryOf({ hash: '', counts, operations })).toBe(
      '1 to create, 0 to update, 1 to replace, 0 to delete, 4 unchanged; replaces Thing web (delete first, with a gap in traffic)',
    );
  });
});
