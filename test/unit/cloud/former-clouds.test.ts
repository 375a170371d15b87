import { cloudProviderSpec } from '../../../crds';
import { formerCloudsKept, gapHeld, stackHeld } from '../../../operator/cloud/stack/former-clouds';
import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';

const cloud = (name: string, more: object = {}): ConnectedCloud =>
  ({ name, spec: cloudProviderSpec.parse({ custom: { kind: 'any' }, ...more }) }) as unknown as ConnectedCloud;
const CLOUDS = [cloud('free'), cloud('rests'), cloud('seen', { managementPolicy: 'Observe' }), cloud('iced', { freeze: true })];
const registry = { get: (name: string) => find(name), pauseOf: (name: string) => (name === 'rests' ? 'All' : undefined) };
const find = (name: string): ConnectedCloud | undefined => CLOUDS.find((one) => one.name === name);

/** What is said of an object that was in stacks of these CloudProviders before. */
function said(...formers: string[]): ReturnType<typeof formerCloudsKept> {
  const index = new StackIndex();
  for (const provider of formers) index.assign('demo/web', `lb-${provider}`);
  index.assign('demo/web', 'lb-now');
  return formerCloudsKept('demo/web', { index, record: { providerOf: (stack) => stack.slice(3) }, registry });
}

test('an object says which cloud that it has left keeps what it had, why, and what to do', () => {
  expect(said('free')).toEqual([]);
  const [warning, ...others] = said('seen');
  expect(others).toEqual([]);
  expect(warning).toMatchObject({ type: 'FormerCloudKept', reason: 'Observed' });
  expect(warning?.message).toContain('CloudProvider seen is only observed (spec.managementPolicy)');
  expect(warning?.message).toContain('CloudStack lb-seen');
  expect(warning?.message).toContain(`kubectl patch cloudprovider seen --type merge -p '{"spec":{"managementPolicy":null}}'`);
  expect(said('iced')[0]).toMatchObject({ reason: 'Frozen', message: expect.stringContaining('"freeze":false') as string });
  expect(said('rests')[0]).toMatchObject({
    reason: 'Paused',
    message: expect.stringContaining('kubectl annotate cloudprovider rests cloud-operator.dev/pause-') as string,
  });
  expect(said('iced', 'seen')).toHaveLength(1);
});

test('a move that deletes first says that nothing is deleted there, and is no silence', () => {
  expect(gapHeld('it moves', find('free'), undefined)).toBeUndefined();
  expect(gapHeld('it moves', undefined, undefined)).toBeUndefined();
  expect(gapHeld('it moves', find('rests'), 'Updates')).toMatchObject({ state: 'Stalled', reason: 'Paused' });
  expect(gapHeld('it moves', find('seen'), undefined)).toMatchObject({
    state: 'Stalled',
    reason: 'Observed',
    message: expect.stringMatching(
      /^it moves\. But CloudProvider seen is only observed .* To go on: kubectl patch cloudprovider seen /,
    ) as string,
  });
});

test('a stack without members says why it stays: for Observe it is ready, for a freeze or a pause it waits', () => {
  expect(stackHeld(find('free'), registry)).toBeUndefined();
  expect(stackHeld(find('rests'), registry)).toMatchObject({ state: 'Reconciling', reason: 'Paused' });
  expect(stackHeld(find('seen'), registry)).toMatchObject({ state: 'Ready', reason: 'Observed' });
  expect(stackHeld(find('iced'), registry)).toMatchObject({ state: 'Reconciling', reason: 'Frozen' });
});
