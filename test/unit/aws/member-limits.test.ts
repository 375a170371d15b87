import { AWS_LIMITS } from '../../../crds';
import { LimitedMembers, roomOf } from '../../../providers/aws/members/member-limits';
import type { TargetGroup } from '../../../providers/provider';

const ARN = 'arn:aws:elasticloadbalancing:eu-central-1:1:targetgroup/k8s/1';

test.each([
  ['as many as fit', { id: ARN, port: 1 }, 1000, undefined],
  ['too many for a target group', { id: ARN, port: 1 }, 1001, /^1001 Nodes .* at most 1000 targets\. .*limits\.targetsPerTargetGroup/],
  ['as many as a load balancer takes', { id: ARN, port: 1, access: { rules: [], targetGroups: 3 } }, 1000, undefined],
  [
    'too many for a load balancer',
    { id: ARN, port: 1, access: { rules: [], targetGroups: 4 } },
    751,
    /^751 Nodes in each of 4 target groups are 3004 .* at most 3000\. The first 750 by name .*limits\.targetsPerLoadBalancer/,
  ],
  ['a Classic one', { id: 'web', port: 1 }, 1001, /^1001 Nodes .* load balancer web, .* at most 1000 instances/],
] as [string, TargetGroup, number, RegExp | undefined][])('targets: %s', (_what, group, count, expected) => {
  const { most, tooMany } = roomOf(group, AWS_LIMITS);
  expect(count > most).toBe(expected !== undefined);
  if (expected !== undefined) expect(tooMany(count)).toMatch(expected);
});

test('of more than fit the first are targets, those that are to go go, and the others are told of', async () => {
  const synced: string[][] = [];
  const inner = {
    sync: (_group: TargetGroup, targets: { nodeName: string }[]) => Promise.resolve(synced.push(targets.map(({ nodeName }) => nodeName))),
    hash: () => '',
    assume: () => undefined,
    observe: () => Promise.resolve(new Map<string, string>()),
    skipped: () => [],
  };
  const members = new LimitedMembers(inner, { ...AWS_LIMITS, targetsPerTargetGroup: 1 });
  const targets = ['i-0a', 'i-0a', 'i-0b'].map((id) => ({ nodeName: id, providerID: `aws:///eu-central-1a/${id}`, addresses: [] }));
  await expect(members.sync({ id: ARN, port: 1 }, targets, () => true)).rejects.toMatchObject({ code: 'Quota', resource: ARN });
  expect(await members.sync({ id: ARN, port: 1 }, targets.slice(2), () => true)).toBe(2);
  expect(synced).toEqual([['i-0a', 'i-0a'], ['i-0b']]);
});
