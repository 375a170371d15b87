import type { Json } from '../../../operator/base/json';
import type { DiscoveredResource } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { discoverPart } from '../resources/discover-part';
import { rulesOfGroup, securityRules } from '../resources/security-rules';
import { destinationsOf, familyOf, portsOf, sourcesOf, type SecurityRule } from './security-rule';

/** As programs write them: Azure takes them in any case. */
const PROTOCOLS = ['Tcp', 'Udp'];

/** The Nodes' security group, with all rules in it: which destinations in which rules are a stack's own, its state says. */
export function discoverRules(
  arm: ArmClient,
  securityGroupId: string | undefined,
  stacks: readonly string[],
): Promise<{ stack: string; resource: DiscoveredResource }[]> {
  return discoverPart(arm, securityGroupId, stacks, {
    type: securityRules.token,
    inputsOf: ({ properties }) => ({ rules: rulesOfGroup(properties).filter(isInbound).map(asWanted) }),
    sharedLists: { rules: { key: 'name', lists: ['destinations'] } },
  });
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
