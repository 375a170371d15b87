import type { JsonObject } from '../../../operator/base/json';
import { destinationsOf, portsOf, type SecurityRuleProperties } from '../../../providers/azure/security-groups/security-rule';
import type { RecordedCall } from '../../harness/arm/arm-server';
import { type Part, partsIn } from '../../harness/arm/resource';

/** What Azure has taken for a resource, one write after another. */
export function bodiesOf(calls: readonly RecordedCall[], id: string): JsonObject[] {
  const taken = calls.filter(({ method, path, status = 0 }) => method === 'PUT' && path === id && status < 300);
  return taken.flatMap(({ body }) => (body === undefined ? [] : [body]));
}

/** Parts of a resource in what was written. */
export function partsWritten(body: JsonObject, list: string): Part[] {
  return partsIn({ properties: (body.properties ?? {}) as JsonObject }, list);
}

/** True where a load balancer was written with a frontend at a public address, and behind a port of it a rule with its probe. */
export function serves(body: JsonObject, { publicAddress, port }: { publicAddress: string; port: number }): boolean {
  const nameOf = (reference: unknown): string | undefined => (reference as { id?: string } | undefined)?.id?.split('/').at(-1);
  const frontend = partsWritten(body, 'frontendIPConfigurations').find((one) => nameOf(one.properties.publicIPAddress) === publicAddress);
  const rule = partsWritten(body, 'loadBalancingRules').find(
    ({ properties }) => properties.frontendPort === port && nameOf(properties.frontendIPConfiguration) === frontend?.name,
  );
  return partsWritten(body, 'probes').some(({ name }) => name === nameOf(rule?.properties.probe));
}

/** True where a security group was written with a rule that lets clients in to a port of an address. */
export function letsIn(body: JsonObject, { address, port }: { address: string; port: number }): boolean {
  return partsWritten(body, 'securityRules').some((rule) => {
    const properties = rule.properties as unknown as SecurityRuleProperties;
    const isThere = destinationsOf(properties).includes(address) && portsOf(properties)?.includes(String(port)) === true;
    return isThere && properties.access === 'Allow';
  });
}
