import { pausedText, resumedText } from '../../../operator/cli/cluster/lever-text';
import { leverInForce, leverOfAll } from '../../../operator/explain/levers';
import { loadBalancer, provider } from '../explain/objects';

const paused = (value: string): object => ({ metadata: { annotations: { 'cloud-operator.dev/pause': value } } });
const RESUMED = { taken: 'is no longer paused', done: 'goes on' };
const frozen = provider({ spec: { freeze: true } });

test('what was asked for is said where it is what is in force', () => {
  expect(pausedText('PauseAll', { lever: leverInForce(loadBalancer(paused('All')), provider()) })).toBe(
    'is paused: nothing of it is written to the cloud',
  );
  expect(pausedText('PauseUpdates', { lever: leverInForce(loadBalancer(paused('Updates')), provider()) })).toBe(
    'is paused: only its targets follow the Nodes',
  );
  expect(resumedText(RESUMED, { lever: leverInForce(loadBalancer(), provider()) })).toBe('goes on');
});

test.each([
  [
    'a freeze',
    leverInForce(loadBalancer(paused('Updates')), frozen),
    /^is paused, but another lever is in force: CloudProvider local is frozen/,
  ],
  [
    'a freeze, of all',
    leverOfAll(provider({ ...paused('Updates'), spec: { freeze: true } })),
    /another lever is in force: CloudProvider local is frozen/,
  ],
  [
    'a pause of the CloudProvider that holds more',
    leverInForce(loadBalancer(paused('Updates')), provider(paused('All'))),
    /another lever is in force: paused by annotation \S+ of CloudProvider local: All/,
  ],
])('a pause of updates says what holds more: %s', (_, lever, text) => {
  expect(pausedText('PauseUpdates', { lever })).toMatch(text);
});

test.each([
  ['a freeze', leverInForce(loadBalancer(), frozen), /^is no longer paused, but another lever is in force: CloudProvider local is frozen/],
  ['Observe', leverInForce(loadBalancer({ spec: { managementPolicy: 'Observe' } }), provider()), /in force: only observed/],
  ['Observe, of all', leverOfAll(provider({ spec: { managementPolicy: 'Observe' } })), /only observed .* of CloudProvider local/],
])('what is resumed says what holds it still: %s', (_, lever, text) => {
  expect(resumedText(RESUMED, { lever })).toMatch(text);
});

test('who may not read the CloudProvider is told that it may hold more', () => {
  const lever = leverInForce(loadBalancer(paused('Updates')), undefined);
  const note = ', unless CloudProvider aws holds it, which you may not read';
  expect(pausedText('PauseUpdates', { lever, unread: 'aws' })).toBe(`is paused: only its targets follow the Nodes${note}`);
  expect(resumedText(RESUMED, { lever: undefined, unread: 'aws' })).toBe(`goes on${note}`);
});
