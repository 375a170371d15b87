import type { CheckpointResource, Deployment } from '../../../operator/updates/checkpoint';
import { expectedResources } from '../../../operator/updates/stack-size';
import { Journal } from '../../../operator/updates/worker/endpoint/journal';
import { type JournalEntry, JournalKind } from '../../../operator/updates/worker/endpoint/journal-entry';

const urn = (name: string): string => `urn:pulumi:s::p::t:i:T::${name}`;
const resource = (name: string, more: Partial<CheckpointResource> = {}): CheckpointResource => ({
  urn: urn(name),
  type: 't:i:T',
  custom: true,
  ...more,
});
const base = (resources: CheckpointResource[], more: object = {}): Deployment => ({
  version: 3,
  deployment: { manifest: { time: '', magic: 'm', version: 'v' }, metadata: {}, resources, ...more },
});

/** Folds entries; each is numbered by its place. */
function folded(start: Deployment | null, entries: Partial<JournalEntry>[]): Deployment {
  const journal = new Journal(start);
  journal.add(entries.map((entry, at) => ({ version: 1, kind: JournalKind.Success, sequenceID: at + 1, operationID: at + 1, ...entry })));
  return journal.deployment('now');
}

const inState = ({ deployment }: Deployment): string[] =>
  (deployment?.resources ?? []).map(({ urn: name, delete: dying, pendingReplacement, id = '' }) =>
    [name.split('::').at(-1), id, dying === true && 'delete', pendingReplacement === true && 'replace'].filter(Boolean).join(' '),
  );

const [a, b] = [resource('a', { id: '1' }), resource('b', { id: '2', dependencies: [urn('a')] })];

test.each<[string, Partial<JournalEntry>[], string[]]>([
  ['nothing yet', [], ['a 1', 'b 2']],
  ['a create', [{ state: resource('c', { id: '3' }) }], ['c 3', 'a 1', 'b 2']],
  ['an update', [{ state: { ...a, id: '9' }, removeOld: 0 }], ['a 9', 'b 2']],
  ['a deletion', [{ removeOld: 1 }], ['a 1']],
  ['a failure', [{ kind: JournalKind.Begin }, { kind: JournalKind.Failure, operationID: 1 }], ['a 1', 'b 2']],
  ['a replacement before its deletion', [{ state: { ...a, id: '9' }, deleteOld: 0 }], ['a 9', 'a 1 delete', 'b 2']],
  ['a deletion before its replacement', [{ pendingReplacementOld: 0 }], ['a 1 replace', 'b 2']],
  ['something made and taken away again', [{ state: resource('c') }, { removeNew: 1 }], ['a 1', 'b 2']],
  ['something made and marked', [{ state: resource('c') }, { deleteNew: 1 }], ['c delete', 'a 1', 'b 2']],
  [
    'outputs of something made',
    [{ state: resource('c') }, { kind: JournalKind.Outputs, removeNew: 1, state: resource('c', { id: '7' }) }],
    ['c 7', 'a 1', 'b 2'],
  ],
  [
    'outputs of something old, marked before',
    [{ deleteOld: 0 }, { kind: JournalKind.Outputs, removeOld: 0, state: { ...a, id: '7' } }],
    ['a 7 delete', 'b 2'],
  ],
  ['a refresh that found it changed', [{ kind: JournalKind.RefreshSuccess, removeOld: 0, state: { ...a, id: '8' } }], ['a 8', 'b 2']],
  [
    'a refresh, and indices of the new base after it',
    [{ kind: JournalKind.RefreshSuccess, removeOld: 0, state: null }, { kind: JournalKind.RebuiltBaseState }, { removeOld: 0 }],
    [],
  ],
  ['another base', [{ kind: JournalKind.Write, newSnapshot: base([resource('z')]).deployment }], ['z']],
])('%s', (_what, entries, expected) => {
  expect(inState(folded(base([a, b]), entries))).toEqual(expected);
});

describe('whether the checkpoint may be another one than before', () => {
  const pending = { pending_operations: [{ type: 'updating', resource: a }] };
  test.each<[string, Deployment, Partial<JournalEntry>[], boolean]>([
    [
      'resources are as they were',
      base([a, b]),
      [{ kind: JournalKind.Begin }, { state: { ...a, sourcePosition: 'x' }, removeOld: 0 }],
      false,
    ],
    [
      'one of them is not',
      base([a, b]),
      [
        { state: a, removeOld: 0 },
        { state: { ...b, id: '9' }, removeOld: 1 },
      ],
      true,
    ],
    ['one more', base([a]), [{ state: b }], true],
    ['one less', base([a]), [{ removeOld: 0 }], true],
    ['the same, marked', base([a]), [{ state: a, removeOld: 0, deleteOld: 0 }], true],
    ['an operation begins', base([a]), [{ kind: JournalKind.Begin, operation: { type: 'updating', resource: a } }], true],
    ['outputs', base([a]), [{ kind: JournalKind.Outputs, state: a, removeOld: 0 }], true],
    ['operations that were pending before', base([a], pending), [{ state: a, removeOld: 0 }], true],
  ])('%s: %#', (_what, start, entries, isNews) => {
    const numbered = entries.map((entry, at): JournalEntry => ({
      version: 1,
      kind: JournalKind.Success,
      sequenceID: at,
      operationID: at,
      ...entry,
    }));
    expect(new Journal(start).add(numbered)).toBe(isNews);
  });

  test('entries that come again are none', () => {
    const journal = new Journal(base([]));
    const entry = { version: 1, kind: JournalKind.Success, sequenceID: 1, operationID: 1, state: a };
    expect([journal.add([entry]), journal.add([entry])]).toEqual([true, false]);
  });
});

test('what a refresh has found gone is named by nobody any more', () => {
  const child = { parent: urn('a'), dependencies: [urn('root'), urn('a')], propertyDependencies: { x: [urn('a')] }, deletedWith: urn('a') };
  const start = base([resource('root'), a, resource('child', child)]);
  const { deployment } = folded(start, [{ kind: JournalKind.RefreshSuccess, removeOld: 1, state: null }]);
  const kept = { dependencies: [urn('root')], propertyDependencies: { x: [] }, deletedWith: '' };
  expect(deployment?.resources).toEqual([resource('root'), resource('child', kept)]);
});

test('references to a former name follow', () => {
  const renamed = resource('new', { id: '1', aliases: [urn('a')] });
  const { deployment } = folded(base([a, b]), [{ state: renamed, removeOld: 0 }]);
  expect(deployment?.resources).toEqual([resource('new', { id: '1' }), { ...b, dependencies: [urn('new')] }]);
});

test('operations in flight are pending, and creates that were pending before stay so', () => {
  const [before, gone] = ['creating', 'updating'].map((type) => ({ type, resource: resource(type) }));
  const operation = { type: 'creating', resource: resource('c') };
  const start = base([a], { pending_operations: [before, gone] });
  expect(folded(start, [{ kind: JournalKind.Begin, operation }]).deployment?.pending_operations).toEqual([operation, before]);
  expect(folded(base([a], { pending_operations: [gone] }), []).deployment).not.toHaveProperty('pending_operations');
});

test('an entry that is sent again counts once', () => {
  const journal = new Journal(null);
  const entry: JournalEntry = { version: 1, kind: JournalKind.Success, sequenceID: 4, operationID: 1, state: a };
  journal.add([entry]);
  journal.add([entry, { ...entry, sequenceID: 5, operationID: 2, state: b }]);
  expect(inState(journal.deployment('now'))).toEqual(['a 1', 'b 2']);
});

test('secrets and features of the state are kept', () => {
  const secretsProvider = { type: 'service', state: { url: 'u' } };
  const entries = [
    { kind: JournalKind.SecretsManager, secretsProvider },
    { state: a, requiresByteString: true },
  ];
  expect(folded(null, entries)).toMatchObject({ version: 4, features: ['byteString'], deployment: { secrets_providers: secretsProvider } });
  expect(folded({ ...base([a]), version: 4, features: ['views'] }, [])).toMatchObject({ version: 4, features: ['views'] });
});

test.each<[string, Partial<JournalEntry>]>([
  ['a newer version', { version: 2 }],
  ['an unknown kind', { kind: 10 as JournalKind }],
  ['an operation that never was', { removeNew: 77 }],
  ['a resource that never was', { removeOld: 77 }],
])('%s stops the engine instead of guessing', (_what, entry) => {
  expect(() => folded(base([a, b]), [entry])).toThrow(/journal has an entry that this operator doesn't understand/);
});

test('how large an update may become is known before it begins', () => {
  expect(expectedResources({ pools: [{ members: [{}, {}] }, {}], name: 'x' }, null)).toBe(5);
  expect(expectedResources(undefined, base([a, b]))).toBe(2);
});
