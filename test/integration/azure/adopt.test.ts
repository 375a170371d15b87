import type { AdoptableFrom, Adoption } from '../../../providers/provider';
import { AzureAdoption } from '../../../providers/azure/adopt';
import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { compile } from '../../../providers/azure/annotations/annotations';
import type { AzureInput } from '../../../providers/azure/load-balancers/arguments';
import { baseNameOf } from '../../../providers/azure/load-balancers/names';
import { renderStack } from '../../../providers/azure/load-balancers/render';
import { TAG } from '../../../providers/azure/tags';
import type { ArmServer } from '../../harness/arm/arm-server';
import { partFrom, partsIn } from '../../harness/arm/resource';
import { clientOf, GROUP, LOCATION, networkID, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { balancer, place } from '../../unit/azure/balancer-scene';

const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
const BALANCER = networkID('loadBalancers', 'kubernetes');
const settings = { ...place().settings, subscriptionID: SUBSCRIPTION, resourceGroup: GROUP, outboundSNAT: true, excludeControlPlane: true };
const scope = { clusterID: CLUSTER, location: LOCATION, settings: settings as never };

describe('what is taken over of one Service in Azure', () => {
  let server: ArmServer;
  let client: ArmClient;
  let adoption: AzureAdoption;

  beforeEach(async () => {
    server = await startScene();
    client = clientOf(server);
    adoption = new AzureAdoption(client, scope);
    server.cloud.seed(BALANCER, { location: LOCATION, sku: { name: 'Standard' }, properties: {} });
  });

  afterEach(async () => {
    await client.close();
    await server.stop();
  });

  /** As upstream has it, at a public address. */
  function serve(
    input: AzureInput,
    { ip = '20.9.0.1', name = `kubernetes-${baseNameOf(input)}`, frontend = baseNameOf(input) } = {},
  ): string {
    const id = networkID('publicIPAddresses', name);
    const tags = { 'k8s-azure-service': `demo/${input.name}`, 'k8s-azure-cluster-name': 'kubernetes' };
    const properties = { publicIPAllocationMethod: 'Static', ipAddress: ip };
    server.cloud.seed(id, { location: LOCATION, sku: { name: 'Standard' }, tags, properties });
    const frontendID = `${BALANCER}/frontendIPConfigurations/${frontend}`;
    put('frontendIPConfigurations', frontend, { publicIPAddress: { id } });
    put('loadBalancingRules', `${baseNameOf(input)}-TCP-80`, { frontendIPConfiguration: { id: frontendID }, frontendPort: 80 });
    return id;
  }

  function put(list: string, name: string, properties: object, id = BALANCER): void {
    server.cloud.tamper(id, (resource) => {
      const part = partFrom(`${id}/${list}`, { name, properties: properties as never });
      resource.properties[list] = [...partsIn(resource, list), part] as never;
    });
  }

  const ask = (input: AzureInput, from: AdoptableFrom = 'Upstream', id?: string): Promise<Adoption | undefined> =>
    adoption.adoptable({ stack: 's', input: input, from, id });

  test('its own parts of the load balancer, and its address; all that ask at once read the load balancer once', async () => {
    const [one, two] = [balancer(1), balancer(2)];
    [one, two].forEach((input, index) => serve(input, { ip: `20.9.0.${index + 1}` }));
    put('loadBalancingRules', `${baseNameOf(one)}-TCP-8080`, { frontendIPConfiguration: { id: `${BALANCER}/x/${baseNameOf(one)}` } });
    server.calls.length = 0;
    const [first] = await Promise.all([ask(one), ask(two)]);
    expect(server.calls.map(({ path }) => path.split('/').at(-2)).sort()).toEqual([
      'loadBalancers',
      'publicIPAddresses',
      'publicIPAddresses',
    ]);
    expect(first).toMatchObject({
      from: 'another controller: Service demo/web-1, cluster kubernetes',
      kept: { frontends: { IPv4: baseNameOf(one) } },
    });
    const found = first?.resources.find(({ type }) => type.endsWith('LoadBalancer'))?.inputs;
    // What the spec has no place for is there too, so that the plan tells that it goes.
    const base = baseNameOf(one);
    expect((found?.loadBalancingRules as { name: string }[]).map(({ name }) => name)).toEqual([`${base}-TCP-80`, `${base}-TCP-8080`]);
  });

  describe('its Private Link Service', () => {
    const shop = networkID('privateLinkServices', 'shop');
    const input = balancer(1, { scheme: 'Internal' }, { privateLink: { name: 'shop', proxyProtocol: true } });
    const internal = networkID('loadBalancers', 'kubernetes-internal');
    const subnet = { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') };

    beforeEach(() => {
      const frontend = { id: `${internal}/frontendIPConfigurations/${baseNameOf(input)}` };
      const frontendIPConfigurations = [{ name: baseNameOf(input), properties: { subnet, privateIPAddress: '10.0.0.7' } }];
      const loadBalancingRules = [
        { name: `${baseNameOf(input)}-TCP-80`, properties: { frontendIPConfiguration: frontend, frontendPort: 80 } },
      ];
      const properties = { frontendIPConfigurations, loadBalancingRules };
      server.cloud.seed(internal, { location: LOCATION, sku: { name: 'Standard' }, properties });
      const address = { privateIPAllocationMethod: 'Dynamic', privateIPAddress: '10.0.0.8', privateIPAddressVersion: 'IPv4' };
      server.cloud.seed(shop, {
        location: LOCATION,
        tags: { 'k8s-azure-owner-service': 'demo/web-1', 'k8s-azure-cluster-name': 'kubernetes' },
        properties: {
          loadBalancerFrontendIpConfigurations: [frontend],
          ipConfigurations: [{ name: 'nodes-shop-dynamic-0', properties: { ...address, subnet, primary: true } }],
          enableProxyProtocol: true,
        },
      });
    });

    test('is taken over as it is', async () => {
      const found = await ask(input);
      const link = found?.resources.find(({ type }) => type.endsWith('PrivateLinkService'));
      const wanted = renderStack('s', [input], () => [], scope).balancers[0]?.links?.services[0];
      expect(link).toMatchObject({ name: wanted?.name, id: shop });
      const { tags, ...inputs } = link!.inputs;
      expect(wanted).toMatchObject(inputs);
      expect(tags).toEqual({
        'k8s-azure-owner-service': 'demo/web-1',
        'k8s-azure-cluster-name': 'kubernetes',
        [TAG.adopted]: 'true',
      });
    });

    test('is not, where another Service has made it, or it is on another frontend', async () => {
      server.cloud.tamper(shop, ({ tags = {} }) => void (tags['k8s-azure-owner-service'] = 'demo/other'));
      await expect(ask(input)).rejects.toMatchObject({ code: 'Taken', message: expect.stringContaining('Service demo/other') as string });
      server.cloud.tamper(shop, ({ properties }) => {
        properties.loadBalancerFrontendIpConfigurations = [{ id: `${internal}/frontendIPConfigurations/other` }];
      });
      await expect(ask(input)).rejects.toMatchObject({ code: 'Invalid', field: 'spec.azure.privateLink' });
    });
  });

  test('a Service that is led from the frontend of another one keeps that', async () => {
    const [one, two] = [balancer(1), balancer(2, {}, { publicIP: { ipv4Name: `kubernetes-${baseNameOf(balancer(1))}` } })];
    serve(one);
    const frontendID = `${BALANCER}/frontendIPConfigurations/${baseNameOf(one)}`;
    put('loadBalancingRules', `${baseNameOf(two)}-TCP-81`, { frontendIPConfiguration: { id: frontendID }, frontendPort: 81 });
    expect(await ask(two)).toMatchObject({ kept: { frontends: { IPv4: baseNameOf(one) } } });
  });

  describe('of several load balancers, which upstream names as they are configured', () => {
    const two = networkID('loadBalancers', 'two-internal');
    const several = { ...settings, loadBalancers: [{ name: 'kubernetes' }, { name: 'two' }] };
    const on = (input: AzureInput, name: string): AzureInput => ({ ...input, spec: { ...input.spec, azure: { configurations: [name] } } });
    const internal = balancer(1, { scheme: 'Internal' });

    beforeEach(() => {
      adoption = new AzureAdoption(client, { ...scope, settings: several as never });
      server.cloud.seed(two, { location: LOCATION, sku: { name: 'Standard' }, properties: {} });
      const subnet = { id: networkID('virtualNetworks', 'net') + '/subnets/nodes' };
      const frontend = baseNameOf(internal);
      put('frontendIPConfigurations', frontend, { subnet, privateIPAddress: '10.0.0.30' }, two);
      const led = { frontendIPConfiguration: { id: `${two}/frontendIPConfigurations/${frontend}` }, frontendPort: 80 };
      put('loadBalancingRules', `${frontend}-TCP-80`, led, two);
    });

    test('the one that has it, internal or public, where that is its place', async () => {
      expect((await ask(on(internal, 'two')))?.resources.map(({ id }) => id)).toEqual([two]);
      serve(balancer(2));
      expect((await ask(on(balancer(2), 'kubernetes')))?.resources).toHaveLength(2);
    });

    test('where its place is another one, it is told which one has it, and what to write', async () => {
      await expect(ask(on(internal, 'kubernetes'))).rejects.toMatchObject({
        code: 'Invalid',
        field: 'spec.azure.configurations',
        message: expect.stringContaining('is on load balancer two-internal, and its place is kubernetes-internal') as string,
        remedy: expect.stringContaining('azure-load-balancer-configurations: "two"') as string,
      });
      expect(await ask(on(internal, 'kubernetes'), 'Itself')).toBeUndefined();
      expect(await ask(on(balancer(3), 'kubernetes'))).toBeUndefined();
    });
  });

  test('nothing of it is there: nothing is found', async () => {
    serve(balancer(1));
    expect(await ask(balancer(2))).toBeUndefined();
    expect(await ask(balancer(1, { scheme: 'Internal' }))).toBeUndefined();
  });

  const rows: [string, (input: AzureInput) => void | [AzureInput, string?], object][] = [
    [
      'an address of another Service',
      (input) => server.cloud.tamper(serve(input), ({ tags = {} }) => void (tags['k8s-azure-service'] = 'demo/other')),
      { code: 'Taken', message: expect.stringContaining('Service demo/other') as string },
    ],
    [
      'an address of another cluster',
      (input) => server.cloud.tamper(serve(input), ({ tags = {} }) => void (tags['k8s-azure-cluster-name'] = 'theirs')),
      { code: 'Taken', message: expect.stringContaining('cluster theirs') as string },
    ],
    [
      'a load balancer of another cluster of ours',
      (input) => {
        serve(input);
        server.cloud.tamper(BALANCER, (resource) => void (resource.tags = { [TAG.clusterID]: 'another', [TAG.stack]: 't' }));
      },
      { code: 'Taken', message: expect.stringContaining('cluster another') as string },
    ],
    [
      'an address that the spec does not ask for',
      (input) => void serve(input, { name: 'byo' }),
      { code: 'Invalid', message: expect.stringContaining('20.9.0.1 (public IP address byo)') as string },
    ],
    [
      'a Basic load balancer',
      (input) => {
        serve(input);
        server.cloud.tamper(BALANCER, (resource) => void (resource.sku = { name: 'Basic' }));
      },
      { code: 'Invalid', message: expect.stringContaining('SKU Standard') as string },
    ],
    [
      'a pool of interfaces',
      (input) => {
        serve(input);
        put('backendAddressPools', 'kubernetes', { backendIPConfigurations: [{ id: 'nic' }] });
      },
      { code: 'Invalid', message: expect.stringContaining('nodeIP') as string },
    ],
  ];
  test.each(rows)('%s is refused, and says what to do', async (_name, prepare, expected) => {
    const input = balancer(1);
    prepare(input);
    await expect(ask(input)).rejects.toMatchObject({ ...expected, remedy: expect.stringMatching(/./) as string });
  });

  test('the address that a Service of IPv6 alone names without the family is nobody’s to take over, and its frontend stays', async () => {
    const annotations = { 'service.beta.kubernetes.io/azure-pip-name': 'shop' };
    const { block } = compile(annotations, { ports: [], ipFamilies: ['IPv6'] });
    const input = balancer(1, { ipFamilies: ['IPv6'] }, block);
    serve(input, { name: 'shop', ip: '2603:1030::4' });
    const adopted = await ask(input);
    expect(adopted?.kept).toEqual({ frontends: { IPv6: baseNameOf(input) } });
    expect(adopted?.resources.map(({ id }) => id)).toEqual([BALANCER]);
  });

  test('an id is refused', async () => {
    serve(balancer(1));
    await expect(ask(balancer(1), 'Upstream', BALANCER)).rejects.toMatchObject({ code: 'Invalid', field: 'spec.adoptID' });
  });

  test('without any state, the name of a frontend that was taken over is known again by our marks on the load balancer', async () => {
    const input = balancer(1, {}, { publicIP: { ipv4Name: 'shop' } });
    serve(input, { name: 'shop' });
    expect(await ask(input, 'Itself')).toBeUndefined();
    server.cloud.tamper(BALANCER, (resource) => void (resource.tags = { [TAG.clusterID]: CLUSTER, [TAG.stack]: 's' }));
    expect(await ask(input, 'Itself')).toEqual({ from: 'this stack', resources: [], kept: { frontends: { IPv4: baseNameOf(input) } } });
  });
});
