import { StackIndex } from '../../../operator/cloud/stack/stack-index';

describe('stacks that had an object before', () => {
  const moved = (): StackIndex => {
    const index = new StackIndex();
    index.assign('web', 'first');
    index.assign('web', 'second');
    index.assign('web', 'third');
    return index;
  };

  test('are told once of each generation that its own stack has', () => {
    const index = moved();
    expect(index.tell('third', 'web', 1)).toEqual(['first', 'second']);
    expect(index.tell('third', 'web', 1)).toEqual([]);
    expect(index.tell('third', 'web', 2)).toEqual(['first', 'second']);
  });

  test('are not told by one of them that it has made it', () => {
    const index = moved();
    expect(index.tell('second', 'web', 1)).toEqual([]);
    expect(index.tell('third', 'web', 1)).toEqual(['first', 'second']);
  });

  test('are told as long as they may have it', () => {
    const index = moved();
    index.release('web', 'first');
    expect(index.tell('third', 'web', 1)).toEqual(['second']);
    index.forget('web');
    expect(index.tell('third', 'web', 2)).toEqual([]);
  });

  test('are told anew when it was there again', () => {
    const index = moved();
    index.tell('third', 'web', 1);
    index.release('web', 'first');
    index.remember('web', 'first');
    expect(index.tell('third', 'web', 1)).toEqual(['first']);
  });

  test('know what they were told, however often they are remembered', () => {
    const index = moved();
    index.tell('third', 'web', 1);
    index.remember('web', 'first');
    expect(index.tell('third', 'web', 1)).toEqual([]);
  });
});
