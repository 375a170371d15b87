import { describeFailure } from '../../../operator/cli/failure';
import { HELP, optionsOf } from '../../faults/options';

const options = (...args: string[]) => optionsOf(args, () => 0.5);

describe('the command line of test:faults', () => {
  it.each([
    [[], { rounds: 40, seed: 500_000, from: 1, keep: false }],
    [['--rounds', '3', '--seed=0', '--from', '7', '--keep'], { rounds: 3, seed: 0, from: 7, keep: true }],
    [['--operators', '2'], { rounds: 40, seed: 500_000, from: 1, keep: false, operators: 2 }],
    [['--help'], undefined],
    [['-h', '--rounds', 'x'], undefined],
  ])('%j', (args, expected) => expect(options(...args)).toEqual(expected));

  it.each([
    [['--rounds', 'many'], '--rounds must be a whole number from 1 on, not "many"'],
    [['--rounds', '0'], '--rounds must be a whole number from 1 on, not "0"'],
    [['--seed', '1.5'], '--seed must be a whole number from 0 on, not "1.5"'],
    [['--from'], "Option '--from <value>' argument missing; see --help"],
    [['--operators', '3'], '--operators must be 1 or 2, not "3"'],
    [['--frob'], "Unknown option '--frob'; see --help"],
    [['more'], "Unexpected argument 'more'; see --help"],
  ])('%j is refused in one line, with exit code 2', (args, text) => {
    let thrown: unknown;
    try {
      options(...args);
    } catch (error) {
      thrown = error;
    }
    expect(describeFailure(thrown, false)).toEqual({ text: expect.stringContaining(text) as string, exitCode: 2 });
  });

  it('the help names every option', () => {
    for (const option of ['--rounds', '--seed', '--from', '--operators', '--keep', '--help']) expect(HELP).toContain(option);
  });
});
