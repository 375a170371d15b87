import { ApprovalGate } from '../../../operator/cloud/plan/approval-gate';
import type { Member } from '../../../operator/cloud/stack/stack-kind';
import type { UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import type { Plan } from '../../../operator/updates/plan';

const object = { kind: 'CloudLoadBalancer', metadata: { uid: 'u', name: 'web', namespace: 'shop' }, spec: { provider: 'p' } } as Member;
const accepted = { uid: 'u', name: 'web', port: 80 };

/** One member whose change must be approved, and what a preview of it finds. */
async function open(candidate: object, operations: object[]) {
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
  const parts = [{ object, accepted, candidate: candidate as typeof accepted }];
  const plan: UpdatePlan<Member> = { kind: 'Update', engine: true, conflicts: false, ...none, parts };
  const events: string[] = [];
  const gate = new ApprovalGate<Member>({ event: (_object, _type, reason) => void events.push(reason) });
  const counts = { create: 0, update: operations.length, replace: 0, delete: 0, same: 1 };
  const { run, waiting } = await gate.open({
    ...{ stack: 's', plan, why: () => 'it is so', serving: () => true, unprotected: () => Promise.resolve(undefined) },
    preview: () => Promise.resolve({ hash: 'h', counts, operations } as unknown as Plan),
  });
  return { run, waiting: waiting.map(({ hash }) => hash), events };
}

test.each<[string, object, object[], Awaited<ReturnType<typeof open>>]>([
  ['a change', { ...accepted, port: 81 }, [{ op: 'update' }], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['a change that needs nothing in the cloud', { ...accepted, port: 81 }, [], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['another program that makes something else', accepted, [{ op: 'update' }], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['another program that makes the same', accepted, [], { run: true, waiting: [], events: [] }],
])('%s', async (_what, candidate, operations, expected) => {
  expect(await open(candidate, operations)).toEqual(expected);
});
