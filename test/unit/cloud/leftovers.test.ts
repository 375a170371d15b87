import { isLeftover, leftoversOf } from '../../../operator/cloud/drift/leftovers';
import type { DiscoveredResource } from '../../../providers/provider';

const resource = (id: string): DiscoveredResource => ({
  type: 'local:index:TargetPool',
  name: `pool of ${id}`,
  id,
  inputs: {},
  outputs: {},
});

test('what is found for a stack that nobody knows is left over', () => {
  const found = new Map([
    ['lb-b', [resource('2'), resource('1')]],
    ['lb-a', [resource('3')]],
    ['routes-default-1', [resource('4')]],
    ['lb-known', [resource('5')]],
    ['lb-empty', []],
  ]);
  const leftovers = leftoversOf(found, new Set(['lb-known']));
  expect(leftovers.map(({ stack, kind, resources }) => [stack, kind, resources.map(({ id }) => id)])).toEqual([
    ['lb-a', 'LoadBalancer', ['3']],
    ['lb-b', 'LoadBalancer', ['2', '1']],
    ['routes-default-1', 'Routes', ['4']],
  ]);
});

test('its incarnation stands for these resources, in whatever order they are listed', () => {
  const incarnationOf = (...ids: string[]): string | undefined =>
    leftoversOf(new Map([['s', ids.map(resource)]]), new Set())[0]?.incarnation;
  expect(incarnationOf('1', '2')).toBe(incarnationOf('2', '1'));
  expect(incarnationOf('1', '2')).not.toBe(incarnationOf('1'));
  expect(isLeftover({ status: { incarnation: incarnationOf('1') } })).toBe(true);
  expect(isLeftover({ status: { incarnation: '9f0c' } })).toBe(false);
  expect(isLeftover({})).toBe(false);
});
