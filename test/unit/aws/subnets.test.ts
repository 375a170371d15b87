import { chooseSubnets, isPublic, type RouteTable, type Subnet, type SubnetWish } from '../../../providers/aws/load-balancers/subnets';

const CLUSTER = 'kubernetes.io/cluster/demo';
const OTHER = 'kubernetes.io/cluster/other';
const ELB = 'kubernetes.io/role/elb';
const INTERNAL_ELB = 'kubernetes.io/role/internal-elb';

/** `subnet-<zone letter><n>` in that zone, with room and without tags. */
function subnet(name: string, tags: string[] = [], changes: Partial<Subnet> = {}): Subnet {
  const byKey = Object.fromEntries(tags.map((tag) => [tag.split('=')[0] ?? '', tag.split('=')[1] ?? '']));
  const zone = `eu-west-1${name.charAt(0)}`;
  return {
    ...{ id: `subnet-${name}`, vpcID: 'vpc-1', zone, zoneType: 'availability-zone', availableAddresses: 100, hasIPv6: false },
    tags: byKey,
    ...changes,
  };
}

const toInternet: RouteTable = { id: 'rtb-main', isMain: true, subnetIDs: [], gatewayIDs: ['local', 'igw-1'] };
const inside: RouteTable = { id: 'rtb-inside', isMain: false, subnetIDs: ['subnet-a1'], gatewayIDs: ['local', 'nat-1'] };
const wish = (changes: Partial<SubnetWish> = {}): SubnetWish => ({ clusterName: 'demo', scheme: 'Public', ...changes });

function ids(all: Subnet[], asked: SubnetWish, tables: RouteTable[] = [toInternet]): string[] | string {
  const choice = chooseSubnets(all, tables, asked);
  return 'problem' in choice ? choice.problem.message : choice.subnets.map(({ id }) => id);
}

describe('discovery', () => {
  const cases: [string, Subnet[], SubnetWish, string[]][] = [
    [
      'one for each zone, in the order of zones',
      [subnet('b1'), subnet('a1'), subnet('c1')],
      wish(),
      ['subnet-a1', 'subnet-b1', 'subnet-c1'],
    ],
    ['of several in a zone the lowest id', [subnet('a2'), subnet('a1')], wish(), ['subnet-a1']],
    ['before that, the one tagged for the cluster', [subnet('a1'), subnet('a2', [CLUSTER])], wish(), ['subnet-a2']],
    ['before that, the one with the role', [subnet('a1', [CLUSTER]), subnet('a2', [ELB])], wish(), ['subnet-a2']],
    ['of two with the role, the one of the cluster', [subnet('a1', [ELB]), subnet('a2', [ELB, CLUSTER])], wish(), ['subnet-a2']],
    ['a role without a value counts', [subnet('a1'), subnet('a2', [`${ELB}=`])], wish(), ['subnet-a2']],
    ['the other scheme’s role does not', [subnet('a1'), subnet('a2', [INTERNAL_ELB])], wish(), ['subnet-a1']],
    [
      'an internal one looks at its own role',
      [subnet('a1', [ELB]), subnet('a2', [INTERNAL_ELB])],
      wish({ scheme: 'Internal' }),
      ['subnet-a2'],
    ],
    ['without those of other clusters', [subnet('a1', [OTHER, ELB]), subnet('b1')], wish(), ['subnet-b1']],
    ['shared with another cluster is ours too', [subnet('a1', [OTHER, CLUSTER])], wish(), ['subnet-a1']],
    ['without a cluster’s name every subnet counts', [subnet('a1', [OTHER])], { scheme: 'Public' }, ['subnet-a1']],
    [
      'without local and wavelength zones',
      [subnet('a1', [ELB], { zoneType: 'local-zone' }), subnet('b1', [ELB], { zoneType: 'wavelength-zone' }), subnet('c1')],
      wish(),
      ['subnet-c1'],
    ],
  ];
  test.each(cases)('%s', (_title, all, asked, expected) => {
    expect(ids(all, asked)).toEqual(expected);
    expect(ids([...all].reverse(), asked)).toEqual(expected);
  });

  it('takes for public ones only subnets with a way to the internet', () => {
    const all = [subnet('a1', [ELB]), subnet('a2')];
    expect(ids(all, wish(), [toInternet, inside])).toEqual(['subnet-a2']);
    expect(ids(all, wish({ scheme: 'Internal' }), [toInternet, inside])).toEqual(['subnet-a1']);
  });

  it('falls back where nothing is tagged, and only there', () => {
    const all = [subnet('a1', [OTHER]), subnet('b1')];
    expect(ids(all, wish({ fallbackID: 'subnet-a1' }))).toEqual(['subnet-b1']);
    expect(ids(all.slice(0, 1), wish({ fallbackID: 'subnet-a1' }))).toEqual(['subnet-a1']);
  });
});

describe('named subnets', () => {
  const all = [
    subnet('a1', ['Name=public-a', OTHER]),
    subnet('a2'),
    subnet('b1', ['Name=public-b']),
    subnet('c1', ['Name=twin']),
    subnet('d1', ['Name=twin']),
  ];

  it('are taken by id or name, in their order, whatever their tags, routes and zones', () => {
    expect(ids(all, wish({ named: ['public-b', 'subnet-a1'] }), [inside])).toEqual(['subnet-b1', 'subnet-a1']);
  });

  test.each([
    [['subnet-9'], 'there is no subnet with the id or name "subnet-9" in the VPC. Correct it; there are subnet-a1 (public-a), subnet-a2'],
    [['twin'], 'several subnets are called "twin": subnet-c1 (twin), subnet-d1 (twin). Write the id'],
    [['subnet-a1', 'subnet-a2'], 'subnet-a1 (public-a), subnet-a2 are both in zone eu-west-1a'],
  ])('%j is refused', (named, message) => {
    expect(ids(all, wish({ named }))).toContain(message);
  });
});

describe('what is wrong', () => {
  const cases: [string, Subnet[], { asked: SubnetWish; tables: RouteTable[] }, string][] = [
    ['no subnets', [], { asked: wish(), tables: [] }, `the VPC has no subnets. Tag one subnet of each zone with ${CLUSTER} and ${ELB}`],
    [
      'no subnets for an internal one',
      [],
      { asked: { scheme: 'Internal' }, tables: [] },
      `Tag one subnet of each zone with ${INTERNAL_ELB}, or name`,
    ],
    [
      'all of another cluster',
      [subnet('a1', [OTHER])],
      { asked: wish(), tables: [toInternet] },
      'each is tagged for another cluster, or in a local or wavelength zone (subnet-a1)',
    ],
    [
      'local zones only',
      [subnet('a1', [], { zoneType: 'local-zone' })],
      { asked: wish(), tables: [toInternet] },
      'all are in local or wavelength zones',
    ],
    [
      'no way out',
      [subnet('a1')],
      { asked: wish(), tables: [inside] },
      'needs subnets whose route table has a route to an internet gateway, and subnet-a1 has none',
    ],
    [
      'no room',
      [subnet('a1', [], { availableAddresses: 7 })],
      { asked: wish(), tables: [toInternet] },
      'subnet-a1 has fewer than 8 free addresses',
    ],
    [
      'no IPv6',
      [subnet('a1'), subnet('b1', [], { hasIPv6: true })],
      { asked: wish({ dualStack: true }), tables: [toInternet] },
      'subnet-a1 has no IPv6 range',
    ],
    [
      'a long list',
      Array.from({ length: 11 }, (_, index) => subnet(`a${index}`)),
      { asked: wish({ named: ['x'] }), tables: [] },
      'subnet-a7 and 3 more',
    ],
  ];
  test.each(cases)('%s', (_title, all, { asked, tables }, message) => {
    const choice = chooseSubnets(all, tables, asked);
    expect(choice).toMatchObject({ problem: { severity: 'Error', field: 'spec.aws.subnets' } });
    expect(ids(all, asked, tables)).toContain(message);
  });
});

describe('the way to the internet', () => {
  test.each([
    ['its own table decides', 'subnet-a1', [toInternet, inside], false],
    ['the main table is that of all others', 'subnet-a2', [toInternet, inside], true],
    ['an egress-only gateway is none', 'subnet-a2', [{ ...toInternet, gatewayIDs: ['eigw-1'] }], false],
    ['no table, no way', 'subnet-a2', [inside], false],
  ])('%s', (_title, id, tables, verdict) => {
    expect(isPublic(id, tables)).toBe(verdict);
  });
});
