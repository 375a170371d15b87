import { runRounds } from '../../faults/main';

/** Two of the rounds that `npm run test:faults` runs by the dozen; their seed is one with kills, frozen processes and lost answers. */
test('after changes and faults everything is as wanted', async () => {
  const log: string[] = [];
  const verdicts = await runRounds(
    { rounds: 2, seed: 179, from: 1, keep: false },
    (line) => void log.push(line),
    new AbortController().signal,
  );
  const violations = verdicts.filter(({ problems }) => problems.length > 0);
  if (violations.length > 0) throw new Error(log.join('\n'));
  expect(verdicts).toHaveLength(2);
}, 300_000);
