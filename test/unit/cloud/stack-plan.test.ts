import { planStack, type MemberFacts } from '../../../operator/cloud/stack-plan';

const live = (object: string, extra: Partial<MemberFacts<string>> = {}): MemberFacts<string> => ({
  object,
  deleting: false,
  paused: false,
  problems: [],
  serving: false,
  ...extra,
});
const invalid = { severity: 'Error' as const, field: 'spec.x', value: '1', message: 'spec.x is wrong' };
const facts = (members: MemberFacts<string>[], extra: { known?: boolean; frozen?: boolean } = {}) => ({
  members,
  known: true,
  frozen: false,
  provider: 'p',
  ...extra,
});

describe('planStack', () => {
  test('nothing wanted, nothing known → Forget', () => {
    expect(planStack(facts([], { known: false }))).toEqual({ kind: 'Forget' });
  });
  test('state without members → Keep: what nobody deleted is not destroyed', () => {
    expect(planStack(facts([]))).toEqual({ kind: 'Keep' });
  });
  test('live and leaving members → Update with the live ones', () => {
    expect(planStack(facts([live('a'), live('b', { deleting: true })]))).toEqual({ kind: 'Update', live: ['a'], leaving: ['b'] });
  });
  test('only leaving members → Destroy, though they are invalid', () => {
    expect(planStack(facts([live('a', { deleting: true, problems: [invalid] })]))).toEqual({ kind: 'Destroy', leaving: ['a'] });
  });
  test('an invalid candidate → Hold, Stalled, and the last good version keeps serving', () => {
    const plan = planStack(facts([live('a', { problems: [invalid], serving: true })]));
    expect(plan).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { state: 'Stalled', reason: 'Invalid', serving: false } }] });
    expect(JSON.stringify(plan)).toContain('The last good version keeps serving');
  });
  test('warnings hold nothing', () => {
    expect(planStack(facts([live('a', { problems: [{ ...invalid, severity: 'Warning' }] })])).kind).toBe('Update');
  });
  test('frozen provider → Hold, even a deletion', () => {
    expect(planStack(facts([live('a', { deleting: true })], { frozen: true }))).toMatchObject({ kind: 'Hold', verdicts: [{ verdict: { reason: 'Frozen' } }] });
  });
  test('paused member → Hold', () => {
    expect(planStack(facts([live('a', { paused: true, serving: true })]))).toMatchObject({
      kind: 'Hold',
      verdicts: [{ verdict: { reason: 'Paused', serving: true } }],
    });
  });
});
