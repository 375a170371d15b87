import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { changeFields, currentChange, inChange, newChangeID, sameChange } from '../../../operator/base/change';
import { ChangeBook } from '../../../operator/base/change-book';

const change = (id: string, object = 'Service shop/web'): { id: string; object: string } => ({ id, object });

test('what is done in the course of a change is part of it, however late and deep; what is beside it is not', async () => {
  const seen: (string | undefined)[] = [];
  const deep = async (): Promise<void> => {
    await pause(5);
    seen.push(currentChange()?.id);
  };
  await Promise.all([inChange(change('a'), deep), inChange(change('b'), deep), deep()]);
  expect(seen.sort()).toEqual(['a', 'b', undefined]);
});

test('a message that comes later goes on with the change that waits for it', () => {
  const told = inChange(change('a'), () => sameChange());
  expect(told(() => currentChange()?.id)).toBe('a');
  expect(inChange(change('b'), () => told(() => currentChange()?.id))).toBe('a');
  expect(sameChange()(() => currentChange())).toBeUndefined();
});

test('its id and object stand on every line of a log', () => {
  const lines: string[] = [];
  const logger = pino({ mixin: changeFields }, { write: (line) => void lines.push(line) }).child({ part: 'x' });
  inChange(change('a'), () => logger.info({ stack: 's' }, 'in it'));
  logger.info('beside it');
  const [inIt, beside] = lines.map((line) => JSON.parse(line) as object);
  expect(inIt).toMatchObject({ update: 'a', object: 'Service shop/web', stack: 's', part: 'x' });
  expect(beside).not.toHaveProperty('update');
});

test('ids are those of W3C traces', () => {
  expect(newChangeID()).toMatch(/^[0-9a-f]{32}$/);
  expect(newChangeID()).not.toBe(newChangeID());
});

describe('what is behind an object', () => {
  const KEY = 'CloudLoadBalancer/shop/web';

  test('is the newest change that has written it, until that was brought about', () => {
    const book = new ChangeBook();
    inChange(change('a'), () => book.note(KEY));
    inChange(change('b'), () => book.note('CloudLoadBalancer/shop/other'));
    expect(book.newest([KEY])?.id).toBe('a');
    expect(book.newest([KEY, 'CloudLoadBalancer/shop/other', 'CloudStack/x'])?.id).toBe('b');
    book.done([KEY], change('b'));
    expect(book.newest([KEY])?.id).toBe('a'); // it is another one's
    book.done([KEY], change('a'));
    expect(book.newest([KEY])).toBeUndefined();
  });

  test('is nothing where nobody was at it, and the oldest is forgotten first', () => {
    const book = new ChangeBook();
    book.note(KEY);
    expect(book.newest([KEY])).toBeUndefined();
    inChange(change('a'), () => Array.from({ length: 10_001 }, (_, at) => book.note(`CloudRoute/${at}`)));
    expect([book.newest(['CloudRoute/0']), book.newest(['CloudRoute/1'])?.id]).toEqual([undefined, 'a']);
  });
});
