import { isEmptySelector, keysOf, selects, unmetBy, type LabelRequirement } from '../../../operator/base/label-selector';

const requirement = (operator: LabelRequirement['operator'], ...values: string[]): { matchExpressions: LabelRequirement[] } => ({
  matchExpressions: [{ key: 'tier', operator, ...(values.length > 0 && { values }) }],
});

test.each([
  [{}, [true, true, true], undefined],
  [{ matchLabels: { tier: 'edge' } }, [true, false, false], 'tier=edge'],
  [requirement('In', 'edge', 'shop'), [true, false, false], 'tier in (edge,shop)'],
  [requirement('NotIn', 'edge', 'shop'), [false, true, true], 'tier notin (edge,shop)'],
  [requirement('Exists'), [true, true, false], 'tier'],
  [requirement('DoesNotExist'), [false, false, true], '!tier'],
])('%j takes edge, core, none: %j', (selector, [edge, core, none], words) => {
  expect([{ tier: 'edge' }, { tier: 'core' }, {}].map((labels) => selects(selector, labels))).toEqual([edge, core, none]);
  const unmet = [{ tier: 'edge' }, { tier: 'core' }, {}].map((labels) => unmetBy(selector, labels)).find((text) => text !== undefined);
  expect(unmet).toBe(words);
});

test('all that it says must hold', () => {
  const both = { matchLabels: { zone: 'a' }, ...requirement('In', 'edge') };
  expect([both, {}].map((selector) => [isEmptySelector(selector), keysOf(selector)])).toEqual([
    [false, ['zone', 'tier']],
    [true, []],
  ]);
  expect(unmetBy(both, { zone: 'a', tier: 'core' })).toBe('tier in (edge)');
  expect(selects(both, { zone: 'a', tier: 'edge' })).toBe(true);
});
