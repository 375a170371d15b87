import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { loadBalancerArguments, type AzureInput } from '../../../providers/azure/load-balancers/arguments';
import { resourceTypes } from '../../../providers/azure/resources';
import { loadBalancer } from '../../../providers/azure/resources/load-balancer';
import { OwnedResource } from '../../../providers/azure/resources/owned-resource';
import { foreseen } from '../../../providers/resource-provider/preview';
import type { ResourceType } from '../../../providers/resource-provider/resource-provider';
import { TAG } from '../../../providers/azure/tags';
import type { UpdateContext } from '../../../providers/worker-module';
import { balancer, HTTP, HTTPS, NODES, place, SUBSCRIPTION } from './balancer-scene';

const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const context = { urn: 'urn:x', name: 'kubernetes', signal: new AbortController().signal };
const update: UpdateContext = { stack: 's', clusterID: 'c', countCall: () => undefined, assertValid: () => undefined };
const INTERNAL = { scheme: 'Internal' };

/** Whoever calls Azure in a preview of these fails. */
const NOBODY = {} as ArmClient;

function typeNamed(token: string): ResourceType {
  const settings = { networkSubscriptionID: SUBSCRIPTION, clusterName: 'kubernetes' };
  const { official, own } = resourceTypes(NOBODY, settings, update);
  const found = [...official, ...own].find((type) => type.token === token);
  if (found === undefined) throw new Error(`no type ${token}`);
  return found;
}

test.each<[string, string, JsonObject]>([
  ['rules of a security group', 'cloudoperator:azure:SecurityRules', { former: [{ name: 'a', destinations: ['20.0.0.1'] }], times: 3 }],
  ['routes of a table', 'cloudoperator:azure:Routes', { writtenAt: { n1: 1 } }],
])('%s: what was found when they were written is told by each write anew', async (_what, token, observed) => {
  const type = typeNamed(token);
  expect(await foreseen({ inputs: { id: 'x' } }, type, context)).toEqual({ id: 'x', observed: UNKNOWN });
  expect(await foreseen({ inputs: { id: 'x' }, olds: { id: 'w', observed } }, type, context)).toEqual({ id: 'x', observed: UNKNOWN });
});

test.each(['cloudoperator:state:AzureNarrowedRules', 'cloudoperator:state:AzureSubnetPolicy'])('%s tells nothing', async (token) => {
  expect(await foreseen({ inputs: { id: 'x' }, olds: { id: 'w' } }, typeNamed(token), context)).toEqual({ id: 'x' });
});

test('a public address keeps its number when it is changed', async () => {
  const olds = { idleTimeoutInMinutes: 4, ipAddress: '20.0.0.1' };
  const type = typeNamed('azure-native:network:PublicIPAddress');
  expect(await foreseen({ inputs: { idleTimeoutInMinutes: 9 }, olds }, type, context)).toEqual({ ...olds, idleTimeoutInMinutes: 9 });
});

test('an address that is there is looked at again, also for other users', async () => {
  const found = {
    id: '/x/publicIPAddresses/pip',
    etag: '1',
    sku: { name: 'Standard' },
    properties: { ipAddress: '20.0.0.2', publicIPAddressVersion: 'IPv4' },
  };
  const arm = { get: () => Promise.resolve(found) } as unknown as ArmClient;
  const { own } = resourceTypes(arm, { networkSubscriptionID: SUBSCRIPTION, clusterName: 'kubernetes' }, update);
  const type = own.find(({ token }) => token === 'cloudoperator:state:AzureNamedAddress')!;
  const asked = { resourceGroupName: 'cluster', family: 'IPv4', name: 'pip', users: ['a/b'] };
  const told = { publicIPAddressId: found.id, ipAddress: '20.0.0.2' };
  expect(await foreseen({ inputs: asked }, type, context)).toEqual({ ...asked, ...told });
  const olds = { ...asked, publicIPAddressId: '/x/publicIPAddresses/former', ipAddress: '20.0.0.1' };
  expect(await foreseen({ inputs: asked, olds }, type, context)).toEqual({ ...asked, ...told });
});

describe('what the frontends of a load balancer answer at', () => {
  const type = new OwnedResource(loadBalancer(SUBSCRIPTION, { clusterName: 'kubernetes' }), NOBODY, update);
  const argumentsOf = (inputs: AzureInput[], where = place()): JsonObject => {
    const args = JSON.parse(JSON.stringify(loadBalancerArguments(inputs, NODES, where))) as JsonObject;
    return { ...args, tags: { [TAG.resource]: 'kubernetes' } };
  };
  /** As Azure has made it, with an address for each frontend. */
  const made = (inputs: JsonObject): JsonObject => ({
    ...inputs,
    frontendIPConfigurations: (inputs.frontendIPConfigurations as JsonObject[]).map((frontend, index) => ({
      privateIPAllocationMethod: 'Dynamic',
      privateIPAddress: `10.0.0.${100 + index}`,
      ...frontend,
    })),
  });
  const told = async (wanted: JsonObject, olds?: JsonObject): Promise<unknown> => {
    const { frontendIPConfigurations } = await foreseen({ inputs: wanted, ...(olds !== undefined && { olds }) }, type, context);
    return frontendIPConfigurations;
  };
  const [first, second] = [balancer(1, INTERNAL), balancer(2, INTERNAL)];

  test('is theirs for as long as they stay, whatever else of it changes', async () => {
    const olds = made(argumentsOf([first, second]));
    const wanted = argumentsOf([first, balancer(2, { ...INTERNAL, listeners: [HTTP, HTTPS] })]);
    expect(await told(wanted, olds)).toEqual(olds.frontendIPConfigurations);
    const [ofFirst] = olds.frontendIPConfigurations as JsonObject[];
    expect(await told(argumentsOf([first]), olds)).toEqual([ofFirst]);
  });

  test.each<[string, JsonObject, JsonObject | undefined]>([
    ['where it is made', argumentsOf([first]), undefined],
    ['of one more', argumentsOf([first, second]), made(argumentsOf([first]))],
    ['in another subnet', argumentsOf([first], place({ subnetName: 'small' })), made(argumentsOf([first]))],
    ['where Azure is to choose', argumentsOf([first]), made(argumentsOf([balancer(1, { ...INTERNAL, addresses: ['10.0.0.77'] })]))],
  ])('is told by Azure alone: %s', async (_what, wanted, olds) => {
    expect(await told(wanted, olds)).toBe(UNKNOWN);
  });

  test('is known where it was asked for, and of public ones', async () => {
    for (const inputs of [[balancer(1, { ...INTERNAL, addresses: ['10.0.0.77'] })], [balancer(1), balancer(2)]]) {
      const wanted = argumentsOf(inputs);
      expect(await told(wanted)).toEqual(wanted.frontendIPConfigurations);
      expect(await told(wanted, made(argumentsOf([balancer(3)])))).toEqual(wanted.frontendIPConfigurations);
    }
  });
});
