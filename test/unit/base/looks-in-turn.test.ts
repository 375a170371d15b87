import { LooksInTurn } from '../../../operator/base/looks-in-turn';

const marks = (of: Record<string, string | undefined>): Map<string, string | undefined> => new Map(Object.entries(of));
const NAMES = Array.from({ length: 12 }, (_unused, index) => `s${index}`);

test('each has its turn, evenly spread: once in six looks, when it has been in order before', () => {
  const looks = new LooksInTurn();
  const glance = marks(Object.fromEntries(NAMES.map((name) => [name, 'same'])));
  const seen = Array.from({ length: 13 }, () => {
    const due = looks.due(glance);
    due.forEach((name) => looks.noted(name, 'same'));
    return due;
  });
  expect(seen[0]).toEqual(NAMES);
  expect(seen.slice(1).map(({ length }) => length)).toEqual(Array(12).fill(2));
  for (const from of [1, 7])
    expect(
      seen
        .slice(from, from + 6)
        .flat()
        .sort(),
    ).toEqual([...NAMES].sort());
});

test('a look at everything out of turn leaves the turns as they were', () => {
  const looks = new LooksInTurn();
  const glance = marks(Object.fromEntries(NAMES.map((name) => [name, 'same'])));
  const counts = Array.from({ length: 9 }, (_unused, number) => {
    const due = looks.due(glance);
    due.forEach((name) => looks.noted(name, 'same'));
    if (number === 4) NAMES.forEach((name) => looks.noted(name, 'same'));
    return due.length;
  });
  expect(counts).toEqual([12, ...Array<number>(8).fill(2)]);
});

test('what is new, has changed, is not told of or was not in order is looked at each time', () => {
  const looks = new LooksInTurn();
  for (let number = 0; number < 5; number++) {
    looks.due(marks({ ok: 'a', changed: 'a', broken: 'a' }));
    looks.noted(`first-${number}`, 'a');
  }
  for (const name of ['ok', 'changed', 'broken']) looks.noted(name, 'a');
  looks.forget('broken');
  expect(looks.due(marks({ changed: 'b', broken: 'a', untold: undefined, fresh: 'a' }))).toEqual(['changed', 'broken', 'untold', 'fresh']);
  expect(looks.due(marks({ ok: undefined }))).toEqual(['ok']);
});

test('what is gone is forgotten', () => {
  const looks = new LooksInTurn();
  for (const name of NAMES) looks.noted(name, 'a');
  looks.keep(new Set(['s4']));
  expect(looks.due(marks({ s4: 'a', s5: 'a' }))).toEqual(['s5']);
});
