import { optionsOf } from '../../../operator/cli/operator-options';
import { parseFlags } from '../../../operator/flags/parse';
import { FLAGS, type FlagValues } from '../../../operator/flags/table';
import { validateFlags } from '../../../operator/flags/validate';

function options(...args: string[]): ReturnType<typeof optionsOf> {
  const values = parseFlags(FLAGS, args).values as FlagValues;
  validateFlags(values);
  return optionsOf(values, { pulumi: '/pulumi' });
}

test('a lease must outlast its renew deadline by more than what a worker may go on for that can’t be reached (difference from upstream)', () => {
  const message = '--leader-elect-lease-duration must be more than 3 s longer than --leader-elect-renew-deadline';
  expect(() => options('--leader-elect-lease-duration=15s', '--leader-elect-renew-deadline=13s')).toThrow(message);
  expect(() => options('--leader-elect-lease-duration=13s')).toThrow(message);
  expect(options('--leader-elect-lease-duration=14s').leaderElection).toMatchObject({ leaseDurationMs: 14_000, renewDeadlineMs: 10_000 });
  expect(options('--leader-elect-lease-duration=12s', '--leader-elect=false').leaderElection).toBeUndefined();
});
