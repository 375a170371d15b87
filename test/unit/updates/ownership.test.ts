import { pluginOf } from '../../../operator/updates/ownership';
import { newRecord } from '../../../operator/updates/state/stack-record';
import type { StackUpdate } from '../../../operator/updates/update';

const update: StackUpdate = {
  ...{ stack: 's', project: 'p', providerName: 'aws', providerKind: 'aws', programVersion: '1', clusterID: 'c' },
  ...{ inputs: {}, settings: {} },
};
const official = { ...update, plugin: 'Official' as const };
const record = (made: StackUpdate) => newRecord({ ...made, holder: 'h' });

describe('who serves the cloud’s types to a stack', () => {
  test.each([
    ['what is asked for, where it is made', official, undefined, 'Official'],
    ['the operator, where nothing is asked for', update, undefined, undefined],
    ['what it was made with, whatever is asked for now', official, record(update), undefined],
    ['what it was made with, also when nothing is asked for any more', update, record(official), 'Official'],
  ])('%s', (_, asked, stored, expected) => {
    expect(pluginOf(asked, stored)).toBe(expected);
  });

  test('the official plugin takes over nothing, and the refusal says what to do', () => {
    expect(() => pluginOf({ ...official, adopts: true }, undefined)).toThrow(
      'stack s is made with the official plugin, which takes over nothing',
    );
    expect(pluginOf({ ...update, adopts: true }, undefined)).toBeUndefined();
  });
});
