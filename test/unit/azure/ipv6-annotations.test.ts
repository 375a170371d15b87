import { azureLoadBalancer, azureProviderSettings } from '../../../crds';
import type { JsonObject } from '../../../operator/base/json';
import type { ServiceFacts } from '../../../providers/provider';
import { ANNOTATION_PREFIX } from '../../../providers/azure/annotations/annotation';
import { compile } from '../../../providers/azure/annotations/annotations';
import { AzureLoadBalancers } from '../../../providers/azure/load-balancers/load-balancers';
import { baseNameOf } from '../../../providers/azure/load-balancers/names';
import type { RenderedBalancer, RenderedStack } from '../../../providers/azure/load-balancers/render';
import { balancer, NODES, SUBSCRIPTION } from './balancer-scene';

const NETWORK = `/subscriptions/${SUBSCRIPTION}/resourceGroups/cluster/providers/Microsoft.Network`;
const PREFIX = `${NETWORK}/publicIPPrefixes/out`;
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] };
const BASE = baseNameOf(balancer(1));

/** What a Service of both families with annotations, whose names are given without the prefix, comes to. */
function made(annotations: Record<string, string>, core: object = {}): RenderedBalancer {
  const given = Object.fromEntries(Object.entries(annotations).map(([name, text]) => [ANNOTATION_PREFIX + name, text]));
  const { block, problems, core: read } = compile(given, { ports: [] });
  expect(problems).toEqual([]);
  const input = balancer(1, { ...DUAL, ...read, ...core }, azureLoadBalancer.parse(block));
  const settings = { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', vnetName: 'net', subnetName: 'nodes' };
  const balancers = new AzureLoadBalancers({ clusterID: 'c', location: 'westeurope', settings: azureProviderSettings.parse(settings) });
  const stack = balancers.render('s', [input], () => NODES) as JsonObject & RenderedStack;
  return stack.balancers[0]!;
}

const namesOf = ({ addresses }: RenderedBalancer): string[] => addresses.map(({ publicIpAddressName: name }) => name);
const publicOf = ({ loadBalancer }: RenderedBalancer): (string | undefined)[] =>
  loadBalancer.frontendIPConfigurations.map(({ publicIPAddress }) => publicIPAddress?.id);

describe('each annotation of IPv6 does for its family, and for no other, what its twin does for IPv4', () => {
  test.each([
    ['load-balancer-ipv4', '20.1.2.3', 'IPv4', `kubernetes-${BASE}-IPv6`],
    ['load-balancer-ipv6', '2603:1030::9', 'IPv6', `kubernetes-${BASE}`],
  ])('%s: the address that is there, and none is made of %s', (annotation, address, family, other) => {
    const found = made({ [annotation]: address });
    expect(found.named).toMatchObject([{ family, resourceGroupName: 'cluster', by: { address }, users: ['demo/web-1'] }]);
    expect(namesOf(found)).toEqual([other]);
  });

  test.each([
    ['load-balancer-ipv4', '10.0.0.77', 0],
    ['load-balancer-ipv6', 'fd00::77', 1],
  ])('%s of an internal one: the address in the subnet is %s', (annotation, address, index) => {
    const { loadBalancer, addresses } = made({ 'load-balancer-internal': 'true', [annotation]: address });
    expect(addresses).toEqual([]);
    const allocated = loadBalancer.frontendIPConfigurations.map((one) => [one.privateIPAllocationMethod, one.privateIPAddress]);
    expect(allocated[index]).toEqual(['Static', address]);
    expect(allocated[1 - index]).toEqual(['Dynamic', undefined]);
  });

  test.each([
    ['pip-name', 'IPv4', [`${NETWORK}/publicIPAddresses/web`, `${NETWORK}/publicIPAddresses/kubernetes-${BASE}-IPv6`]],
    ['pip-name-ipv6', 'IPv6', [`${NETWORK}/publicIPAddresses/kubernetes-${BASE}`, `${NETWORK}/publicIPAddresses/web`]],
  ])('%s: the one of that name at the frontend of %s', (annotation, family, ids) => {
    const found = made({ [annotation]: 'web' });
    expect(publicOf(found)).toEqual(ids);
    expect(found.named).toMatchObject([{ family, by: { name: 'web' } }]);
    expect(namesOf(found)).toHaveLength(1);
  });

  test('pip-name-ipv6 in the resource group that is named', () => {
    const found = made({ 'pip-name-ipv6': 'web', 'load-balancer-resource-group': 'net' });
    expect(publicOf(found)[1]).toBe(`${NETWORK.replace('/cluster/', '/net/')}/publicIPAddresses/web`);
    expect(found.named).toMatchObject([{ family: 'IPv6', resourceGroupName: 'net' }]);
  });

  test.each([
    ['pip-prefix-id', [PREFIX, undefined], [`kubernetes-${BASE}-out`, `kubernetes-${BASE}-IPv6`]],
    ['pip-prefix-id-ipv6', [undefined, PREFIX], [`kubernetes-${BASE}`, `kubernetes-${BASE}-out-IPv6`]],
  ])('%s: the address that is made is taken from it, under a name with it', (annotation, prefixes, names) => {
    const found = made({ [annotation]: PREFIX });
    expect(found.addresses.map(({ publicIPAddressVersion }) => publicIPAddressVersion)).toEqual(['IPv4', 'IPv6']);
    expect(found.addresses.map(({ publicIPPrefix }) => publicIPPrefix?.id)).toEqual(prefixes);
    expect(namesOf(found)).toEqual(names);
    expect(publicOf(found)).toEqual(names.map((name) => `${NETWORK}/publicIPAddresses/${name}`));
  });

  test('together with its twin each has its own', () => {
    const { named } = made({ 'load-balancer-ipv4': '20.1.2.3', 'pip-name-ipv6': 'web-6' });
    expect(named.map(({ family, by }) => [family, by])).toEqual([
      ['IPv4', { address: '20.1.2.3' }],
      ['IPv6', { name: 'web-6' }],
    ]);
  });
});

describe('a Service of IPv6 alone has for its address what names no family, as upstream', () => {
  const ONLY: ServiceFacts = { ports: [], ipFamilies: ['IPv6'] };
  const OTHER = `${NETWORK}/publicIPPrefixes/other`;
  const read = (annotations: Record<string, string>, facts: ServiceFacts = ONLY) =>
    compile(Object.fromEntries(Object.entries(annotations).map(([name, text]) => [ANNOTATION_PREFIX + name, text])), facts);

  test.each([
    [{ 'pip-name': 'web' }, { ipv6Name: 'web' }],
    [{ 'pip-prefix-id': PREFIX }, { ipv6PrefixID: PREFIX }],
    [
      { 'pip-name': 'web', 'pip-name-ipv6': 'web-6' },
      { ipv4Name: 'web', ipv6Name: 'web-6' },
    ],
    [
      { 'pip-prefix-id': OTHER, 'pip-prefix-id-ipv6': PREFIX },
      { ipv4PrefixID: OTHER, ipv6PrefixID: PREFIX },
    ],
    [
      { 'pip-name': 'web', 'load-balancer-resource-group': 'net' },
      { ipv6Name: 'web', resourceGroup: 'net' },
    ],
  ])('%j', (annotations, publicIP) => {
    expect(read(annotations)).toMatchObject({ block: { publicIP }, problems: [] });
    expect(Object.keys(read(annotations).block.publicIP as object).sort()).toEqual(Object.keys(publicIP).sort());
  });

  test('and one of IPv4, or of both families, for that of IPv4', () => {
    for (const ipFamilies of [undefined, ['IPv4'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']] as ServiceFacts['ipFamilies'][]) {
      const facts = { ports: [], ...(ipFamilies !== undefined && { ipFamilies }) };
      expect(read({ 'pip-name': 'web' }, facts).block).toEqual({ publicIP: { ipv4Name: 'web' } });
    }
  });

  test.each([
    [{ 'pip-name': 'web', 'pip-prefix-id': PREFIX }, 'pip-prefix-id'],
    [{ 'pip-name': 'web', 'pip-prefix-id-ipv6': PREFIX }, 'pip-prefix-id-ipv6'],
    [{ 'pip-name-ipv6': 'web', 'pip-prefix-id': PREFIX }, 'pip-prefix-id'],
  ])('a prefix beside a name is refused: %j', (annotations, at) => {
    const { block, problems } = read(annotations);
    expect(problems).toMatchObject([{ severity: 'Error', field: ANNOTATION_PREFIX + at, value: PREFIX }]);
    expect(block).toEqual({ publicIP: { ipv6Name: 'web' } });
  });

  test('one that was served at an address of its own gets the named one beside it, once that is approved', () => {
    const spec = { ipFamilies: ['IPv6'] };
    const [before, after] = [{ publicIP: { ipv4Name: 'web' } }, read({ 'pip-name': 'web' }).block].map((azure) => balancer(1, spec, azure));
    const settings = azureProviderSettings.parse({ subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', vnetName: 'net' });
    const balancers = new AzureLoadBalancers({ clusterID: 'c', location: 'westeurope', settings });
    expect(balancers.replacement(before!, after!)).toEqual({
      why: 'the change of the public IP address that is named replaces its address',
      gap: false,
    });
  });
});
