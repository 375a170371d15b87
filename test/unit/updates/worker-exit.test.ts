import { failureOfExit, isOutOfHeap } from '../../../operator/updates/worker-exit';

test.each([
  ['FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', true],
  ['FATAL ERROR: Ineffective mark-compacts near heap limit Allocation failed - JavaScript heap out of memory', true],
  ['Error: out of memory', false],
])('%s', (line, expected) => expect(isOutOfHeap(line)).toBe(expected));

test('a worker whose heap was full says its limit and what to do; it would fail again', () => {
  expect(failureOfExit({ how: 'SIGABRT', outOfHeap: true, heapMB: 512 })).toMatchObject({
    code: 'Unknown',
    message: 'the program used more than 512 MB of JavaScript heap and was stopped',
    remedy: expect.stringContaining('--update-memory') as string,
  });
});

test.each([
  ['SIGKILL', false],
  ['SIGKILL', true],
  ['SIGABRT', false],
])('one that has ended otherwise says how, and is tried again soon: %s, heap full %s', (how, outOfHeap) => {
  expect(failureOfExit({ how, outOfHeap, heapMB: 512 })).toMatchObject({
    code: 'Transient',
    message: `the update's worker process ended: ${how}`,
  });
});
