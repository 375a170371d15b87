import { OperatorError } from '../../../operator/base/errors';
import { ApprovalGate } from '../../../operator/cloud/plan/approval-gate';
import type { Verdict } from '../../../operator/cloud/conditions';
import type { Member } from '../../../operator/cloud/stack/stack-kind';
import type { UpdatePlan } from '../../../operator/cloud/stack/stack-parts';
import type { Plan } from '../../../operator/updates/plan';

const object = { kind: 'CloudLoadBalancer', metadata: { uid: 'u', name: 'web', namespace: 'shop' }, spec: { provider: 'p' } } as Member;
const accepted = { uid: 'u', name: 'web', port: 80 };
const INVALID: Verdict = { state: 'Stalled', reason: 'Invalid', message: 'spec.x is wrong' };

interface Wait {
  why?: string;
  closed?: string;
  /** The annotation. */
  approve?: string;
  /** Why it can't be planned. */
  error?: OperatorError;
}

/** One member whose change must be approved, and what a preview of it finds. */
async function open(candidate: object | undefined, operations: object[], { why, closed, approve, error }: Wait = { why: 'it is so' }) {
  const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
  const annotations = approve === undefined ? {} : { annotations: { 'cloud-operator.dev/approve': approve } };
  const annotated = { ...object, metadata: { ...object.metadata, ...annotations } };
  const wants = candidate === undefined ? { verdict: INVALID } : { candidate: candidate as typeof accepted };
  const parts = [{ object: annotated, accepted, ...wants }];
  const plan: UpdatePlan<Member> = { kind: 'Update', engine: true, conflicts: false, ...none, parts };
  const events: string[] = [];
  const gate = new ApprovalGate<Member>({ event: (_object, _type, reason) => void events.push(reason) });
  const counts = { create: 0, update: operations.length, replace: 0, delete: 0, same: 1 };
  const {
    plan: left,
    run,
    waiting,
    approved,
  } = await gate.open({
    ...{ stack: 's', plan, why: () => why, closed: () => closed, serving: () => true, unprotected: () => Promise.resolve(undefined) },
    ...{ cut: () => false, isOwn: () => true, unplanned: () => undefined },
    preview: () => (error === undefined ? Promise.resolve({ hash: 'h', counts, operations } as unknown as Plan) : Promise.reject(error)),
  });
  const says = left.parts[0]?.verdict;
  return { run, waiting: waiting.map(({ hash }) => hash), events, ...(says && { says: says.message }), ...(approved && { approved }) };
}

test.each<[string, object, object[], Awaited<ReturnType<typeof open>>]>([
  ['a change', { ...accepted, port: 81 }, [{ op: 'update' }], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['a change that needs nothing in the cloud', { ...accepted, port: 81 }, [], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['another program that makes something else', accepted, [{ op: 'update' }], { run: false, waiting: ['h'], events: ['AwaitingApproval'] }],
  ['another program that makes the same', accepted, [], { run: true, waiting: [], events: [] }],
])('%s', async (_what, candidate, operations, expected) => {
  expect(await open(candidate, operations)).toMatchObject(expected);
});

test.each(['Invalid', 'Taken'] as const)(
  'a change that can’t be planned because of itself (%s) says so, and holds up nobody',
  async (code) => {
    const error = new OperatorError(code, 'it is on instance i-0a');
    expect(await open({ ...accepted, port: 81 }, [], { why: 'it is so', error })).toEqual({
      ...{ run: false, waiting: [], events: [] },
      says: 'it is on instance i-0a. The last good version keeps serving.',
    });
  },
);

describe('one whose spec can’t be tried: what it has already', () => {
  const update = [{ op: 'update' }];

  test('is not changed before somebody has approved that, and both are said', async () => {
    const asked = await open(undefined, update);
    expect(asked).toMatchObject({ run: false, waiting: ['h'], events: ['AwaitingApproval'] });
    expect(asked.says).toMatch(/^spec\.x is wrong\. Besides: Plan h waits for approval/);
    expect(await open(undefined, update, { why: 'it is so', approve: 'h' })).toEqual({
      ...{ run: true, waiting: [], events: [], approved: 'h' },
      says: 'spec.x is wrong',
    });
  });

  test('waits for a window too', async () => {
    const { run, says } = await open(undefined, update, { closed: 'no window' });
    expect([run, says]).toEqual([
      false,
      'spec.x is wrong. Besides: what differs in the cloud, or a newer program would make otherwise, waits: no window',
    ]);
  });

  test('is left alone where a newer program makes the same', async () => {
    expect(await open(undefined, [])).toMatchObject({ run: true, waiting: [], says: 'spec.x is wrong' });
  });
});

describe('while no maintenance window is open', () => {
  const change = { ...accepted, port: 81 };
  const update = [{ op: 'update' }];
  const closed = 'no window; the next one opens at noon';

  test('a change waits without a plan, and says until when', async () => {
    const says = `a change of its spec waits: ${closed}`;
    expect(await open(change, update, { closed })).toEqual({ run: false, waiting: [], events: ['AwaitingWindow'], says });
  });

  test('so does what nobody has changed in the spec', async () => {
    expect((await open(accepted, update, { closed })).says).toMatch(/^what differs in the cloud, or a newer program/);
  });

  test('a plan can be approved before, and is not carried out before', async () => {
    const asked = await open(change, update, { why: 'it is so', closed });
    expect(asked).toMatchObject({ run: false, waiting: ['h'], events: ['AwaitingApproval'] });
    expect(asked.says).toContain(`Once approved, it waits: ${closed}.`);
    expect(await open(change, update, { why: 'it is so', closed, approve: 'h' })).toEqual({
      ...{ run: false, waiting: [], events: ['AwaitingWindow'] },
      says: `plan h is approved, and waits: ${closed}`,
    });
    expect(await open(change, update, { why: 'it is so', approve: 'h' })).toMatchObject({ run: true, approved: 'h' });
  });
});

describe('load balancers of one placement whose state was lost: none of them can be left out of an update', () => {
  const member = (name: string, approve?: string): Member => ({
    ...object,
    metadata: {
      ...object.metadata,
      uid: name,
      name,
      ...(approve !== undefined && { annotations: { 'cloud-operator.dev/approve': approve } }),
    },
  });

  /** @param gated who must be approved */
  async function openAll(objects: Member[], gated: string[], { closed, open }: { closed?: string; open?: string } = {}) {
    const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
    const parts = objects.map((one) => ({ object: one, candidate: { uid: one.metadata.uid } as typeof accepted, standing: true as const }));
    const previewed: string[] = [];
    const gate = new ApprovalGate<Member>({ event: () => undefined });
    const { plan, run, approved } = await gate.open({
      ...{ stack: 's', plan: { kind: 'Update', engine: true, conflicts: false, ...none, parts }, serving: () => true },
      why: ({ object: one }) => (gated.includes(one.metadata.uid) ? 'it is so' : undefined),
      closed: ({ object: one }) => (gated.includes(one.metadata.uid) ? closed : undefined),
      ...{ cut: () => false, isOwn: () => false, unplanned: () => undefined },
      unprotected: () => Promise.resolve(open),
      preview: (inputs) => {
        previewed.push(inputs.map(({ uid }) => uid).join());
        const operations = [{ op: 'replace', type: 'x:LoadBalancer', name: 'a' }];
        return Promise.resolve({
          hash: 'h',
          counts: { create: 0, update: 0, replace: 1, delete: 0, same: 1 },
          operations,
        } as unknown as Plan);
      },
    });
    const verdicts = plan.parts.map(({ candidate, verdict }) => (candidate === undefined ? verdict?.reason : 'made'));
    return { run, approved, verdicts, previewed };
  }

  test('one waits: so do all, and what it is asked for shows all of them', async () => {
    const waiting = { run: false, approved: undefined, verdicts: ['AwaitingApproval', 'StackAwaitingApproval'], previewed: ['a,b'] };
    expect(await openAll([member('a'), member('b')], ['a'])).toEqual(waiting);
  });

  test('what the others wait for is told apart: approval, a window, or that nobody can approve', async () => {
    expect(await openAll([member('a', 'h'), member('b')], ['a'], { closed: 'no window is open' })).toMatchObject({
      ...{ run: false, verdicts: ['AwaitingWindow', 'AwaitingWindow'] },
    });
    expect(await openAll([member('a'), member('b')], ['a'], { open: 'no policy' })).toMatchObject({
      ...{ run: false, verdicts: ['ApprovalUnprotected', 'StackHeld'] },
    });
  });

  test('it is approved: all are made', async () => {
    expect(await openAll([member('a', 'h'), member('b')], ['a'])).toMatchObject({ run: true, approved: 'h', verdicts: ['made', 'made'] });
  });

  test('two wait, and one is approved: the other is not taken for it', async () => {
    expect(await openAll([member('a', 'h'), member('b')], ['a', 'b'])).toMatchObject({ run: false, approved: undefined });
    expect(await openAll([member('a', 'h'), member('b', 'h')], ['a', 'b'])).toMatchObject({ run: true, approved: 'h' });
  });
});

describe('two members of a stack, of which one must be approved and can’t be planned', () => {
  const member = (name: string): Member => ({ ...object, metadata: { ...object.metadata, uid: name, name } });
  const refused = (resource?: string): OperatorError =>
    new OperatorError('Credentials', 'no role on this address', resource === undefined ? {} : { resource });

  async function openBoth(error: OperatorError, { cut = false, names = ['a', 'b'] } = {}) {
    const none = { leaving: [], released: [], missing: [], elsewhere: [], departing: [] };
    const parts = names.map((name) => ({ object: member(name), candidate: { uid: name } as typeof accepted }));
    const gate = new ApprovalGate<Member>({ event: () => undefined });
    const { plan, run } = await gate.open({
      ...{ stack: 's', plan: { kind: 'Update', engine: true, conflicts: false, ...none, parts }, serving: () => false },
      ...{ closed: () => undefined, unprotected: () => Promise.resolve(undefined), preview: () => Promise.reject(error) },
      why: ({ object: { metadata } }) => (metadata.name === 'a' ? 'it is so' : undefined),
      cut: ({ object: { metadata } }) => cut && metadata.name === 'a',
      unplanned: () => undefined,
      isOwn: ({ resource }, inputs, part) => resource === `urn of ${part.object.metadata.uid}` && inputs.some(({ uid }) => uid === 'a'),
    });
    return { run, verdicts: plan.parts.map(({ candidate, verdict }) => (candidate === undefined ? verdict?.reason : 'made')) };
  }

  test('says so where the failure is its own, and the other one goes on', async () => {
    expect(await openBoth(refused('urn of a'))).toEqual({ run: true, verdicts: ['CredentialsRefused', 'made'] });
  });

  test('stops both where the failure names nobody, or the other one', async () => {
    await expect(openBoth(refused())).rejects.toThrow('no role on this address');
    await expect(openBoth(refused('urn of b'))).rejects.toThrow('no role on this address');
  });

  test('stops both where the plan is for what is cut: that is nobody’s own', async () => {
    await expect(openBoth(refused('urn of a'), { cut: true })).rejects.toThrow('no role on this address');
  });

  test('holds up nobody where it is alone', async () => {
    await expect(openBoth(refused('urn of a'), { names: ['a'] })).rejects.toThrow('no role on this address');
  });
});
