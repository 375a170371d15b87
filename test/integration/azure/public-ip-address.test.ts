import { OperatorError } from '../../../operator/base/errors';
import type { JsonObject } from '../../../operator/base/json';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { LabelHandover } from '../../../providers/azure/resources/label-handover';
import { OwnedResource } from '../../../providers/azure/resources/owned-resource';
import { publicIPAddress, type PublicIPAddressInputs } from '../../../providers/azure/resources/public-ip-address';
import { TAG, withKeys } from '../../../providers/azure/tags';
import type { UpdateContext } from '../../../providers/worker-module';
import type { ArmServer } from '../../harness/arm/arm-server';
import { waitFor } from '../../harness/wait-for';
import { clientOf, GROUP, LOCATION, networkID, startScene, SUBSCRIPTION } from '../../harness/arm/scene';

const ID = networkID('publicIPAddresses', 'web');
const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const MARKS = { [TAG.clusterID]: CLUSTER, [TAG.stack]: 's', [TAG.resource]: 'web-ip' };

function wanted(more: Partial<PublicIPAddressInputs> = {}): JsonObject {
  const inputs: PublicIPAddressInputs = {
    resourceGroupName: GROUP,
    publicIpAddressName: 'web',
    location: LOCATION,
    sku: { name: 'Standard' },
    publicIPAllocationMethod: 'Static',
    publicIPAddressVersion: 'IPv4',
    ...more,
    tags: { ...MARKS, ...more.tags },
  };
  return JSON.parse(JSON.stringify(inputs)) as JsonObject;
}

describe('azure-native:network:PublicIPAddress', () => {
  let server: ArmServer;
  let client: ArmClient;
  let valid = true;
  const update: UpdateContext = {
    stack: 's',
    clusterID: CLUSTER,
    countCall: () => undefined,
    assertValid: () => {
      if (!valid) throw new OperatorError('Canceled', 'the lease is gone');
    },
  };
  const context = { urn: 'urn:pulumi:s::p::t::web-ip', name: 'web-ip', signal: new AbortController().signal };
  const type = () => new OwnedResource(publicIPAddress(SUBSCRIPTION), client, update);
  const found = () => server.cloud.find(ID);
  const calls = () => server.calls.map(({ method, status }) => `${method} ${status}`);

  beforeEach(async () => {
    valid = true;
    server = await startScene();
    client = clientOf(server, { budgetMs: 5_000 });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  test('is made in one call, and read gives what was set and the address', async () => {
    const { id, outputs } = await type().create(wanted({ zones: ['1', '2'], tags: { team: 'shop' } }), context);
    expect(id).toBe(ID);
    expect(calls()).toEqual(['PUT 201']);
    expect(outputs.ipAddress).toBe('20.1.0.1');
    expect(await type().read(id, context)).toEqual({ inputs: wanted({ zones: ['1', '2'], tags: { team: 'shop' } }), outputs });
  });

  test('is changed in place, and keeps its address; what is right already costs no write', async () => {
    const { id, outputs } = await type().create(wanted(), context);
    const changed = wanted({ dnsSettings: { domainNameLabel: 'shop' } });
    expect((await type().update(id, outputs, changed, context)).outputs).toEqual({ ...changed, ipAddress: outputs.ipAddress });
    server.calls.length = 0;
    await type().update(id, changed, changed, context);
    expect(calls()).toEqual(['GET 200']);
    await type().update(id, changed, wanted(), context);
    expect(found()?.properties).not.toHaveProperty('dnsSettings');
  });

  test('what others have set of it stays, whatever is changed of ours', async () => {
    const { id, outputs } = await type().create(wanted({ dnsSettings: { domainNameLabel: 'shop' } }), context);
    const theirs = { ddosSettings: { protectionMode: 'Enabled' }, idleTimeoutInMinutes: 10 };
    server.cloud.tamper(id, ({ properties }) => {
      const dnsSettings = { domainNameLabel: 'shop', fqdn: 'shop.westeurope.cloudapp.azure.com', reverseFqdn: 'shop.example.' };
      Object.assign(properties, { ...theirs, dnsSettings });
    });
    await type().update(id, outputs, wanted({ dnsSettings: { domainNameLabel: 'web' } }), context);
    const [put] = server.calls.filter(({ method }) => method === 'PUT').slice(-1);
    expect(put?.body?.properties).toEqual({
      ...theirs,
      dnsSettings: { domainNameLabel: 'web', reverseFqdn: 'shop.example.' },
      ipAddress: '20.1.0.1',
      publicIPAddressVersion: 'IPv4',
      publicIPAllocationMethod: 'Static',
    });
    await type().update(id, outputs, wanted(), context);
    expect(found()?.properties).toMatchObject({ ...theirs, dnsSettings: { reverseFqdn: 'shop.example.' } });
    expect(found()?.properties.dnsSettings).not.toHaveProperty('domainNameLabel');
  });

  test('tags that others add stay, and are nothing of ours', async () => {
    const { id } = await type().create(wanted({ tags: { team: 'shop' } }), context);
    server.cloud.tamper(id, (resource) => Object.assign(resource.tags ?? {}, { costCenter: '42' }));
    expect((await type().read(id, context))?.inputs).toEqual(wanted({ tags: { team: 'shop' } }));
    await type().update(id, {}, wanted({ tags: { team: 'web' } }), context);
    expect(found()?.tags).toEqual({ ...withKeys({ ...MARKS, team: 'web' }), costCenter: '42' });
    await type().update(id, {}, wanted(), context);
    expect(found()?.tags).toEqual({ ...withKeys(MARKS), costCenter: '42' });
    await type().update(id, {}, wanted({ tags: { CostCenter: '43' } }), context);
    expect(found()?.tags).toEqual(withKeys({ ...MARKS, CostCenter: '43' }));
  });

  test('tags that others add stay where ours have more keys than one value lists, at every write', async () => {
    const ours = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`a-rather-long-key-of-a-tag-${index}`, 'x']));
    const { id } = await type().create(wanted({ tags: ours }), context);
    server.cloud.tamper(id, (resource) => Object.assign(resource.tags ?? {}, { costCenter: '42' }));
    expect((await type().read(id, context))?.inputs).toEqual(wanted({ tags: ours }));
    for (const team of ['web', 'shop']) {
      await type().update(id, {}, wanted({ tags: { ...ours, team } }), context);
      expect(found()?.tags).toEqual({ ...withKeys({ ...MARKS, ...ours, team }), costCenter: '42' });
    }
    await type().update(id, {}, wanted(), context);
    expect(found()?.tags).toEqual({ ...withKeys(MARKS), costCenter: '42' });
  });

  test('an answer that is lost makes nothing twice, and what was wanted then is what it becomes', async () => {
    server.lost = { verb: 'create', times: 1 };
    const { outputs } = await type().create(wanted(), context);
    expect(outputs.ipAddress).toBe('20.1.0.1');
    await type().create(wanted({ dnsSettings: { domainNameLabel: 'shop' } }), context);
    expect(found()?.properties).toMatchObject({ ipAddress: '20.1.0.1', dnsSettings: { domainNameLabel: 'shop' } });
    await type().create(wanted({ publicIPAddressVersion: 'IPv6' }), context);
    expect(found()?.properties).toMatchObject({ ipAddress: '2603:1030::1', publicIPAddressVersion: 'IPv6' });
    server.lost = { verb: 'update', times: 1 };
    await type().update(ID, {}, wanted({ publicIPAddressVersion: 'IPv6', dnsSettings: { domainNameLabel: 'web' } }), context);
    server.lost = { verb: 'delete', times: 1 };
    await type().delete(ID, context, {});
    expect(found()).toBeUndefined();
  });

  test.each([
    ['nobody’s', {}, /no tags of ours/],
    ['another cluster’s', withKeys({ ...MARKS, [TAG.clusterID]: 'another' }), /of cluster another/],
    ['another stack’s', withKeys({ ...MARKS, [TAG.stack]: 'other' }), /of stack other/],
    ['released', withKeys({ ...MARKS, [TAG.released]: 'x' }), /which has released it/],
  ])('one that is %s is neither taken, changed nor deleted', async (_name, tags, message) => {
    server.cloud.seed(ID, { location: LOCATION, sku: { name: 'Standard' }, tags, properties: {} });
    const { etag } = found()!;
    const works = [
      () => type().create(wanted(), context),
      () => type().update(ID, {}, wanted(), context),
      () => type().delete(ID, context, {}),
    ];
    for (const work of works) {
      const error = await work().then(
        () => undefined,
        (thrown: unknown) => thrown as OperatorError,
      );
      expect(error).toMatchObject({ code: 'Conflict', resource: context.urn });
      expect(error?.message).toMatch(message);
    }
    expect(found()?.etag).toBe(etag);
  });

  describe('a DNS label', () => {
    const label = { dnsSettings: { domainNameLabel: 'web' } };
    const owner = { [TAG.ownerUID]: 'owner' };
    const named = () => new LabelHandover(type(), client, SUBSCRIPTION, update);
    const next = { ...context, name: 'web-ip-g1' };
    const second = (more: object = {}): JsonObject =>
      wanted({ publicIpAddressName: 'web-g1', ...label, ...more, tags: { ...owner, [TAG.resource]: next.name } });
    const labelOf = (name: string): unknown =>
      (server.cloud.find(networkID('publicIPAddresses', name))?.properties.dnsSettings as JsonObject | undefined)?.domainNameLabel;

    test('goes from the address of the same load balancer to the one that takes its place, and back; the addresses stay', async () => {
      const { id, outputs } = await named().create(wanted({ ...label, tags: owner }), context);
      const made = await named().create(second(), next);
      expect([labelOf('web'), labelOf('web-g1')]).toEqual([undefined, 'web']);
      expect(found()?.properties.ipAddress).toBe(outputs.ipAddress);
      expect(found()?.tags).toEqual(withKeys({ ...MARKS, ...owner }));
      await named().update(id, {}, wanted({ ...label, tags: owner }), context);
      expect([labelOf('web'), labelOf('web-g1')]).toEqual(['web', undefined]);
      expect(server.cloud.find(made.id)?.properties.ipAddress).toBe(made.outputs.ipAddress);
    });

    test.each([
      ['another owner’s', { tags: { [TAG.ownerUID]: 'another' } }],
      ['another stack’s', { tags: { ...owner, [TAG.stack]: 'other' } }],
      ['of another family', { tags: owner, publicIPAddressVersion: 'IPv6' as const }],
    ])('that is %s stays there: DnsRecordInUse', async (_whose, of) => {
      const { tags, ...more } = wanted({ ...label, ...of });
      server.cloud.seed(ID, {
        ...{ location: LOCATION, sku: { name: 'Standard' }, tags: withKeys(tags as unknown as Record<string, string>) },
        properties: { ...label, publicIPAddressVersion: more.publicIPAddressVersion ?? 'IPv4', ipAddress: '20.9.9.1' },
      });
      await expect(named().create(second(), next)).rejects.toMatchObject({ code: 'Taken' });
      expect(labelOf('web')).toBe('web');
    });
  });

  describe('zones', () => {
    const made = () => new OwnedResource(publicIPAddress(SUBSCRIPTION, client), client, update);
    const PREFIX = networkID('publicIPPrefixes', 'out');

    test('are those of the region where nobody says them, and stay, whatever is changed and whatever the region has then', async () => {
      server.regionZones = ['2', '1', '3'];
      const { id, outputs } = await made().create(wanted(), context);
      expect(found()?.zones).toEqual(['1', '2', '3']);
      server.regionZones = [];
      await made().update(id, outputs, wanted({ dnsSettings: { domainNameLabel: 'shop' } }), context);
      expect(found()).toMatchObject({ zones: ['1', '2', '3'], properties: { dnsSettings: { domainNameLabel: 'shop' } } });
      server.calls.length = 0;
      await made().update(id, outputs, wanted({ dnsSettings: { domainNameLabel: 'shop' } }), context);
      expect(calls()).toEqual(['GET 200']);
      expect(made().keep({ ...wanted(), zones: ['1', '2', '3'] }, wanted())).toMatchObject({ zones: ['1', '2', '3'] });
    });

    test('come to none that has none, which would be made anew', async () => {
      const { id, outputs } = await made().create(wanted(), context);
      server.regionZones = ['1', '2', '3'];
      await made().update(id, outputs, wanted({ dnsSettings: { domainNameLabel: 'shop' } }), context);
      expect(found()).not.toHaveProperty('zones');
    });

    test('are those of the prefix that it is taken from; none where the operator may not ask', async () => {
      server.regionZones = ['1', '2', '3'];
      server.cloud.seed(PREFIX, { location: LOCATION, sku: { name: 'Standard' }, zones: ['2'], properties: {} });
      await made().create(wanted({ publicIPPrefix: { id: PREFIX } }), context);
      expect(found()?.zones).toEqual(['2']);
      await made().delete(ID, context, {});
      server.regionZones = undefined;
      await made().create(wanted(), context);
      expect(found()).not.toHaveProperty('zones');
    });
  });

  test('one whose operation has failed is written again, though it says what is wanted; tags alone would not do', async () => {
    server.cloud.operations.failures.push({ code: 'InternalServerError', message: 'An error occurred.' });
    const { id, outputs } = await type().create(wanted(), context);
    expect(calls().filter((call) => call.startsWith('PUT'))).toEqual(['PUT 201', 'PUT 200']);
    expect(found()?.properties.provisioningState).toBe('Succeeded');
    server.cloud.tamper(id, ({ properties }) => {
      properties.provisioningState = 'Failed';
    });
    server.calls.length = 0;
    await type().update(id, outputs, wanted({ tags: { team: 'web' } }), context);
    expect(calls()).toEqual(['GET 200', 'PUT 200']);
  });

  test('one to which something happens is waited for: what that comes to is not known before', async () => {
    const { id, outputs } = await type().create(wanted(), context);
    server.cloud.tamper(id, ({ properties }) => {
      properties.provisioningState = 'Updating';
    });
    server.calls.length = 0;
    const updating = type().update(id, outputs, wanted(), context);
    await waitFor(() => server.calls.length >= 2, { timeoutMs: 5_000, what: 'a second look' });
    server.cloud.tamper(id, ({ properties }) => {
      properties.provisioningState = 'Failed';
    });
    await updating;
    expect(calls().at(-1)).toBe('PUT 200');
    expect(found()?.properties.provisioningState).toBe('Succeeded');
  });

  test('one that is in use stays, and is tried again', async () => {
    await type().create(wanted(), context);
    const frontends = [{ name: 'a', properties: { publicIPAddress: { id: ID } } }];
    const properties = { frontendIPConfigurations: frontends };
    server.cloud.seed(networkID('loadBalancers', 'lb'), { location: LOCATION, sku: { name: 'Standard' }, properties });
    await expect(type().delete(ID, context, {})).rejects.toMatchObject({ code: 'Conflict', retryAfterMs: 15_000 });
    server.cloud.vanish(networkID('loadBalancers', 'lb'));
    await type().delete(ID, context, {});
    await type().delete(ID, context, {});
    expect(found()).toBeUndefined();
  });

  test('one that is gone is not changed', async () => {
    await expect(type().update(ID, {}, wanted(), context)).rejects.toMatchObject({ code: 'NotFound' });
    expect(await type().read(ID, context)).toBeUndefined();
  });

  test('what Azure refuses is told with its class, the resource and what to do', async () => {
    server.cloud.policies.set('microsoft.network/publicipaddresses', 'none-outside');
    await expect(type().create(wanted(), context)).rejects.toMatchObject({ code: 'Invalid', resource: context.urn });
    server.cloud.policies.clear();
    server.cloud.limits.publicAddresses = 0;
    const error = await type()
      .create(wanted(), context)
      .catch((thrown: unknown) => thrown as OperatorError);
    expect(error).toMatchObject({ code: 'Quota', resource: context.urn });
    expect((error as OperatorError).message.match(/Delete what is no longer needed/g)).toHaveLength(1);
  });

  test('who may not write any more writes nothing', async () => {
    await type().create(wanted(), context);
    valid = false;
    server.calls.length = 0;
    await expect(type().create(wanted(), context)).rejects.toMatchObject({ code: 'Canceled' });
    await expect(type().update(ID, {}, wanted({ tags: { a: 'b' } }), context)).rejects.toMatchObject({ code: 'Canceled' });
    await expect(type().delete(ID, context, {})).rejects.toMatchObject({ code: 'Canceled' });
    expect(server.calls.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('properties that are not served are refused', () => {
    expect(type().check(wanted())).toEqual([]);
    expect(type().check({ ...wanted(), natGateway: {} })).not.toEqual([]);
  });
});
