import { marksOf, type Listings } from '../../../providers/aws/listings';
import { TAG } from '../../../providers/aws/tags';

const tags = (stack: string, more = {}): Record<string, string> => ({
  [TAG.clusterID]: 'c',
  [TAG.stack]: stack,
  [TAG.resource]: 'r',
  ...more,
});

/** Two stacks, each with a load balancer; the first one with a target group and a security group. */
function listings(): Listings {
  const balancer = (id: string): object => ({
    LoadBalancerArn: id,
    State: { Code: 'active' },
    SecurityGroups: ['sg-0a', 'sg-0b'],
    CreatedTime: new Date(0),
  });
  const of = (id: string, raw: object, stack: string): { id: string; raw: object; tags: Record<string, string> } => ({
    id,
    raw,
    tags: tags(stack),
  });
  return {
    clusterID: 'c',
    balancers: [of('lb-0', balancer('lb-0'), 'one'), of('lb-1', balancer('lb-1'), 'two')],
    targetGroups: [of('tg-0', { TargetGroupArn: 'tg-0', LoadBalancerArns: ['lb-0'] }, 'one')],
    classics: [],
    securityGroups: [of('sg-0a', { GroupId: 'sg-0a', IpPermissions: [{ FromPort: 80 }, { FromPort: 443 }] }, 'one')],
    rules: [],
  };
}

test('a mark stays as long as nothing has changed but an order or the state, which has a look of its own', () => {
  const before = marksOf(listings());
  expect([...before.keys()]).toEqual(['one', 'two']);
  const seen = listings();
  seen.balancers.reverse();
  Object.assign(seen.balancers[1]!.raw, { SecurityGroups: ['sg-0b', 'sg-0a'], State: { Code: 'provisioning' } });
  seen.securityGroups[0]!.raw.IpPermissions!.reverse();
  expect(marksOf(seen)).toEqual(before);
});

test.each<[string, (seen: Listings) => void]>([
  ['a listener went, which its target group tells', (seen) => (seen.targetGroups[0]!.raw.LoadBalancerArns = [])],
  ['a rule came', (seen) => seen.securityGroups[0]!.raw.IpPermissions!.push({ FromPort: 22 })],
  ['a tag changed', (seen) => (seen.balancers[0]!.tags = { ...seen.balancers[0]!.tags, team: 'edge' })],
  ['a target group went', (seen) => void seen.targetGroups.pop()],
])('a mark is another one when %s; that of the other stack is not', (_what, change) => {
  const before = marksOf(listings());
  const seen = listings();
  change(seen);
  const after = marksOf(seen);
  expect(after.get('one')).not.toBe(before.get('one'));
  expect(after.get('two')).toBe(before.get('two'));
});

test('what is another cluster’s, was released or leads to no program has none', () => {
  const seen = listings();
  seen.balancers[0]!.tags = tags('three', { [TAG.clusterID]: 'other' });
  seen.balancers[1]!.tags = tags('four', { [TAG.released]: 'true' });
  seen.targetGroups[0]!.tags = { [TAG.clusterID]: 'c', [TAG.stack]: 'five' };
  expect([...marksOf(seen).keys()]).toEqual(['one']);
});
