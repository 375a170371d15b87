import type { Json } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import type { Whole } from '../resources/part-of-resource';
import { rulesOfGroup, securityRules } from '../resources/security-rules';
import { destinationsOf, familyOf, portsOf, sourcesOf, type SecurityRule } from './security-rule';

/** As programs write them: Azure takes them in any case. */
const PROTOCOLS = ['Tcp', 'Udp'];

/**
 * The Nodes' security group, with all rules in it: as for routes, only a stack's state can tell which destinations in which rules are its own. One read, and
 * none where no group or no stack is named.
 */
export async function discoverRules(
  arm: ArmClient,
  securityGroupId: string | undefined,
  stacks: readonly string[],
): Promise<{ stack: string; resource: DiscoveredResource }[]> {
  const group = securityGroupId === undefined || stacks.length === 0 ? undefined : await arm.get<Whole>(securityGroupId);
  if (securityGroupId === undefined || group === undefined) return [];
  const resource: DiscoveredResource = {
    type: securityRules.token,
    name: '',
    id: securityGroupId,
    inputs: { rules: rulesOfGroup(group.properties).filter(isInbound).map(asWanted) },
    outputs: {},
    unmarked: true,
    sharedLists: { rules: { key: 'name', lists: ['destinations'] } },
  };
  return stacks.map((stack) => ({ stack, resource }));
}

function isInbound({ properties: { direction } }: SecurityRule): boolean {
  return direction === 'Inbound';
}

/** A rule as a program would want it; ports that no program would write, such as a range, are as Azure has them. */
function asWanted({ name, properties }: SecurityRule): Json {
  const { access, protocol } = properties;
  const destinations = destinationsOf(properties);
  const ports = portsOf(properties)?.map((port) => (/^[0-9]+$/.test(port) ? Number(port) : port));
  return {
    name,
    access,
    family: familyOf(destinations[0] ?? ''),
    protocol: PROTOCOLS.find((known) => known.toLowerCase() === protocol.toLowerCase()) ?? protocol,
    sources: sourcesOf(properties).sort(),
    ...(ports !== undefined && { ports: ports.sort((a, b) => Number(a) - Number(b)) }),
    destinations,
  };
}
