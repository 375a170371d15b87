import { isUpgrade, type StoredProgram } from '../../../operator/updates/upgrade';
import type { ExtensionModule } from '../../../operator/updates/extension-module';
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

/** The update with an extension whose digest this is. */
function transformed(digest: string): StackUpdate {
  const module: ExtensionModule = { path: '/x.ts', digest };
  return { ...update, extension: { role: 'transform', module, loadBalancers: [] } };
}

function storedOf(made: StackUpdate, transform?: string): StoredProgram {
  const { accepted = {}, programVersion } = made;
  return { programVersion, accepted, inputsHash: updateHash(made), open: false, ...(transform === undefined ? {} : { transform }) };
}

test.each<[string, boolean, StackUpdate, StoredProgram]>([
  ['another extension', true, transformed('new'), storedOf(transformed('old'), 'old')],
  ['the first extension', true, transformed('new'), storedOf(update)],
  ['no extension any more', true, update, storedOf(transformed('old'), 'old')],
  ['another one than a version had that did not write it down', true, transformed('new'), storedOf(transformed('old'))],
  ['the one that such a version had', false, transformed('old'), storedOf(transformed('old'))],
  ['the same extension', false, transformed('old'), storedOf(transformed('old'), 'old')],
  ['the same extension, another CloudProvider', false, { ...transformed('old'), inputs: {} }, storedOf(transformed('old'), 'old')],
  ['a member’s change with another extension', false, { ...transformed('new'), accepted: {} }, storedOf(transformed('old'), 'old')],
])('%s: %s', (_what, expected, asked, stored) => {
  expect(isUpgrade(asked, stored)).toBe(expected);
});

test('a stack without state is no upgrade', () => {
  expect(isUpgrade(update, undefined)).toBe(false);
});
