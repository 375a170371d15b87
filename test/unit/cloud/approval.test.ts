import { lossIn, whyApproval, type ApprovalFacts } from '../../../operator/cloud/plan/approval';
import { approvalMessage, planSaidIn } from '../../../operator/cloud/plan/approval-message';
import { cutIn, lossBy } from '../../../operator/cloud/plan/cut';
import type { KubeObject } from '../../../operator/kube/object';

const candidate = { uid: 'u', name: 'web', port: 81 };
const accepted = { uid: 'u', name: 'web', port: 80 };
const replacement = { why: 'the scheme changes', gap: false };

function why(facts: Partial<ApprovalFacts<string>> = {}): string | undefined {
  return whyApproval({ part: { object: 'o', candidate, accepted }, policy: undefined, replacement: undefined, pending: false, ...facts });
}

test.each<[string, string, string, string | undefined]>([
  ['a load balancer that is replaced', 'replace', 'LoadBalancer', 'replaces LoadBalancer web'],
  ['an address that is replaced', 'replace', 'Address', 'replaces Address web'],
  ['a load balancer that goes', 'delete', 'LoadBalancer', 'deletes LoadBalancer web'],
  ['not a leftover that goes', 'delete', 'TargetPool', undefined],
  ['not a change in place', 'update', 'LoadBalancer', undefined],
])('where the state was lost, what a plan takes away: %s', (_what, op, type, says) => {
  const operations = [{ op, type: `local:index:${type}`, name: 'web', urn: 'u' }] as Parameters<typeof lossIn>[0];
  const loss = lossIn(operations, 'the state of what serves was lost');
  if (says === undefined) expect(loss).toBeUndefined();
  else expect(loss?.why).toContain(says);
});

describe('what other settings, or a newer program, take away', () => {
  type Operation = Parameters<typeof lossBy>[0];
  const operation = (op: Operation['op'], type: string, name = 'edge'): Operation => ({ op, type, name, urn: `urn::${name}` });
  const staying = ['web', 'api', 'db'].map((name) => ({ uid: name, name, namespace: 'shop' }));
  const cut = (operations: Operation[], owners: Record<string, string[]> = {}): ReturnType<typeof cutIn> =>
    cutIn({
      ...{ why: 'the settings have changed', operations, staying, askable: new Set(['web', 'api']) },
      ...{ lossBy, ownersOf: ({ name }) => owners[name] ?? [] },
    });

  test.each<[string, Operation, string | undefined]>([
    ['a load balancer that is replaced', operation('replace', 'aws:lb/loadBalancer:LoadBalancer'), 'replaces LoadBalancer edge'],
    ['an address that is replaced', operation('replace', 'azure-native:network:PublicIPAddress'), 'replaces PublicIPAddress edge'],
    ['a load balancer that goes', operation('delete', 'x:index:LoadBalancer'), 'deletes LoadBalancer edge'],
    ['not our part of what is not ours alone', operation('replace', 'cloudoperator:azure:SecurityRules'), undefined],
    ['not a rule that goes', operation('delete', 'x:index:Rule'), undefined],
    ['not a change in place', operation('update', 'x:index:LoadBalancer'), undefined],
  ])('is %s', (_what, of, says) => {
    expect(lossBy(of)).toBe(says);
  });

  test('is everybody’s where nobody is named, and names all', () => {
    const found = cut([operation('replace', 'x:LoadBalancer'), operation('update', 'x:LoadBalancer', 'other')]);
    expect([...(found?.members ?? [])]).toEqual(['web', 'api', 'db']);
    expect(found?.replacement.why).toBe(
      'the settings have changed: the update replaces LoadBalancer edge, which cuts shop/api, shop/db, shop/web',
    );
    expect(found?.silent).toBe('shop/db');
    // What is on it goes with it.
    const both = cut([operation('replace', 'x:Listener', 'http'), operation('replace', 'x:LoadBalancer')]);
    expect(both?.replacement.why).toContain('the update replaces LoadBalancer edge (and 1 more), which cuts');
  });

  test('is of those whose it is, and of nobody where they go', () => {
    const both = [operation('replace', 'x:Address', 'a'), operation('replace', 'x:Address', 'b')];
    const found = cut(both, { a: ['web'], b: ['gone'] });
    expect([...(found?.members ?? [])]).toEqual(['web']);
    expect(found?.replacement.why).toContain('the update replaces Address a, which cuts shop/web');
    expect(found?.silent).toBeUndefined();
    expect(cut(both, { a: ['gone'], b: ['gone'] })).toBeUndefined();
    expect(cut([operation('update', 'x:LoadBalancer')])).toBeUndefined();
  });

  test('of very many a few are named; each of them says so itself', () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ uid: `${index}`, name: `s${10 + index}` }));
    const askable = new Set(many.map(({ uid }) => uid));
    const operations = [operation('replace', 'x:LoadBalancer')];
    const found = cutIn({ why: 'x', operations, staying: many, askable, lossBy, ownersOf: () => [] });
    expect(found?.replacement.why).toMatch(/cuts s10, .*, s29 and 5 more$/);
    expect(found?.members.size).toBe(25);
  });
});

describe('a person is asked', () => {
  const MANUAL = { approval: 'Manual', replace: 'Allow' } as const;
  const ALLOW = { approval: 'Auto', replace: 'Allow' } as const;

  test.each<[string, Partial<ApprovalFacts<string>>, string | undefined]>([
    ['not for a change in place', {}, undefined],
    ['for a replacement', { replacement }, 'the scheme changes, and spec.updatePolicy.replace is Never'],
    ['not for a replacement that is allowed', { replacement, policy: ALLOW }, undefined],
    ['for every change with Manual', { policy: MANUAL }, 'spec.updatePolicy.approval is Manual'],
    [
      'for a replacement with Manual, and told of that',
      { replacement, policy: MANUAL },
      'the scheme changes, and spec.updatePolicy.approval is Manual',
    ],
    ['not for what was approved and stopped halfway', { replacement, underway: true }, undefined],
    ['for a creation with Manual', { policy: MANUAL, part: { object: 'o', candidate } }, 'spec.updatePolicy.approval is Manual'],
    ['not where nothing changes', { policy: MANUAL, part: { object: 'o', candidate, accepted: candidate } }, undefined],
    [
      'for healing with Manual',
      { policy: MANUAL, pending: true, part: { object: 'o', candidate, accepted: candidate } },
      'spec.updatePolicy.approval is Manual',
    ],
    ['not for healing otherwise', { pending: true, part: { object: 'o', candidate, accepted: candidate } }, undefined],
    [
      'for healing with Manual of one whose spec can’t be tried',
      { policy: MANUAL, pending: true, part: { object: 'o', accepted } },
      'spec.updatePolicy.approval is Manual',
    ],
    ['not for what a lever holds', { policy: MANUAL, pending: true, part: { object: 'o', accepted, held: true } }, undefined],
    ['not where there is nothing of it', { policy: MANUAL, pending: true, part: { object: 'o' } }, undefined],
    ['not where the change waits for something else', { policy: MANUAL, part: { object: 'o', accepted } }, undefined],
  ])('%s', (_, facts, expected) => {
    expect(why(facts)).toBe(expected);
  });

  test('not for what was promised, but for anything else in its place', () => {
    const made = { ...candidate, generation: 1 };
    const promised = { ...made, promised: true };
    expect(why({ policy: MANUAL, part: { object: 'o', candidate: made, accepted: promised } })).toBeUndefined();
    const other = { ...made, port: 82 };
    expect(why({ policy: MANUAL, part: { object: 'o', candidate: other, accepted: promised } })).toBeDefined();
  });

  test('not for the end of a replacement', () => {
    const held = { ...candidate, generation: 1, retiring: { input: accepted, until: '2026-01-01T00:00:00Z' } };
    const left = { ...candidate, generation: 1 };
    expect(why({ policy: MANUAL, part: { object: 'o', candidate: left, accepted: held } })).toBeUndefined();
  });
});

test('the message says why, what, where to see it and how to approve it', () => {
  const object = { kind: 'CloudLoadBalancer', metadata: { name: 'web', namespace: 'shop' } } as KubeObject;
  const of = { stack: 's', object, hash: 'abc', summary: '1 to create', why: 'it is so', given: undefined };
  expect(approvalMessage(of)).toBe(
    'Plan abc waits for approval, since it is so: 1 to create. To see all of it: kubectl get cloudstack s -o yaml. ' +
      'To approve it: kubectl annotate cloudloadbalancer -n shop web --overwrite cloud-operator.dev/approve=abc',
  );
  expect(approvalMessage({ ...of, given: 'old' })).toContain('The annotation approves old, which is not this plan.');
});

test('from a condition the plan is read again, whatever else stands there', () => {
  const object = { kind: 'CloudLoadBalancer', metadata: { name: 'web', namespace: 'shop' } } as KubeObject;
  const of = { stack: 's', object, hash: 'abc', summary: '1 to create', why: 'it is so: a. b', given: undefined };
  const said = { stack: 's', hash: 'abc', reason: 'it is so: a. b: 1 to create' };
  expect(planSaidIn(approvalMessage(of))).toEqual(said);
  expect(planSaidIn(`Port 80 is taken. Besides: ${approvalMessage({ ...of, given: 'old', closed: 'no window is open' })}`)).toEqual(said);
  expect(planSaidIn('2 resources in the cloud')).toBeUndefined();
});
