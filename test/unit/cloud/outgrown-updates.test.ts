import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import { OutgrownUpdates, StateOutgrown } from '../../../operator/cloud/stack/outgrown-updates';
import type { StackUpdate } from '../../../operator/updates/update';

const LARGE = new OperatorError('Quota', 'too large', { reason: 'StateTooLarge', remedy: 'split it' });
const UPDATE: StackUpdate = {
  ...{ stack: 's', project: 'x', providerName: 'p', providerKind: 'local', programVersion: '1', clusterID: 'c', settings: {} },
  inputs: { size: 1, nodes: ['n1'] },
};
const bare = ({ size = 0 }: JsonObject): JsonObject => ({ size });
const use = (digest: string): Partial<StackUpdate> => ({
  extension: { role: 'transform', module: { path: '/x.ts', digest }, loadBalancers: [] },
});

test.each<[boolean, string, Partial<StackUpdate>]>([
  [false, 'the same', {}],
  [false, 'the same with new credentials', { settings: { token: 'another' } }],
  [false, 'the same with other Nodes', { inputs: { size: 1, nodes: ['n1', 'n2'] } }],
  [true, 'other inputs', { inputs: { size: 2, nodes: ['n1'] } }],
  [true, 'another program', { programVersion: '2' }],
  [true, 'another extension', use('new')],
  [true, 'another stack', { stack: 'other' }],
])('may be tried: %s for %s', (may, _what, change) => {
  const updates = new OutgrownUpdates();
  expect(updates.failed({ ...UPDATE, ...use('old') }, LARGE, bare)).toBeInstanceOf(StateOutgrown);
  const again = (): void => updates.assertFits({ ...UPDATE, ...use('old'), ...change }, bare);
  if (may) expect(again).not.toThrow();
  else expect(again).toThrow(StateOutgrown);
});

test('says what to do, and who has it tried again; it stays a limit that is reached', () => {
  const failure = new OutgrownUpdates().failed(UPDATE, LARGE, bare);
  expect(failure).toMatchObject({ code: 'Quota', reason: 'StateTooLarge', message: 'too large', terminal: true });
  expect(failure.remedy).toMatch(/^split it\. The same is not tried again by itself, .*\(kubectl cloud reconcile\)$/);
});

test('other failures are nothing to remember, and a stack that is gone is forgotten', () => {
  const updates = new OutgrownUpdates();
  const other = new OperatorError('Quota', 'no more addresses');
  expect(updates.failed(UPDATE, other, bare)).toBe(other);
  expect(() => updates.assertFits(UPDATE, bare)).not.toThrow();
  updates.failed(UPDATE, LARGE, bare);
  updates.forget('s');
  expect(() => updates.assertFits(UPDATE, bare)).not.toThrow();
});

test('of each stack no more are kept than one bisection has steps', () => {
  const updates = new OutgrownUpdates();
  const sized = (size: number): StackUpdate => ({ ...UPDATE, inputs: { size } });
  for (let size = 0; size <= 64; size++) updates.failed(sized(size), LARGE, bare);
  expect(() => updates.assertFits(sized(0), bare)).not.toThrow();
  for (const size of [1, 64]) expect(() => updates.assertFits(sized(size), bare)).toThrow(StateOutgrown);
});
