import { OperatorError } from '../../operator/base/errors';
import { type Flags, parseFlags } from '../harness/command-options';

export interface Options {
  rounds: number;
  seed: number;
  /** The first round that is run; the world before it is made at once. */
  from: number;
  /** How many run in each round; absent = two with leader election in every tenth, one in the others. */
  operators?: 1 | 2;
  /** Leaves the folder of every failed system, with its logs. */
  keep: boolean;
}

const SEEDS = 1_000_000;

export const HELP = `Usage: npm run test:faults -- [options]

Rounds of changes and faults at random moments against a whole system of real processes. Exit code 1 when a round has found a violation,
or when in a thousand rounds or more some kind of fault has met some phase less than three times.

Options:
  --rounds <n>     how many rounds (default: 40)
  --seed <n>       what is drawn; the same seed gives the same rounds (default: another one each time, which is printed)
  --from <n>       the first round that is run; the world before it is made at once (default: 1)
  --operators <n>  1, or 2 with leader election, in every round (default: 2 in every tenth round)
  --keep           leave the folder of every failed system, with its logs
  -h, --help       show this help
`;

const FLAGS = {
  rounds: { type: 'string', default: '40' },
  seed: { type: 'string' },
  from: { type: 'string', default: '1' },
  operators: { type: 'string' },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} satisfies Flags;

/**
 * @returns undefined when the help was asked for
 * @throws OperatorError Invalid with one line about the argument at fault
 */
export function optionsOf(args: readonly string[], random: () => number): Options | undefined {
  const values = parseFlags(args, FLAGS);
  if (values.help) return undefined;
  return {
    rounds: wholeNumber('--rounds', values.rounds, 1),
    seed: values.seed === undefined ? Math.floor(random() * SEEDS) : wholeNumber('--seed', values.seed, 0),
    from: wholeNumber('--from', values.from, 1),
    keep: values.keep,
    ...(values.operators === undefined ? {} : { operators: oneOrTwo(values.operators) }),
  };
}

function wholeNumber(flag: string, text: string, least: number): number {
  if (/^[0-9]{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new OperatorError('Invalid', `${flag} must be a whole number from ${least} on, not "${text}"`);
}

function oneOrTwo(text: string): 1 | 2 {
  if (text === '1') return 1;
  if (text === '2') return 2;
  throw new OperatorError('Invalid', `--operators must be 1 or 2, not "${text}"`);
}
