import { selectedWebhooks } from '../../../operator/flags/webhooks';
import { CONTROLLER_NAMES, isSelected, selectedControllers, unknownNames, withoutAliases } from '../../../operator/flags/controllers';

test.each<[string, string, string[], boolean]>([
  ['C-APP-01', 'bravo', ['alpha', 'bravo', '-charlie'], true],
  ['C-APP-02', 'alpha', ['*'], true],
  ['C-APP-03', 'alpha', ['*', '-charlie'], true],
  ['C-APP-04', 'foxtrot', ['alpha', 'bravo', '-charlie'], false],
  ['off by its name', 'charlie', ['*', '-charlie'], false],
  ['the first match counts: on', 'alpha', ['alpha', '-alpha'], true],
  ['the first match counts: off', 'alpha', ['-alpha', 'alpha'], false],
  ['a star behind counts too', 'alpha', ['-bravo', '*'], true],
  ['off by default', 'late', ['*'], false],
  ['off by default, but named', 'late', ['*', 'late'], true],
  ['an empty list', 'alpha', [], false],
  ['C-APP-07', 'webhook-b', ['webhook-a'], false],
  ['C-APP-08', 'webhook-a', ['-webhook-b'], false],
])('%s: %s of %j is %j', (_id, name, list, expected) => {
  expect(isSelected(name, list, ['late'])).toBe(expected);
});

test('C-APP-05: what is unknown is named', () => {
  const problems = unknownNames(['*', 'red-controller', '-node-route-controller'], CONTROLLER_NAMES, 'controllers');
  expect(problems.map(({ message }) => message)).toEqual(['"red-controller" is not in the list of known controllers']);
});

test('C-APP-09: names of controllers', () => {
  for (const name of CONTROLLER_NAMES) expect(name).toMatch(/^[a-z]([-a-z]*[a-z])?-controller$/);
});

test('aliases are names, also behind a dash', () => {
  expect(withoutAliases(['service', '-cloud-node', 'other', '*'])).toEqual([
    'service-lb-controller',
    '-cloud-node-controller',
    'other',
    '*',
  ]);
  expect([...selectedControllers(['*', '-route', '-nodeipam'])].sort()).toEqual([
    'cloud-node-controller',
    'cloud-node-lifecycle-controller',
    'service-lb-controller',
  ]);
  expect([...selectedControllers(['cloud-node'])]).toEqual(['cloud-node-controller']);
});

test.each([
  [[], []],
  [['*'], ['persistent-volume-label']],
  [['persistent-volume-label'], ['persistent-volume-label']],
  [['*', '-persistent-volume-label'], []],
])('--webhooks=%j serves %j', (list, expected) => {
  expect(selectedWebhooks(list)).toEqual(expected);
});
