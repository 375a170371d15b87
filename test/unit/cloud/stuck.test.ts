import { OperatorError } from '../../../operator/base/errors';
import type { MemberInput } from '../../../operator/cloud/stack/member-input';
import type { Member } from '../../../operator/cloud/stack/stack-kind';
import type { UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import { stuckIn } from '../../../operator/cloud/stack/stuck';

const member = (uid: string): Member => ({ kind: 'X', metadata: { uid, name: uid }, spec: { provider: 'p' } }) as unknown as Member;
const inputOf = ({ metadata: { uid = '' } }: Member): MemberInput => ({ uid, name: uid, namespace: 'default' });
const none = { released: [], missing: [], elsewhere: [], departing: [] };

/** `a` and `b` leave, `c` stays; a resource is named after its owner. */
function stuck(...undeleted: string[]): (string | undefined)[] {
  const c = member('c');
  const parts = [{ object: c, candidate: inputOf(c), accepted: inputOf(c) }];
  const plan: UpdatePlan<Member> = { kind: 'Update', engine: true, conflicts: false, ...none, parts, leaving: [member('a'), member('b')] };
  const ownersOf = ({ resource = '' }: OperatorError, inputs: MemberInput[]): string[] =>
    inputs.filter(({ uid }) => resource.startsWith(`${uid}-`)).map(({ uid }) => uid);
  return stuckIn(new OperatorError('Credentials', 'locked', { undeleted }), plan, { inputOf, ownersOf }).map(
    ({ metadata }) => metadata.uid,
  );
}

test('of those that leave only those wait whose things are still there; all, where nobody knows whose they are', () => {
  expect(stuck('a-ip')).toEqual(['a']);
  expect(stuck('c-ip')).toEqual([]);
  expect(stuck('c-ip', 'b-ip')).toEqual(['b']);
  expect(stuck('a-ip', 'shared')).toEqual(['a', 'b']);
});
