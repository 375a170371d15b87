import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { loadBalancerArguments } from '../../../providers/azure/load-balancers/arguments';
import { resourceTypes } from '../../../providers/azure/resources';
import { routes, type RoutesInputs } from '../../../providers/azure/resources/routes';
import { securityRules, type SecurityRulesInputs } from '../../../providers/azure/resources/security-rules';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';
import { balancer, NODES, place, SUBSCRIPTION } from './balancer-scene';

const GROUP_ID = `/subscriptions/${SUBSCRIPTION}/resourceGroups/cluster/providers/Microsoft.Network/networkSecurityGroups/sg`;
const update = { stack: 's', clusterID: 'c', countCall: () => undefined, assertValid: () => undefined };
const { official, own } = resourceTypes({} as ArmClient, { networkSubscriptionID: SUBSCRIPTION, clusterName: 'kubernetes' }, update);
const TYPES = [...official, ...own];

/** What the engine then compares with what it has. */
function kept(token: string, olds: JsonObject, news: JsonObject): Record<string, unknown> {
  const type: ResourceType | undefined = TYPES.find((one) => one.token.endsWith(`:${token}`));
  return { ...news, ...type?.keep?.(olds, news) };
}

describe('what only a newer program, or other settings, spell otherwise is no change: a replacement would take away what was just made', () => {
  test.each([
    ['SecurityRules', 'networkSecurityGroupId'],
    ['AzureNarrowedRules', 'networkSecurityGroupId'],
    ['Routes', 'routeTableId'],
    ['AzureSubnetPolicy', 'subnetId'],
    ['AzureNamedAddress', 'resourceGroupName'],
    ['AzureNamedAddress', 'name'],
    ['PublicIPAddress', 'resourceGroupName'],
    ['LoadBalancer', 'loadBalancerName'],
  ])('%s: the letter case of %s', (token, property) => {
    const olds = { [property]: GROUP_ID };
    expect(kept(token, olds, { [property]: GROUP_ID.toUpperCase(), more: 1 })).toEqual({ ...olds, more: 1 });
    const other = { [property]: `${GROUP_ID}2` };
    expect(kept(token, olds, other)).toEqual(other);
  });

  test('the order of a load balancer’s frontends, rules, probes and pools', () => {
    const inputs = [balancer(1), balancer(2), balancer(3)];
    const olds = JSON.parse(JSON.stringify(loadBalancerArguments(inputs, NODES, place()))) as JsonObject;
    const reversed = Object.fromEntries(
      Object.entries(olds).map(([key, value]) => [key, Array.isArray(value) ? value.toReversed() : value]),
    );
    expect((reversed.frontendIPConfigurations as JsonObject[])[0]).not.toEqual((olds.frontendIPConfigurations as JsonObject[])[0]);
    expect(kept('LoadBalancer', olds, reversed)).toEqual(olds);
    const fewer = { ...reversed, frontendIPConfigurations: (reversed.frontendIPConfigurations as JsonObject[]).slice(1) };
    expect(kept('LoadBalancer', olds, fewer)).toEqual({ ...olds, frontendIPConfigurations: fewer.frontendIPConfigurations });
  });
});

describe('what a part takes out when it goes, beside another one of the program in the same resource', () => {
  test('security rules: destinations that the other one does not have in a rule', () => {
    const rule = { access: 'Allow' as const, family: 'IPv4' as const, protocol: 'Tcp' as const, sources: ['Internet'] };
    const part = (port: number, ...destinations: string[]): SecurityRulesInputs => ({
      networkSecurityGroupId: GROUP_ID,
      rules: [{ name: `rule-${port}`, ...rule, ports: [port], destinations }],
      ...{ rulesPerSecurityGroup: 1000, addressesPerSecurityGroup: 4000 },
    });
    const [http, other] = [part(80, '20.1.0.1', '20.1.0.2'), part(81, '20.1.0.1')];
    const all = securityRules.merged({}, { ...http, rules: [...http.rules, ...other.rules] }, []) ?? {};
    const left = (gone: SecurityRulesInputs, ...others: SecurityRulesInputs[]): string[] => {
      const going = securityRules.without?.(gone, {}, others).part ?? gone;
      const rules = (securityRules.merged(all, undefined, [going]) ?? all).securityRules as unknown as { properties: JsonObject }[];
      return rules.map(({ properties }) => {
        const {
          destinationPortRanges: ports,
          destinationAddressPrefix: one,
          destinationAddressPrefixes: several = [one ?? ''],
        } = properties;
        return `${(ports as string[]).join()} ${(several as string[]).join()}`;
      });
    };
    expect(left(http, http)).toEqual(['80 20.1.0.1,20.1.0.2', '81 20.1.0.1']);
    expect(left(http, other)).toEqual(['81 20.1.0.1']);
    expect(left(http, part(80, '20.1.0.1'))).toEqual(['80 20.1.0.1', '81 20.1.0.1']);
    expect(left(http)).toEqual([]);
  });

  test('routes: those to destinations that the other one does not have', () => {
    const part = (...numbers: number[]): RoutesInputs => ({
      routeTableId: 'rt',
      location: 'westeurope',
      routes: numbers.map((n) => ({ name: `n${n}`, addressPrefix: `10.244.${n}.0/24`, nextHopIpAddress: `10.0.0.${n}` })),
      routesPerTable: 400,
    });
    expect(routes.without?.(part(1, 2, 3), {}, [part(2), part(4)]).part).toEqual(part(1, 3));
  });
});
