import { needsReplacement, propertyChanges } from '../../../providers/resource-provider/diff';
import { socketInode } from '../../../providers/resource-provider/peer';
import { conceal, hasUnknown, reveal } from '../../../providers/resource-provider/properties';

const SECRET = { '4dabf18193072939515e22adb298388d': '1b47061264138c4ac30d75fd1eb44270' };
const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';

describe('secrets', () => {
  test('are revealed at every depth', () => {
    expect(reveal({ a: { ...SECRET, value: 'x' }, b: [{ c: { ...SECRET, value: { d: 1 } } }], e: null })).toEqual({
      a: 'x',
      b: [{ c: { d: 1 } }],
      e: null,
    });
  });

  test('are concealed where they were, and nowhere else', () => {
    const like = { a: { ...SECRET, value: 'x' }, b: { c: { ...SECRET, value: 1 }, d: 2 } };
    expect(conceal({ a: 'y', b: { c: 5, d: 6 }, f: 7 }, like)).toEqual({
      a: { ...SECRET, value: 'y' },
      b: { c: { ...SECRET, value: 5 }, d: 6 },
      f: 7,
    });
  });

  test('a list of another length is concealed as a whole', () => {
    expect(conceal({ a: [1] }, { a: [{ ...SECRET, value: 1 }, 2] })).toEqual({ a: { ...SECRET, value: [1] } });
    expect(conceal({ a: [1, 2] }, { a: [{ ...SECRET, value: 1 }, 2] })).toEqual({ a: [{ ...SECRET, value: 1 }, 2] });
  });
});

test('unknown values are seen at every depth', () => {
  expect(hasUnknown({ a: [{ b: UNKNOWN }] })).toBe(true);
  expect(hasUnknown({ a: [{ b: 'known' }] })).toBe(false);
});

describe('propertyChanges', () => {
  const paths = (olds: object, news: object): string[] =>
    propertyChanges(olds as never, news as never).map(({ path, kind }) => `${kind} ${path}`);

  test('exactly what differs, as deep as it goes', () => {
    expect(paths({ a: 1, l: [{ p: 1, q: 2 }] }, { a: 1, l: [{ p: 3, q: 2 }] })).toEqual(['Update l[0].p']);
    expect(paths({ a: 1 }, { b: { c: 1 } })).toEqual(['Delete a', 'Add b']);
    expect(paths({ l: [1, 2] }, { l: [1] })).toEqual(['Delete l[1]']);
    expect(paths({ a: { 'x.y': 1 } }, { a: { 'x.y': 2 } })).toEqual(['Update a["x.y"]']);
    expect(paths({ a: [1] }, { a: { b: 1 } })).toEqual(['Update a']);
  });

  test('a replacement: of what can’t be changed, and of what is there from the beginning or never', () => {
    const type = { replaceOn: ['name'], replaceOnPresence: ['groups'] };
    const replaced = (olds: object, news: object): boolean =>
      propertyChanges(olds as never, news as never).some((change) => needsReplacement(change, type));
    expect(replaced({ name: 'a', groups: ['x'], tags: {} }, { name: 'a', groups: ['y', 'z'], tags: { t: 'u' } })).toBe(false);
    expect(replaced({ name: 'a' }, { name: 'b' })).toBe(true);
    expect(replaced({ name: 'a' }, { name: 'a', groups: ['x'] })).toBe(true);
    expect(replaced({ name: 'a', groups: ['x'] }, { name: 'a' })).toBe(true);
    expect(replaced({ groups: ['x'] }, { groups: UNKNOWN })).toBe(false);
  });

  test('null is absent, internal keys do not count', () => {
    expect(paths({ a: null, __defaults: [] }, { __defaults: ['a'] })).toEqual([]);
  });
});

test('socketInode finds a loopback socket in /proc/net/tcp, past one that is closing, and past others of the same local port', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:9C41 0100007F:1F90 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000',
    '   1: 0100007F:9C41 0100007F:1F91 01 00000000:00000000 00:00000000 00000000  1000        0 111111 1 0000000000000000 20 4 30 10 -1',
    '   2: 0100007F:9C41 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 424242 1 0000000000000000 20 4 30 10 -1',
  ].join('\n');
  expect(socketInode(table, '127.0.0.1:40001', 8080)).toBe('424242');
  expect(socketInode(table, '127.0.0.1:40002', 8080)).toBeUndefined();
  expect(socketInode(table, '127.0.0.1:40001', 8082)).toBeUndefined();
  expect(socketInode(table, 'unix:/x', 8080)).toBeUndefined();
});
