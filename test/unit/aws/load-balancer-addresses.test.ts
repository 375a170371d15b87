import type { LoadBalancer } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { JsonObject } from '../../../operator/base/json';
import { driftOf, type Matches } from '../../../operator/updates/drift';
import type { Api } from '../../../providers/aws/resources/description';
import { loadBalancer } from '../../../providers/aws/resources/load-balancer';

const PLACE = { subnetId: 'subnet-0a', allocationId: 'eipalloc-0a' };

/** What drift makes of a load balancer with an Elastic IP and an IPv6 address in its zone. */
async function changesOf(subnetMappings: JsonObject[]): Promise<(string | undefined)[]> {
  const LoadBalancerAddresses = [{ IpAddress: '198.51.100.7', AllocationId: 'eipalloc-0a' }, { IPv6Address: '2001:db8::9' }];
  const raw: LoadBalancer = { AvailabilityZones: [{ SubnetId: 'subnet-0a', LoadBalancerAddresses }] };
  const elb = { loadBalancerAttributes: () => Promise.resolve({}), capacityReservation: () => Promise.resolve({}) };
  const { inputs } = await loadBalancer.describe({ id: 'arn', raw, tags: {} }, { elb, options: {} } as unknown as Api);
  const stored = { urn: 'urn', type: loadBalancer.token, custom: true, inputs: { subnetMappings } };
  const found = { type: loadBalancer.token, name: 'web', id: 'arn', inputs, outputs: {} };
  const matches: Matches = { pairs: [{ stored, found }], gone: [], unknown: [] };
  return driftOf(matches).map(({ property }) => property);
}

test.each<[string, JsonObject[], string[]]>([
  ['as they were asked for', [{ ...PLACE, ipv6Address: '2001:db8::9' }], []],
  ['of which AWS chose one', [PLACE], []],
  ['of which AWS chose all', [{ subnetId: 'subnet-0a' }], []],
  ['of which one is another', [{ ...PLACE, ipv6Address: '2001:db8::8' }], ['subnetMappings[0].ipv6Address']],
  ['of which one is missing', [{ ...PLACE, privateIpv4Address: '10.0.0.9' }], ['subnetMappings[0].privateIpv4Address']],
])('addresses of both families, %s', async (_what, asked, expected) => {
  expect(await changesOf(asked)).toEqual(expected);
});
