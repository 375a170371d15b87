import { isUpgrade, type StoredProgram } from '../../../operator/updates/upgrade';
import { updateHash } from '../../../operator/updates/update-hash';
import type { StackUpdate } from '../../../operator/updates/update';

const update: StackUpdate = {
  stack: 's',
  project: 'p',
  providerName: 'local',
  providerKind: 'local',
  programVersion: '2',
  clusterID: 'c',
  inputs: { rendered: 2 },
  accepted: { uid: { port: 80 } },
  settings: {},
};
const older: StoredProgram = {
  programVersion: '1',
  inputsHash: updateHash({ ...update, programVersion: '1', inputs: { rendered: 1 } }),
  open: false,
  accepted: { uid: { port: 80 } },
};

test.each<[string, boolean, { [K in keyof StackUpdate]?: StackUpdate[K] | undefined }, Partial<StoredProgram>]>([
  ['another program, whatever it renders from the same members', true, {}, {}],
  ['the same program', false, { programVersion: '1' }, {}],
  ['a change of a member with it', false, { accepted: { uid: { port: 81 } } }, {}],
  ['a deletion', false, { inputs: undefined }, {}],
  ['a forced run', false, { force: true }, {}],
  ['an approved plan', false, { approved: 'hash' }, {}],
  ['a stack that an update left open', false, {}, { open: true }],
  ['a stack that was found changed', false, {}, { inputsHash: '' }],
  ['other inputs, where no members are known', false, { accepted: undefined }, {}],
  ['the same inputs, where no members are known', true, { accepted: undefined, inputs: { rendered: 1 } }, {}],
])('%s: %s', (_what, expected, asked, stored) => {
  expect(isUpgrade({ ...update, ...asked } as StackUpdate, { ...older, ...stored })).toBe(expected);
});

test('a stack without state is no upgrade', () => {
  expect(isUpgrade(update, undefined)).toBe(false);
});
