import { readableLine } from '../../../operator/base/readable-log';

const time = '2026-11-28T03:47:42.210Z';

it.each([
  [
    'the fields after the message',
    { level: 30, time, name: 'cloud-operator', group: 'pool-1', targets: 3, msg: 'members registered' },
    '03:47:42 INFO  members registered  group=pool-1 targets=3',
  ],
  [
    'an error’s message',
    { level: 40, time, err: { message: 'no answer', stack: 'Error: no answer\n    at x' }, msg: 'failed' },
    '03:47:42 WARN  failed  error: no answer',
  ],
  [
    'the stack of what broke',
    { level: 50, time, err: { message: 'no', stack: 'Error: no\n    at x' }, msg: 'broken' },
    '03:47:42 ERROR broken  error: no\nError: no\n    at x',
  ],
  ['lists and objects as JSON', { level: 20, time, nodes: ['a'], at: { b: 1 } }, '03:47:42 DEBUG   nodes=["a"] at={"b":1}'],
])('has %s', (_title, line, expected) => {
  expect(readableLine(JSON.stringify(line))).toBe(expected);
});

it.each(['plain text', '', '3', 'null', '{"level":'])('leaves what is no object as it is: %j', (line) => {
  expect(readableLine(line)).toBe(line);
});
