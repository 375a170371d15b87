import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { discover, release, type DiscoveryScope } from '../../../providers/azure/discover';
import { loadBalancerArguments } from '../../../providers/azure/load-balancers/arguments';
import { loadBalancer } from '../../../providers/azure/resources/load-balancer';
import { withKept } from '../../../providers/resource-provider/service';
import { driftOf, match } from '../../../operator/updates/drift';
import { OwnedResource, type CommonInputs, type OwnedDescription } from '../../../providers/azure/resources/owned-resource';
import { publicIPAddress } from '../../../providers/azure/resources/public-ip-address';
import { TAG } from '../../../providers/azure/tags';
import type { ArmServer } from '../../harness/arm/arm-server';
import { clientOf, GROUP, LOCATION, networkID, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { balancer, NODES, place } from '../../unit/azure/balancer-scene';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const addresses = publicIPAddress(SUBSCRIPTION) as unknown as OwnedDescription<CommonInputs>;
const balancers = loadBalancer(SUBSCRIPTION, { clusterName: 'kubernetes' }) as unknown as OwnedDescription<CommonInputs>;
const scope: DiscoveryScope = {
  subscriptionID: SUBSCRIPTION,
  clusterID: CLUSTER,
  types: [
    { description: addresses, armType: 'Microsoft.Network/publicIPAddresses', resourceGroups: [GROUP] },
    { description: balancers, armType: 'Microsoft.Network/loadBalancers', resourceGroups: [GROUP] },
  ],
};

describe('discovery in Azure', () => {
  let server: ArmServer;
  let client: ArmClient;

  beforeEach(async () => {
    server = await startScene({ pageSize: 2 });
    client = clientOf(server);
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  /** Makes a resource as a stack does, and gives what its state then has. */
  async function make(description: OwnedDescription<CommonInputs>, inputs: JsonObject, { stack, name, clusterID = CLUSTER }: Made) {
    const update = { stack, clusterID, countCall: () => undefined, assertValid: () => undefined };
    const context = { urn: `urn:${name}`, name, signal: new AbortController().signal };
    const tags = { [TAG.clusterID]: clusterID, [TAG.resource]: name, [TAG.stack]: stack };
    const wanted = { ...inputs, tags };
    const { id, outputs } = await new OwnedResource(description, client, update).create(wanted, context);
    const { token: type, sharedLists, idProperties: properties } = description;
    const caselessIDs = { prefix: '/subscriptions/', properties };
    const filledIn = ['azureApiVersion'];
    return { type, name, id, inputs: wanted, outputs, ...(sharedLists !== undefined && { sharedLists }), filledIn, caselessIDs };
  }

  const address = (publicIpAddressName: string): JsonObject => ({
    resourceGroupName: GROUP,
    publicIpAddressName,
    location: LOCATION,
    sku: { name: 'Standard' },
    publicIPAllocationMethod: 'Static',
    publicIPAddressVersion: 'IPv4',
  });
  const internal = (): JsonObject =>
    JSON.parse(JSON.stringify(loadBalancerArguments([balancer(1, { scheme: 'Internal' })], NODES, place()))) as JsonObject;

  test('finds what the states have, by stacks, in lists alone', async () => {
    const a = await make(addresses, address('a'), { stack: 's1', name: 'a-ip' });
    const b = await make(addresses, address('b'), { stack: 's2', name: 'b-ip' });
    const lb = await make(balancers, internal(), { stack: 's1', name: 'lb' });
    await make(addresses, address('c'), { stack: 's1', name: 'c-ip', clusterID: 'another' });
    server.cloud.seed(networkID('publicIPAddresses', 'd'), { location: LOCATION, properties: {} });
    server.calls.length = 0;
    expect(await discover(client, scope)).toEqual(
      new Map([
        ['s1', [a, lb]],
        ['s2', [b]],
      ]),
    );
    expect(server.calls.map(({ verb }) => verb)).toEqual(['list', 'list', 'list']);
    expect(await discover(client, scope, ['s2'])).toEqual(new Map([['s2', [b]]]));
    expect(await discover(client, scope, ['none'])).toEqual(new Map());
  });

  test('shows what somebody has changed', async () => {
    const lb = await make(balancers, internal(), { stack: 's1', name: 'lb' });
    server.cloud.tamper(lb.id, ({ properties }) => {
      const [rule] = properties.loadBalancingRules as { properties: JsonObject }[];
      rule!.properties.idleTimeoutInMinutes = 30;
    });
    const [found] = (await discover(client, scope)).get('s1') ?? [];
    const [rule] = found?.inputs.loadBalancingRules as { idleTimeoutInMinutes: number }[];
    expect(rule?.idleTimeoutInMinutes).toBe(30);
  });

  test('says what has failed, which is drift: the next update writes it again', async () => {
    const a = await make(addresses, address('a'), { stack: 's1', name: 'a-ip' });
    server.cloud.tamper(a.id, ({ properties }) => {
      properties.provisioningState = 'Failed';
    });
    const [found] = (await discover(client, scope)).get('s1') ?? [];
    expect(found?.failure).toMatch(/provisioningState Failed/);
  });

  test('ids and names in another letter case are no drift, no reason to write, and none to make anything anew', async () => {
    const prefix = { publicIPPrefix: { id: networkID('publicIPPrefixes', 'range') } };
    server.cloud.seed(networkID('publicIPPrefixes', 'range'), { location: LOCATION, properties: { ipPrefix: '20.8.0.0/28' } });
    server.respells = true;
    const a = await make(addresses, { ...address('a'), ...prefix }, { stack: 's1', name: 'a' });
    const lb = await make(balancers, internal(), { stack: 's1', name: 'kubernetes-internal' });
    const stored = [a, lb].map(({ name, ...one }) => ({ ...one, urn: `urn:pulumi:s1::p::${one.type}::${name}`, custom: true }));
    const stack = { project: 'p', name: 's1' };
    const found = (await discover(client, scope)).get('s1') ?? [];
    expect(driftOf(match(stored, found, stack))).toEqual([]);
    // Somebody corrects the letter case of the group in the settings.
    const respelled = { ...scope, types: scope.types.map((type) => ({ ...type, resourceGroups: [GROUP.toUpperCase()] })) };
    const again = (await discover(client, respelled)).get('s1') ?? [];
    expect(driftOf(match(stored, again, stack))).toEqual([]);
    const [kept] = match(stored, again, stack).pairs.map(({ found: { id, inputs } }) => ({ id, inputs }));
    expect(kept).toEqual({ id: a.id, inputs: a.inputs });

    server.calls.length = 0;
    for (const [description, { name, id, inputs, outputs }] of [
      [addresses, a],
      [balancers, lb],
    ] as const) {
      const type = new OwnedResource(description, client, {
        stack: 's1',
        clusterID: CLUSTER,
        countCall: () => undefined,
        assertValid: () => undefined,
      });
      const context = { urn: `urn:${name}`, name, signal: new AbortController().signal };
      await type.update(id, outputs, inputs, context);
      const wanted = { ...inputs, resourceGroupName: GROUP.toUpperCase() };
      expect(withKept(inputs, wanted, type)).toEqual(inputs);
      expect(await type.create(inputs, context)).toMatchObject({ id });
    }
    expect(server.calls.filter(({ method, status }) => method !== 'GET' && status !== 412 && status !== 409)).toEqual([]);
  });

  test('what is released is not found any more, and is as it was', async () => {
    const a = await make(addresses, address('a'), { stack: 's1', name: 'a-ip' });
    await make(addresses, address('b'), { stack: 's2', name: 'b-ip' });
    const refuse = (): never => {
      throw new OperatorError('Canceled', 'the lease is gone');
    };
    await expect(release(client, scope, 's1', refuse)).rejects.toMatchObject({ code: 'Canceled' });
    expect((await discover(client, scope)).size).toBe(2);
    await release(client, scope, 's1', () => undefined);
    expect([...(await discover(client, scope)).keys()]).toEqual(['s2']);
    expect(server.cloud.find(a.id)?.properties.ipAddress).toBe('20.1.0.1');
    server.calls.length = 0;
    await release(client, scope, 's1', () => undefined);
    expect(server.calls.every(({ verb }) => verb === 'list')).toBe(true);
  });

  test('tags that somebody sets while it is released stay; what another stack has got meanwhile, or is gone, is let alone', async () => {
    const made = [];
    for (const name of ['a', 'b', 'c']) made.push(await make(addresses, address(name), { stack: 's1', name: `${name}-ip` }));
    const [a = '', b = '', c = ''] = made.map(({ id }) => id);
    const acts = new Map([
      [a, () => server.cloud.tamper(a, ({ tags = {} }) => void (tags.costCenter = '42'))],
      [b, () => server.cloud.tamper(b, ({ tags = {} }) => void (tags[TAG.stack] = 's2'))],
      [c, () => server.cloud.vanish(c)],
    ]);
    server.meanwhile = ({ method, path }) => {
      if (method !== 'PATCH') return;
      acts.get(path)?.();
      acts.delete(path);
    };
    await release(client, scope, 's1', () => undefined);
    expect(server.cloud.find(a)?.tags).toMatchObject({ costCenter: '42', [TAG.released]: 'true' });
    expect(server.cloud.find(b)?.tags).not.toHaveProperty([TAG.released]);
    expect(server.cloud.find(c)).toBeUndefined();
  });

  test('a list that fails is an error, never an empty answer', async () => {
    await make(addresses, address('a'), { stack: 's1', name: 'a-ip' });
    server.failsLists = true;
    await expect(discover(client, scope)).rejects.toMatchObject({ code: 'Credentials' });
  });
});

interface Made {
  stack: string;
  name: string;
  clusterID?: string;
}
