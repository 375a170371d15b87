import { OperatorError } from '../../../operator/base/errors';
import { describeFailure } from '../../../operator/cli/failure';
import { formatTable } from '../../../operator/cli/table';

describe('describeFailure', () => {
  it.each([
    [
      'bad input',
      new OperatorError('Invalid', 'the file is empty', { remedy: 'write it' }),
      { text: 'the file is empty; write it', exitCode: 2 },
    ],
    [
      'a message that says its remedy',
      new OperatorError('Credentials', 'TLS failed; check the CA', { remedy: 'check the CA' }),
      { text: 'TLS failed; check the CA', exitCode: 1 },
    ],
    ['another failure', new OperatorError('Transient', 'no answer'), { text: 'no answer', exitCode: 1 }],
    ['a refused connection', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), { text: 'ECONNREFUSED: connect', exitCode: 1 }],
    ['a defect', new TypeError('x is undefined'), { text: 'x is undefined; this is a defect; --debug shows where', exitCode: 1 }],
    ['no error at all', 'text', { text: 'text; this is a defect; --debug shows where', exitCode: 1 }],
    [
      'the end of a log',
      new OperatorError('Unknown', 'it failed; its log ends with\n  x\n  y', { remedy: 'look' }),
      { text: 'it failed; its log ends with; look\n  x\n  y', exitCode: 1 },
    ],
  ])('of %s', (_, thrown, expected) => {
    expect(describeFailure(thrown, false)).toEqual(expected);
  });

  it('has stack traces, with the cause, only where asked', () => {
    const thrown = new OperatorError('Invalid', 'outer', { cause: new Error('inner') });
    expect(describeFailure(thrown, false).text).toBe('outer');
    expect(describeFailure(thrown, true).text).toMatch(/^outer\nOperatorError: outer\n {4}at .*\nError: inner\n {4}at /s);
  });
});

describe('formatTable', () => {
  it('pads columns to their widest cell, and leaves no blanks at the end', () => {
    expect(
      formatTable(
        ['A', 'LONG'],
        [
          ['wider', 'x'],
          ['', 'y'],
        ],
      ),
    ).toBe('A       LONG\nwider   x\n        y\n');
  });
});
