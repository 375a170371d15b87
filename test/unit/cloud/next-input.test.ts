import type { Replacement } from '../../../providers/provider';
import type { ConnectedCloud } from '../../../operator/cloud/providers/registry';
import { nextOf } from '../../../operator/cloud/stack/next-input';
import type { Member, StackKind } from '../../../operator/cloud/stack/stack-kind';

const [ACCEPTED, WANTED] = [80, 81].map((port) => ({ uid: 'u', name: 'web', port }));

/** What comes next of a member whose change is this replacement. */
function next(replacement: Replacement | undefined): ReturnType<typeof nextOf> {
  const kind = { inputOf: () => WANTED, replacement: () => replacement } as unknown as StackKind<Member>;
  return nextOf(kind, {} as Member, {} as ConnectedCloud, { accepted: ACCEPTED, origin: undefined, left: () => 0 });
}

test('a replacement that can’t be made at all says why, and keeps what serves', () => {
  const refused = 'the address is not free';
  expect(next({ why: 'the scheme', gap: true, refused }).obstacle).toEqual({ state: 'Stalled', reason: 'Invalid', message: refused });
  expect(next({ why: 'the scheme', gap: true })).toEqual({ input: WANTED, replacement: { why: 'the scheme', gap: true } });
  expect(next(undefined)).toEqual({ input: WANTED });
});
