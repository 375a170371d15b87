import type { WaitingPlan } from '../../../crds';
import { chosenPlans } from '../../../operator/cli/cluster/approve';
import { approvalMessage } from '../../../operator/cloud/plan/approval-message';
import type { StoredLoadBalancer, StoredStack } from '../../../operator/explain/kinds';
import { inNamespace, plansOf, planText } from '../../../operator/cli/cluster/waiting-plans';

const plan = (member: string, hash: string, part: Partial<WaitingPlan> = {}): WaitingPlan => ({
  ...{ member, hash, reason: 'spec.updatePolicy.approval is Manual', summary: '1 to update', operations: [] },
  ...part,
});
const stack = (name: string, kind: string, ...plans: WaitingPlan[]): StoredStack =>
  ({ metadata: { name }, spec: { kind }, status: { plans } }) as unknown as StoredStack;

const plans = plansOf([
  stack('routes', 'Routes', plan('n1', 'c')),
  stack('lb', 'LoadBalancer', plan('shop/web', 'a'), plan('shop/api', 'b')),
  stack('lb-extra', 'Extra', plan('shop/web', 'e'), plan('shop/api', 'e')),
]);

test('plans are found by their hash, whoever has to approve them', () => {
  const found = (hash: string): string[] => chosenPlans(plans, hash).map(({ kind, member }) => `${kind} ${member}`);
  expect(found('a')).toEqual(['CloudLoadBalancer shop/web']);
  expect(found('c')).toEqual(['CloudRoute n1']);
  expect(found('e')).toEqual(['CloudLoadBalancer shop/api', 'CloudLoadBalancer shop/web']);
});

test('a hash that no plan has is refused with those that wait', () => {
  const refusal = (of: typeof plans): unknown =>
    expect.objectContaining({
      code: 'NotFound',
      remedy: expect.stringContaining(of.length > 0 ? 'a (shop/web)' : 'no change waits') as string,
    });
  expect(() => chosenPlans(plans, 'old')).toThrow(refusal(plans) as Error);
  expect(() => chosenPlans([], 'old')).toThrow(refusal([]) as Error);
});

test('plans for which a stack has no room are found by the conditions of those that they are of, and no others', () => {
  const cut = { ...stack('lb', 'LoadBalancer'), status: { plans: [plan('shop/a', 'same')], plansOmitted: 2 } };
  const member = (name: string, of: string, hash: string): StoredLoadBalancer => {
    const object = { kind: 'CloudLoadBalancer', metadata: { name, namespace: 'shop' } } as StoredLoadBalancer;
    const message = approvalMessage({ stack: of, object, hash, summary: '1 to update', why: 'it is so', given: undefined });
    return { ...object, status: { conditions: [{ message: 'old' }, { message }, { message }] } } as unknown as StoredLoadBalancer;
  };
  const members = [member('a', 'lb', 'same'), member('b', 'lb', 'b'), member('c', 'lb', 'same'), member('d', 'elsewhere', 'd')];
  const found = plansOf([cut, stack('elsewhere', 'LoadBalancer')], members);
  expect(found.map(({ kind, member: key, hash }) => [kind, key, hash])).toEqual([
    ['CloudLoadBalancer', 'shop/a', 'same'],
    ['CloudLoadBalancer', 'shop/b', 'b'],
    ['CloudLoadBalancer', 'shop/c', 'same'],
  ]);
  expect(chosenPlans(found, 'same').map(({ member: key }) => key)).toEqual(['shop/a', 'shop/c']);
  expect(planText(found[1]!, (text) => text)).toBe(
    [
      'CloudLoadBalancer shop/b (stack lb)',
      '  waits since it is so: 1 to update',
      '  not among the plans that CloudStack lb shows',
      '  kubectl cloud approve b',
      '',
    ].join('\n'),
  );
});

test('routes are shown in every namespace', () => {
  expect(plans.filter((one) => inNamespace(one, 'other')).map(({ member }) => member)).toEqual(['n1']);
});

test('a plan shows every property with its old and new value', () => {
  const operations: WaitingPlan['operations'] = [
    {
      op: 'update',
      type: 't',
      name: 'a',
      urn: 'u',
      properties: [
        { path: 'listeners[0].port', old: '80', new: '443' },
        { path: 'x', new: '1' },
      ],
    },
    { op: 'replace', type: 't', name: 'b', urn: 'v', deleteFirst: true },
    { op: 'delete', type: 't', name: 'c', urn: 'w', stack: 'lb-old' },
  ];
  const [found] = plansOf([stack('lb', 'LoadBalancer', plan('shop/web', 'a', { operations, omitted: 3 }))]);
  expect(planText(found!, (text) => text)).toBe(
    [
      'CloudLoadBalancer shop/web (stack lb)',
      '  waits since spec.updatePolicy.approval is Manual',
      '  1 to update',
      '  ~ update t a',
      '      listeners[0].port: 80 -> 443',
      '      x: (absent) -> 1',
      '  ± replace t b, the old one first: a gap in traffic',
      '  - delete t c, in stack lb-old',
      '  … and 3 operations and properties that are not shown; the hash is of them too',
      '  kubectl cloud approve a',
      '',
    ].join('\n'),
  );
});
