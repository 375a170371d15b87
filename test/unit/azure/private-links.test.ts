import { azureProviderSettings, type AzureProviderSettingsInput } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import type { AzureInput } from '../../../providers/azure/load-balancers/arguments';
import { entriesOf } from '../../../providers/azure/load-balancers/entries';
import { AzureLoadBalancers } from '../../../providers/azure/load-balancers/load-balancers';
import { baseNameOf } from '../../../providers/azure/load-balancers/names';
import type { RenderedStack } from '../../../providers/azure/load-balancers/render';
import { type RenderedLink, type RenderedLinks } from '../../../providers/azure/private-links/links';
import { TAG } from '../../../providers/azure/tags';
import type { LoadBalancerInput } from '../../../providers/provider';
import { balancer, HTTP, HTTPS, NODES, place, SUBSCRIPTION } from './balancer-scene';

const INTERNAL = { scheme: 'Internal' };
const PRE = { preConfiguredPools: 'Internal' as const };
const SHARED = { ...INTERNAL, addresses: ['10.0.0.9'] };
const [SUB_A, SUB_B] = ['AAAAAAAA-0000-4000-8000-000000000000', 'bbbbbbbb-0000-4000-8000-000000000000'];

function loadBalancers(settings: Partial<AzureProviderSettingsInput> = PRE): AzureLoadBalancers {
  const all = { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', vnetName: 'net', subnetName: 'nodes', ...settings };
  return new AzureLoadBalancers({ clusterID: 'c', location: 'westeurope', settings: azureProviderSettings.parse(all) });
}

function linksOf(inputs: LoadBalancerInput[], settings?: Partial<AzureProviderSettingsInput>): RenderedLinks | undefined {
  const stack = loadBalancers(settings).render('s', inputs, () => NODES) as unknown as RenderedStack;
  return stack.balancers[0]?.links;
}

function servicesOf(...inputs: LoadBalancerInput[]): RenderedLink[] {
  return linksOf(inputs)?.services ?? [];
}

const linked = (number: number, privateLink: object, core: object = INTERNAL, generation?: number): AzureInput =>
  balancer(number, core, { privateLink }, generation);
const networkID = (...path: string[]): string =>
  `/subscriptions/${SUBSCRIPTION}/resourceGroups/cluster/providers/Microsoft.Network/${path.join('/')}`;
const frontendID = (name = ''): string => networkID('loadBalancers', 'kubernetes-internal', 'frontendIPConfigurations', name);

describe('a Private Link Service', () => {
  test('is upstream’s where nothing is said of it', () => {
    const input = linked(1, {});
    const base = baseNameOf(input);
    expect(servicesOf(input, balancer(2, INTERNAL))).toEqual([
      {
        name: `pls-${base}`,
        subnetID: networkID('virtualNetworks', 'net', 'subnets', 'nodes'),
        resourceGroupName: 'cluster',
        serviceName: `pls-${base}`,
        location: 'westeurope',
        loadBalancerFrontendIpConfigurations: [{ id: frontendID(base) }],
        ipConfigurations: [
          {
            name: `nodes-pls-${base}-dynamic-0`,
            primary: true,
            privateIPAddressVersion: 'IPv4',
            privateIPAllocationMethod: 'Dynamic',
            subnet: { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') },
          },
        ],
        enableProxyProtocol: false,
        fqdns: [],
        visibility: { subscriptions: [] },
        autoApproval: { subscriptions: [] },
        tags: {
          'k8s-azure-owner-service': 'demo/web-1',
          'k8s-azure-cluster-name': 'kubernetes',
          [TAG.clusterID]: 'c',
          [TAG.stack]: 's',
          [TAG.ownerUID]: input.ownerUID,
          [TAG.owner]: 'demo/web-1',
        },
      },
    ]);
  });

  test('has what is asked for; the first of its addresses is the main one', () => {
    const [service] = servicesOf(
      linked(1, {
        name: 'shop',
        subnetName: 'links',
        addressCount: 3,
        addresses: ['10.0.2.20', '10.0.2.10'],
        fqdns: ['b.example', 'a.example'],
        proxyProtocol: true,
        visibility: ['*', SUB_A],
        autoApproval: [SUB_B, SUB_A],
      }),
    );
    expect(service).toMatchObject({
      name: 'shop',
      serviceName: 'shop',
      enableProxyProtocol: true,
      fqdns: ['a.example', 'b.example'],
      visibility: { subscriptions: ['*'] },
      autoApproval: { subscriptions: [SUB_A?.toLowerCase(), SUB_B] },
    });
    expect(service?.ipConfigurations.map(({ name, primary, privateIPAddress }) => [name, primary, privateIPAddress])).toEqual([
      ['links-shop-dynamic-0', false, undefined],
      ['links-shop-static-10.0.2.10', false, '10.0.2.10'],
      ['links-shop-static-10.0.2.20', true, '10.0.2.20'],
    ]);
  });

  test('takes addresses from the subnet of its frontend, and is in the group that the CloudProvider says', () => {
    const input = balancer(1, INTERNAL, { subnetName: 'apps', privateLink: {} });
    const settings = { ...PRE, privateLinkServiceResourceGroup: 'links', loadBalancerResourceGroup: 'Cluster' };
    const { services, standing } = linksOf([input, linked(2, { resourceGroup: 'cluster', name: 'x' })], settings)!;
    expect(services.map(({ name, resourceGroupName, subnetID }) => [name, resourceGroupName, subnetID.split('/').at(-1)])).toEqual([
      [`pls-${baseNameOf(input)}-apps`, 'links', 'apps'],
      ['cluster/x', 'cluster', 'nodes'],
    ]);
    expect(standing.resourceGroups).toEqual(['links', 'cluster']);
    expect(standing.links.map(({ id }) => id.split('/')[4])).toEqual(['links', 'cluster']);
  });

  test('is for IPv4 alone, and no name is longer than Azure takes it', () => {
    const dual = linked(1, {}, { ...INTERNAL, ipFamilies: ['IPv4', 'IPv6'] });
    expect(servicesOf(dual)).toHaveLength(1);
    const [long] = servicesOf(balancer(1, INTERNAL, { subnetName: 'a'.repeat(80), privateLink: {} }));
    expect([long?.serviceName, long?.ipConfigurations[0]?.name].map((name) => name?.length)).toEqual([79, 80]);
  });

  test('is there once for a frontend that several share, and is that one’s who has settings of it', () => {
    const ask = (number: number, privateLink: object) =>
      linked(number, privateLink, { ...SHARED, listeners: [{ name: 'p', port: number, nodePort: 30000 + number }] });
    const owner = ask(2, { fqdns: ['a.example'] });
    for (const inputs of [
      [ask(1, {}), owner, ask(3, {})],
      [ask(3, {}), owner],
    ]) {
      const services = servicesOf(...inputs);
      expect(services).toMatchObject([{ fqdns: ['a.example'], tags: { 'k8s-azure-owner-service': 'demo/web-2' } }]);
    }
    expect(servicesOf(ask(3, {}), ask(1, {}))).toMatchObject([{ fqdns: [], tags: { 'k8s-azure-owner-service': 'demo/web-1' } }]);
    const frontend = entriesOf(owner, place({}, 'kubernetes-internal'))[0]?.frontend;
    expect(servicesOf(ask(1, {}))[0]?.name).toBe(`pls-${frontend}`);
  });

  test('of a load balancer that is replaced is there beside the old one; one that has a name moves at once', () => {
    const replaced = (privateLink: object): LoadBalancerInput => ({
      ...linked(1, privateLink, INTERNAL, 1),
      retiring: { input: linked(1, privateLink) },
    });
    const base = baseNameOf(linked(1, {}));
    expect(servicesOf(replaced({})).map(({ serviceName }) => serviceName)).toEqual([`pls-${base}`, `pls-${base}-g1`]);
    const named = servicesOf(replaced({ name: 'shop' }));
    expect(named.map((service) => service.loadBalancerFrontendIpConfigurations)).toEqual([[{ id: frontendID(`${base}-g1`) }]]);
  });

  test('is nothing that a program hears of where it can’t be', () => {
    expect(linksOf([balancer(1)], PRE)).toBeUndefined();
    expect(linksOf([balancer(1, INTERNAL)], {})).toBeUndefined();
    expect(linksOf([balancer(1, INTERNAL)])).toMatchObject({ services: [], standing: { links: [] } });
    // It was there, and the pools have become ours: what is in Azure stays known.
    expect(linksOf([linked(1, {})], {})?.services).toHaveLength(1);
  });
});

describe('what only one has', () => {
  const soles = (privateLink: object, core: object = INTERNAL) => loadBalancers().sole(linked(1, privateLink, core).spec);
  const settings = 'the settings of the Private Link Service at 10.0.0.9';

  test.each<[string, object, object, string[]]>([
    ['nothing, where nothing is said of it', {}, SHARED, []],
    ['the settings of one that may be shared', { fqdns: ['a.example'] }, SHARED, [settings]],
    ['none of one that is its own', { fqdns: ['a.example'] }, INTERNAL, []],
    ['a name', { name: 'Shop' }, INTERNAL, ['private link service cluster/shop']],
    ['both', { name: 'shop', resourceGroup: 'Links' }, SHARED, ['private link service links/shop', settings]],
  ])('%s', (_name, privateLink, core, expected) => {
    expect(soles(privateLink, core)).toEqual(expected);
  });
});

describe('what Azure can’t do is said', () => {
  const rows: [string, object, object, Partial<AzureProviderSettingsInput>, string][] = [
    ['pools of addresses', INTERNAL, {}, {}, ''],
    ['pools that others fill on public load balancers only', INTERNAL, {}, { preConfiguredPools: 'External' }, ''],
    ['IPv6 alone', { ...INTERNAL, ipFamilies: ['IPv6'] }, {}, PRE, ''],
    ['a resource group that is nobody’s', INTERNAL, { resourceGroup: 'theirs' }, PRE, '.resourceGroup'],
    ['an address of IPv6', INTERNAL, { addresses: ['fd00::7'] }, PRE, '.addresses'],
    ['more addresses than it has', INTERNAL, { addresses: ['10.0.2.7', '10.0.2.8'] }, PRE, '.addresses'],
    ['somebody approved who does not see it', INTERNAL, { visibility: [SUB_A], autoApproval: [SUB_B] }, PRE, '.autoApproval'],
  ];
  test.each(rows)('%s', (...[, core, privateLink, settings, field]) => {
    const problems = loadBalancers(settings).validate(linked(1, privateLink, core).spec);
    expect(problems).toMatchObject([{ severity: 'Error', field: `spec.azure.privateLink${field}` }]);
  });

  test('and what it can is taken', () => {
    const all = { resourceGroup: 'CLUSTER', addresses: ['10.0.2.7'], addressCount: 2, visibility: ['*'], autoApproval: [SUB_B] };
    expect(loadBalancers().validate(linked(1, all).spec)).toEqual([]);
    const open = balancer(1, {}, { floatingIP: false, privateLink: {} }).spec;
    expect(loadBalancers({ preConfiguredPools: 'All' }).validate(open)).toEqual([]);
    expect(loadBalancers({ preConfiguredPools: 'All', subnetName: undefined }).validate(open)).toMatchObject([
      { field: 'spec.azure.privateLink.subnetName' },
    ]);
  });
});

test('another name or group replaces it, and nothing else does', () => {
  const change = (before: object | undefined, after: object | undefined, more: object = {}) => {
    const [had, wants] = [before, after].map((privateLink) => balancer(1, { ...INTERNAL, ...more }, privateLink && { privateLink }));
    return loadBalancers().replacement(had!, wants!);
  };
  expect(change({ name: 'a' }, { name: 'b' })).toMatchObject({ gap: true, why: expect.stringContaining('privateLink.name') as string });
  expect(change({}, { resourceGroup: 'b' })).toMatchObject({ gap: true });
  for (const [before, after] of [
    [{ name: 'a' }, { name: 'A', fqdns: ['x.example'], subnetName: 'links' }],
    [undefined, { name: 'a' }],
    [{ name: 'a' }, undefined],
  ]) {
    expect(change(before, after)).toBeUndefined();
  }
});

test('a failure of it, or of its subnet, is its load balancer’s', () => {
  const inputs = [linked(1, { name: 'shop', subnetName: 'links' }), linked(2, {}), balancer(3, { ...INTERNAL, listeners: [HTTP, HTTPS] })];
  const attributed = (name: string): string[] =>
    loadBalancers().attribute(new OperatorError('Invalid', 'refused', { resource: `urn:pulumi:s::p::t::${name}` }), inputs);
  expect(attributed('shop')).toEqual([inputs[0]?.uid]);
  expect(attributed(`pls-${baseNameOf(inputs[1]!)}`)).toEqual([inputs[1]?.uid]);
  expect(attributed('kubernetes-internal-links-links')).toEqual([inputs[0]?.uid]);
});
