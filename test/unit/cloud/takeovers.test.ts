import { merged, togetherOf } from '../../../operator/cloud/stack/takeovers';
import type { Adoption, DiscoveredResource } from '../../../providers/provider';

const balancer = (...rules: string[]): DiscoveredResource => {
  const lists = { rules: rules.map((name) => ({ name })) };
  return { type: 'lb', name: 'all', id: 'lb-1', inputs: { size: 1, ...lists }, outputs: lists, sharedLists: { rules: 'name' } };
};
const address = (id: string): DiscoveredResource => ({ type: 'ip', name: id, id, inputs: {}, outputs: {} });
const adoption = (...resources: DiscoveredResource[]): Adoption => ({ from: 'somebody', resources });
const takeovers = {
  taken: new Map([
    ['b', adoption(address('ip-b'), balancer('b1', 'shared'))],
    ['a', adoption(address('ip-a'), balancer('a1', 'shared'))],
  ]),
  refused: new Map(),
};

test('what several take over of one resource is one, in the order of their UIDs', () => {
  const all = togetherOf(takeovers, [{ uid: 'b' }, { uid: 'a' }, { uid: 'c' }]);
  expect(all?.map(({ id }) => id)).toEqual(['ip-a', 'lb-1', 'ip-b']);
  expect(all?.[1]?.inputs).toEqual({ size: 1, rules: [{ name: 'a1' }, { name: 'shared' }, { name: 'b1' }] });
});

test('of those alone that are in the update', () => {
  expect(togetherOf(takeovers, [{ uid: 'b' }])).toEqual([address('ip-b'), balancer('b1', 'shared')]);
  expect(togetherOf(takeovers, [{ uid: 'c' }])).toBeUndefined();
  expect(togetherOf(undefined, [{ uid: 'a' }])).toBeUndefined();
});

test('what has no list that others share is as it was found last', () => {
  expect(merged([address('x'), { ...address('x'), inputs: { size: 2 } }])).toEqual([{ ...address('x'), inputs: { size: 2 } }]);
});
