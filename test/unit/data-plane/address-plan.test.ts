import fc from 'fast-check';
import { CLOUD_NUMBERS, linkAddresses, loopbackPlan, routerAddress, vpcPlan } from '../../../providers/local/cloud/data-plane/address-plan';
import { addressInCIDR, contains, offsetInCIDR, overlaps } from '../../../providers/local/cloud/data-plane/ip-range';

const number = fc.integer({ min: 0, max: CLOUD_NUMBERS - 1 });

test('clouds of different numbers share no range that the host sees', () => {
  fc.assert(
    fc.property(number, number, (a, b) => {
      fc.pre(a !== b);
      const [one, other] = [loopbackPlan(a), loopbackPlan(b)];
      const ranges = [one.loadBalancerCIDR, one.nodeCIDR, vpcPlan(a).loadBalancerCIDR, vpcPlan(a).ipv6.loadBalancerCIDR];
      const others = [other.loadBalancerCIDR, other.nodeCIDR, vpcPlan(b).loadBalancerCIDR, vpcPlan(b).ipv6.loadBalancerCIDR];
      expect(ranges.some((range) => others.some((foreign) => overlaps(range, foreign)))).toBe(false);
    }),
  );
});

test('loopback addresses are loopback, and the kinds do not meet', () => {
  fc.assert(
    fc.property(number, (cloud) => {
      const { loadBalancerCIDR, nodeCIDR } = loopbackPlan(cloud);
      expect(overlaps('127.0.0.0/8', loadBalancerCIDR) && overlaps('127.0.0.0/8', nodeCIDR)).toBe(true);
      expect(overlaps(loadBalancerCIDR, nodeCIDR)).toBe(false);
      expect(contains(loadBalancerCIDR, '127.0.0.1') || contains(nodeCIDR, '127.0.0.1')).toBe(false);
    }),
  );
});

test('every address that is given out lies in its range and belongs to nobody else', () => {
  fc.assert(
    fc.property(number, fc.integer({ min: 0, max: 4000 }), fc.integer({ min: 0, max: 60_000 }), (cloud, loadBalancer, node) => {
      for (const plan of [loopbackPlan(cloud), vpcPlan(cloud), vpcPlan(cloud).ipv6]) {
        const ip = plan.loadBalancerAddress(loadBalancer);
        expect(contains(plan.loadBalancerCIDR, ip)).toBe(true);
        expect([linkAddresses(plan).host, linkAddresses(plan).vpc]).not.toContain(ip);
        expect(addressInCIDR(plan.loadBalancerCIDR, offsetInCIDR(plan.loadBalancerCIDR, ip))).toBe(ip);
        expect(contains(plan.nodeCIDR, plan.nodeAddress(node))).toBe(true);
        expect(plan.nodeAddress(node)).not.toBe(routerAddress(plan));
      }
    }),
  );
});

test('a range that is used up says which', () => {
  expect(() => vpcPlan(0).loadBalancerAddress(4096)).toThrow('no address left for more load balancers in 10.208.0.0/20');
  expect(() => loopbackPlan(0).nodeAddress(70_000)).toThrow('no address left for more instances in 127.128.0.0/16');
});

test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0.256/8', 'fd00::/129', 'fd00::/8/8', 'fd00::/x', ''])('"%s" is not a CIDR', (text) => {
  expect(() => addressInCIDR(text, 1)).toThrow('is not a CIDR');
});

test.each([
  ['10.0.0.0/8', '10.1.0.0/16', true],
  ['10.0.0.0/24', '10.0.1.0/24', false],
  ['0.0.0.0/0', '192.0.2.0/24', true],
  ['192.0.2.7/32', '192.0.2.7/32', true],
  ['fd00::/8', 'fd00:10:244:1::/64', true],
  ['fd00:1::/64', 'fd00:2::/64', false],
  ['::/0', '10.0.0.0/8', false],
])('%s and %s overlap: %s', (a, b, expected) => {
  expect(overlaps(a, b)).toBe(expected);
  expect(overlaps(b, a)).toBe(expected);
});
