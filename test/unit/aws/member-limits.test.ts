import { AWS_LIMITS, type AWSLimits } from '../../../crds';
import { LimitedMembers } from '../../../providers/aws/members/member-limits';
import type { Target, TargetGroup } from '../../../providers/provider';

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/k8s/1';
const GROUP: TargetGroup = { id: ARN, port: 1 };
/** Zones don't count. */
const WIDE: AWSLimits = { ...AWS_LIMITS, targetsPerZone: 100_000 };

const withAccess = (access: object): TargetGroup => ({ ...GROUP, access: { rules: [], ...access } });

/** So many Nodes in each zone, the first zone's first; the zone '' is told by no providerID. */
function nodes(...counts: [zone: string, count: number][]): Target[] {
  const of = ([zone, count]: [string, number], number: number): Target[] =>
    Array.from({ length: count }, (_, at) => {
      const id = `i-${number}${at.toString(16).padStart(4, '0')}`;
      return { nodeName: id, providerID: zone === '' ? id : `aws:///${zone}/${id}`, addresses: [] };
    });
  return counts.flatMap(of);
}

/** Which of them became targets, and what was said of the others. What is hashed and assumed is the same. */
async function synced(group: TargetGroup, targets: Target[], limits = AWS_LIMITS): Promise<{ fit: string[]; said: string | undefined }> {
  const given: string[][] = [];
  const take = (_group: TargetGroup, some: Target[]): number => given.push(some.map(({ nodeName }) => nodeName));
  const inner = {
    sync: (...all: [TargetGroup, Target[]]) => Promise.resolve(take(...all)),
    hash: (...all: [TargetGroup, Target[]]) => String(take(...all)),
    assume: (...all: [TargetGroup, Target[]]) => void take(...all),
    observe: () => Promise.resolve(new Map<string, string>()),
    skipped: () => [],
  };
  const members = new LimitedMembers(inner, limits);
  await members.sync(group, targets, () => true);
  members.hash(group, targets);
  members.assume(group, targets);
  const [fit = [], ...others] = given;
  expect(others).toEqual([fit, fit]);
  const said = members.limits(group, targets);
  return { fit, said: said.length === 0 ? undefined : said.join(' ') };
}

test.each([
  ['as many as fit', GROUP, 1000, 1000, undefined],
  ['too many for a target group', GROUP, 1001, 1000, /^1001 Nodes .* at most 1000 targets\. .*limits\.targetsPerTargetGroup/],
  ['as many as a load balancer takes', withAccess({ targetGroups: 3 }), 1000, 1000, undefined],
  [
    'too many for a load balancer',
    withAccess({ targetGroups: 4 }),
    751,
    750,
    /^751 Nodes in each of 4 target groups are 3004 .* at most 3000\. The first 750 by name .*limits\.targetsPerLoadBalancer/,
  ],
  ['a Classic one', { id: 'web', port: 1 }, 1001, 1000, /^1001 Nodes .* load balancer web, .* at most 1000 instances/],
] as [string, TargetGroup, number, number, RegExp | undefined][])(
  'targets in all: %s',
  async (_what, ...[group, count, most, expected]) => {
    const { fit, said } = await synced(group, nodes(['eu-central-1a', count]), WIDE);
    expect(fit).toHaveLength(most);
    if (expected === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(expected);
  },
);

test.each([
  ['as many as fit in each', GROUP, [500, 500], [500, 500], undefined],
  [
    'too many in one',
    GROUP,
    [501, 3],
    [500, 3],
    /^501 Nodes are targets in zone eu-central-1a, .* at most 500 in one zone\. .*limits\.targetsPerZone/,
  ],
  [
    'too many in one, in each of several groups',
    withAccess({ targetGroups: 5 }),
    [100, 101],
    [100, 100],
    /^101 Nodes in each of 5 target groups are 505 targets in zone eu-central-1b, .* The first 100 by name .* Have fewer ports/,
  ],
  ['as many as fit where zones are one', withAccess({ crossZone: true }), [250, 250], [250, 250], undefined],
  [
    'too many where zones are one',
    withAccess({ crossZone: true, targetGroups: 2 }),
    [200, 60],
    [200, 50],
    /^260 Nodes in each of 2 target groups are 520 targets, and a load balancer that sends across zones has at most 500\. .*crossZone: false/,
  ],
  ['too many in all and in one', GROUP, [600, 500], [500, 400], /^1100 Nodes .* 600 Nodes are targets in zone eu-central-1a/],
  ['a Classic one', { id: 'web', port: 1 }, [600, 300], [600, 300], undefined],
] as [string, TargetGroup, [number, number], [number, number], RegExp | undefined][])(
  'targets in a zone: %s',
  async (_what, ...[group, [a, b], most, expected]) => {
    const { fit, said } = await synced(group, nodes(['eu-central-1a', a], ['eu-central-1b', b]));
    expect(['i-0', 'i-1'].map((start) => fit.filter((name) => name.startsWith(start)).length)).toEqual(most);
    if (expected === undefined) expect(said).toBeUndefined();
    else expect(said).toMatch(expected);
  },
);

test('Nodes whose providerID names no zone are counted by none', async () => {
  const { fit, said } = await synced(GROUP, nodes(['', 600], ['eu-central-1a', 400]));
  expect([fit.length, said]).toEqual([1000, undefined]);
});

test('of more than fit the first are targets, each machine once, and others take the place of those that go', async () => {
  const [first, other] = nodes(['eu-central-1a', 2]) as [Target, Target];
  const limits = { ...AWS_LIMITS, targetsPerTargetGroup: 1 };
  expect(await synced(GROUP, [first, { ...first }, other], limits)).toMatchObject({ fit: [first.nodeName, first.nodeName] });
  expect(await synced(GROUP, [other], limits)).toEqual({ fit: [other.nodeName], said: undefined });
});
