import { leverOf, leverOn, type MemberLevers, type WideLevers } from '../../../operator/cloud/levers';

type Facts = Partial<WideLevers & MemberLevers>;

const of = (facts: Facts) => leverOf({ leading: true, ...facts });
const CRD = 'cloudloadbalancers.cloud-operator.dev';
const OBSERVE = { managementPolicy: 'Observe' };
const RELEASED = { managementPolicy: 'Released' };

/** The design's order, the first match first, with what is left to the member. */
const ORDER: [string, Facts, ReturnType<typeof of>][] = [
  ['NoLease', { leading: false }, expected('NoLease', false, 'Waits')],
  ['KindDeleted', { kindDeleted: CRD }, expected('KindDeleted', false, 'Waits')],
  ['Frozen', { frozen: 'aws' }, expected('Frozen', false, 'Waits')],
  ['Observe', OBSERVE, expected('Observe', false, 'Releases')],
  ['Released', RELEASED, expected('Released', false, 'Releases')],
  ['PauseAll', { pause: 'All' }, expected('PauseAll', false, 'Waits')],
  ['PauseUpdates', { pause: 'Updates' }, expected('PauseUpdates', true, 'Waits')],
];

function expected(kind: string, members: boolean, deletion: string): ReturnType<typeof of> {
  return expect.objectContaining({ kind, members, deletion }) as ReturnType<typeof of>;
}

describe('levers', () => {
  test.each(ORDER)('%s', (_kind, facts, lever) => expect(of(facts)).toEqual(lever));

  // Two values of one annotation can't meet.
  const pairs = ORDER.flatMap(([first, facts, lever], index) =>
    ORDER.slice(index + 1)
      .filter(([second]) => !((first === 'PauseAll' && second === 'PauseUpdates') || (first === 'Observe' && second === 'Released')))
      .map(([second, less]) => [first, second, { ...less, ...facts }, lever] as const),
  );
  test.each(pairs)('%s comes before %s', (_first, _second, facts, lever) => expect(of(facts)).toEqual(lever));

  test.each([{}, { managementPolicy: 'Default' }])('none: %j', (facts) => expect(of(facts)).toBeUndefined());

  test.each(['Bogus', '', 'yes', 'updates', 'x'.repeat(200)])('pause=%s counts as All, and what may be written is said', (pause) => {
    const lever = of({ pause });
    expect(lever).toMatchObject({ kind: 'PauseAll', members: false });
    expect(lever?.why).toContain(`cloud-operator.dev/pause, whose value "${pause.slice(0, 63)}" is unknown and counts as All; write All (`);
    expect(lever?.why).toContain(' or Updates (');
  });

  test('spaces around a value are nobody’s meaning', () => expect(of({ pause: ' Updates ' })).toMatchObject({ kind: 'PauseUpdates' }));
});

test('a CloudProvider that is paused holds all of its objects, and says that it is the one', () => {
  const object = { metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, spec: { provider: 'aws' } };
  const registry = { observes: () => false, pauseOf: (provider: string) => (provider === 'aws' ? 'Updates' : undefined) };
  expect(leverOn(object, registry)).toMatchObject({ kind: 'PauseUpdates', members: true });
  expect(leverOn(object, registry)?.why).toContain('annotation cloud-operator.dev/pause of CloudProvider aws: Updates');
  expect(leverOn({ ...object, spec: { provider: 'local' } }, registry)).toBeUndefined();
  const other = of({ pause: 'Updates', providerPause: { provider: 'aws', value: 'Never' } });
  expect(other).toMatchObject({ kind: 'PauseAll', mistaken: true });
});

test('a CloudProvider that is only observed holds all of its objects, whatever they say', () => {
  const object = { metadata: { name: 'a', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, spec: { provider: 'aws' } };
  const registry = { observes: (provider: string) => provider === 'aws', pauseOf: () => undefined };
  expect(leverOn(object, registry)).toMatchObject({ kind: 'Observe', deletion: 'Releases' });
  expect(leverOn(object, registry)?.why).toContain('CloudProvider aws');
  expect(leverOn({ ...object, spec: { provider: 'aws', managementPolicy: 'Released' } }, registry)).toMatchObject({ kind: 'Observe' });
  expect(leverOn({ ...object, spec: { provider: 'local' } }, registry)).toBeUndefined();
});
