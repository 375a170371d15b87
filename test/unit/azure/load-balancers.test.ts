import { canonicalJson } from '../../../operator/base/json';
import { loadBalancerArguments } from '../../../providers/azure/load-balancers/arguments';
import { addressOf } from '../../../providers/azure/load-balancers/entries';
import { baseNameOf, frontendNameOf, publicIPNameOf, ruleNameOf } from '../../../providers/azure/load-balancers/names';
import type { Probe } from '../../../providers/azure/load-balancers/probes';
import type { LoadBalancingRule } from '../../../providers/azure/load-balancers/rules';
import { armBody } from '../../../providers/azure/resources/arm-body';
import { balancer, HTTP, HTTPS, NODES, place } from './balancer-scene';

const BASE = 'a0000000100004000800022222222222'.padEnd(32, '2').slice(0, 32);
const DUAL = { ipFamilies: ['IPv4', 'IPv6'] };
const INTERNAL = { scheme: 'Internal' };
const UDP = { name: 'dns', protocol: 'UDP', port: 53, nodePort: 30053 };
const SCTP = { name: 'sig', protocol: 'SCTP', port: 2905, nodePort: 30905 };
const LOCAL = { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 31000, path: '/healthz' } };
const PREFIX = '/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/publicIPPrefixes/out';

/** What one load balancer comes to. */
function rendered(core: object, azure?: object, settings: Parameters<typeof place>[0] = {}) {
  return loadBalancerArguments([balancer(1, core, azure)], NODES, place(settings));
}

describe('names are upstream’s', () => {
  test('of a frontend and its public address', () => {
    const input = balancer(1);
    expect(baseNameOf(input)).toBe(BASE);
    expect(frontendNameOf(input, 'IPv4')).toBe(BASE);
    expect(publicIPNameOf(input, 'kubernetes', 'IPv4')).toBe(`kubernetes-${BASE}`);
    expect(ruleNameOf(input, { protocol: 'TCP', port: 80 }, 'IPv4')).toBe(`${BASE}-TCP-80`);
  });

  test('one family has no suffix, whichever it is; of two the second has', () => {
    expect(frontendNameOf(balancer(1, { ipFamilies: ['IPv6'] }), 'IPv6')).toBe(BASE);
    expect(frontendNameOf(balancer(1, DUAL), 'IPv4')).toBe(BASE);
    expect(frontendNameOf(balancer(1, DUAL), 'IPv6')).toBe(`${BASE}-IPv6`);
    expect(publicIPNameOf(balancer(1, DUAL), 'kubernetes', 'IPv6')).toBe(`kubernetes-${BASE}-IPv6`);
  });

  test('with the subnet that is named, and the prefix', () => {
    expect(frontendNameOf(balancer(1, INTERNAL, { subnetName: 'apps' }), 'IPv4')).toBe(`${BASE}-apps`);
    expect(ruleNameOf(balancer(1, INTERNAL, { subnetName: 'apps' }), { protocol: 'TCP', port: 80 }, 'IPv4')).toBe(`${BASE}-apps-TCP-80`);
    expect(publicIPNameOf(balancer(1, {}, { publicIP: { ipv4PrefixID: PREFIX } }), 'kubernetes', 'IPv4')).toBe(`kubernetes-${BASE}-out`);
  });

  test('are cut where Azure ends them', () => {
    const long = { subnetName: `${'s'.repeat(41)}-${'t'.repeat(30)}` };
    const frontend = frontendNameOf(balancer(1, { ...INTERNAL, ...DUAL }, long), 'IPv6');
    expect(frontend).toMatch(/^a.{32}-?s+_-IPv6$/);
    expect(frontend).toHaveLength(80);
    const rule = ruleNameOf(balancer(1, { ...INTERNAL, ...DUAL }, long), { protocol: 'TCP', port: 65535 }, 'IPv6');
    expect(rule).toHaveLength(80);
    expect(rule).toMatch(/-TCP-65535-IPv6$/);
    expect(publicIPNameOf(balancer(1, DUAL), 'c'.repeat(63), 'IPv6')).toHaveLength(80);
  });

  test('later generations have their own', () => {
    expect(frontendNameOf(balancer(1, {}, undefined, 2), 'IPv4')).toBe(`${BASE}-g2`);
    expect(ruleNameOf(balancer(1, {}, undefined, 2), { protocol: 'TCP', port: 80 }, 'IPv4')).toBe(`${BASE}-g2-TCP-80`);
  });
});

describe('rules', () => {
  const rows: [string, object, object | undefined, Parameters<typeof place>[0], Partial<LoadBalancingRule>][] = [
    [
      'as upstream makes them',
      {},
      undefined,
      {},
      {
        name: `${BASE}-TCP-80`,
        protocol: 'Tcp',
        frontendPort: 80,
        backendPort: 80,
        enableFloatingIP: true,
        enableTcpReset: true,
        idleTimeoutInMinutes: 4,
        loadDistribution: 'Default',
        disableOutboundSnat: false,
      },
    ],
    [
      'without floating IP: the node port',
      {},
      { floatingIP: false },
      {},
      { enableFloatingIP: false, frontendPort: 80, backendPort: 30080 },
    ],
    ['a longer idle timeout', {}, { idleTimeoutMinutes: 100 }, {}, { idleTimeoutInMinutes: 100 }],
    ['without TCP reset', {}, { tcpReset: false }, {}, { enableTcpReset: false }],
    ['clients that stay with a Node', { sessionAffinity: { type: 'ClientIP' } }, undefined, {}, { loadDistribution: 'SourceIP' }],
    ['not for connections outwards', {}, undefined, { outboundSNAT: false }, { disableOutboundSnat: true }],
    ['UDP', { listeners: [UDP] }, undefined, {}, { name: `${BASE}-UDP-53`, protocol: 'Udp', frontendPort: 53 }],
    [
      'internal IPv6 has no floating IP',
      { ...INTERNAL, ipFamilies: ['IPv6'] },
      undefined,
      {},
      { enableFloatingIP: false, backendPort: 30080 },
    ],
    ['all ports', INTERNAL, { allPorts: true }, {}, { protocol: 'All', frontendPort: 0, backendPort: 0, name: `${BASE}-TCP-80` }],
    ['SCTP, which is all ports', { ...INTERNAL, listeners: [SCTP] }, undefined, {}, { protocol: 'All', frontendPort: 0, backendPort: 0 }],
  ];

  test.each(rows)('%s', (...[, core, azure, settings, rule]) => {
    expect(rendered(core, azure, settings).loadBalancingRules).toMatchObject([rule]);
  });

  test('UDP has neither idle timeout nor TCP reset', () => {
    const [rule] = rendered({ listeners: [UDP] }).loadBalancingRules;
    expect(rule).not.toHaveProperty('idleTimeoutInMinutes');
    expect(rule).not.toHaveProperty('enableTcpReset');
  });

  test('a port without a rule has none, and no probe', () => {
    const { loadBalancingRules, probes } = rendered({ listeners: [HTTP, HTTPS] }, { ports: [{ port: 443, rule: false }] });
    expect(loadBalancingRules.map(({ frontendPort }) => frontendPort)).toEqual([80]);
    expect(probes.map(({ port }) => port)).toEqual([30080]);
  });

  test('all ports together have one rule, whatever there are', () => {
    const asked = { allPorts: true, idleTimeoutMinutes: 30, tcpReset: false };
    const { loadBalancingRules, probes } = rendered({ ...INTERNAL, listeners: [UDP, HTTP, HTTPS] }, asked);
    const probe = { id: expect.stringMatching(/probes\/.*-TCP-80$/) as string };
    expect(loadBalancingRules).toMatchObject([{ protocol: 'All', probe, idleTimeoutInMinutes: 30, enableTcpReset: false }]);
    expect(probes).toHaveLength(1);
  });
});

describe('probes', () => {
  const own: Probe = { name: `${BASE}-TCP-80`, protocol: 'Tcp', port: 30080, intervalInSeconds: 5, probeThreshold: 2 };
  const local: Probe = { ...own, name: `${BASE}-TCP-31000`, protocol: 'Http', port: 31000, requestPath: '/healthz' };
  const shared: Probe = { ...own, name: 'cluster-service-shared-health-probe', protocol: 'Http', port: 10256, requestPath: '/healthz' };
  const sharing = { healthProbe: { mode: 'Shared' as const, port: 10256, path: '/healthz' } };
  const named = (appProtocol: string) => ({ listeners: [{ ...HTTP, appProtocol }] });
  const port = (settings: object) => ({ ports: [{ port: 80, ...settings }] });

  const rows: [string, object, object | undefined, Parameters<typeof place>[0], Probe[]][] = [
    ['each port’s node port, by TCP', {}, undefined, {}, [own]],
    ['none of UDP', { listeners: [UDP] }, undefined, {}, []],
    ['by appProtocol', named('https'), undefined, {}, [{ ...own, protocol: 'Https', requestPath: '/' }]],
    ['an appProtocol that no probe speaks', named('kubernetes.io/h2c'), { probe: { protocol: 'HTTP' } }, {}, [own]],
    [
      'of all ports',
      {},
      { probe: { protocol: 'HTTP', path: '/p', intervalSeconds: 7, threshold: 3 } },
      {},
      [{ ...own, protocol: 'Http', requestPath: '/p', intervalInSeconds: 7, probeThreshold: 3 }],
    ],
    [
      'appProtocol before that of all ports',
      named('http'),
      { probe: { protocol: 'TCP', path: '/p' } },
      {},
      [{ ...own, protocol: 'Http', requestPath: '/p' }],
    ],
    [
      'a port’s own before all',
      named('http'),
      { probe: { protocol: 'HTTP', intervalSeconds: 9 }, ...port({ protocol: 'HTTPS', path: '/q', intervalSeconds: 6 }) },
      {},
      [{ ...own, protocol: 'Https', requestPath: '/q', intervalInSeconds: 6 }],
    ],
    ['none where the port says so', {}, port({ probe: false }), {}, []],
    [
      'of another listener, by name',
      { listeners: [HTTP, HTTPS] },
      {
        ports: [
          { port: 80, probePort: 'HTTPS' },
          { port: 443, probe: false },
        ],
      },
      {},
      [{ ...own, port: 30443 }],
    ],
    [
      'of another listener, by number',
      { listeners: [HTTP, HTTPS] },
      {
        ports: [
          { port: 80, probePort: '443' },
          { port: 443, probe: false },
        ],
      },
      {},
      [{ ...own, port: 30443 }],
    ],
    ['of a port of the Nodes', {}, port({ probePort: '10256' }), {}, [{ ...own, port: 10256 }]],
    ['whether the Node has an endpoint', LOCAL, { probe: { protocol: 'TCP', intervalSeconds: 60 } }, {}, [local]],
    ['the same for UDP', { ...LOCAL, listeners: [UDP] }, undefined, {}, [local]],
    ['the same once for all ports', { ...LOCAL, listeners: [HTTP, HTTPS] }, undefined, {}, [local]],
    ['but for a port that names one', LOCAL, port({ probePort: '10256' }), {}, [{ ...own, port: 10256 }]],
    ['and not behind a PROXY protocol header', { ...LOCAL, ...INTERNAL }, { privateLink: { proxyProtocol: true } }, {}, [own]],
    ['one for all Services', {}, { probe: { protocol: 'HTTPS' } }, sharing, [shared]],
    ['which is not for trafficPolicy Local', LOCAL, undefined, sharing, [local]],
    ['nor where the port has none', {}, port({ probe: false }), sharing, []],
  ];

  test.each(rows)('%s', (...[, core, azure, settings, probes]) => {
    const all = rendered(core, azure, settings);
    expect(all.probes).toEqual(probes);
    const ids = all.loadBalancingRules.flatMap(({ probe }) => (probe === undefined ? [] : [probe.id.split('/').at(-1)]));
    expect([...new Set(ids)]).toEqual(probes.map(({ name }) => name));
  });
});

describe('frontends', () => {
  test('a public one has the address that is made for it, or the one that is named', () => {
    const id = (name: string, group = 'cluster') =>
      `/subscriptions/${place().subscriptionID}/resourceGroups/${group}/providers/Microsoft.Network/publicIPAddresses/${name}`;
    expect(rendered({}).frontendIPConfigurations).toEqual([{ name: BASE, publicIPAddress: { id: id(`kubernetes-${BASE}`) } }]);
    const named = { publicIP: { ipv4Name: 'web', resourceGroup: 'net' } };
    expect(rendered(DUAL, named).frontendIPConfigurations).toEqual([
      { name: expect.stringMatching(/^a[0-9a-f]{31}$/) as string, publicIPAddress: { id: id('web', 'net') } },
      { name: `${BASE}-IPv6`, publicIPAddress: { id: id(`kubernetes-${BASE}-IPv6`) } },
    ]);
  });

  test('an internal one is in the Nodes’ subnet, or in the one that is named; its address is Azure’s choice, or fixed', () => {
    const net = `/subscriptions/${place().subscriptionID}/resourceGroups/cluster/providers/Microsoft.Network/virtualNetworks/net`;
    expect(rendered(INTERNAL).frontendIPConfigurations).toEqual([
      { name: BASE, subnet: { id: `${net}/subnets/nodes` }, privateIPAllocationMethod: 'Dynamic', privateIPAddressVersion: 'IPv4' },
    ]);
    expect(
      rendered({ ...INTERNAL, addresses: ['10.1.0.9'] }, { subnetName: 'apps' }, { vnetResourceGroup: 'hub' }).frontendIPConfigurations,
    ).toEqual([
      {
        name: expect.stringMatching(/^a[0-9a-f]{31}$/) as string,
        subnet: { id: `${net.replace('/cluster/', '/hub/')}/subnets/apps` },
        privateIPAllocationMethod: 'Static',
        privateIPAddress: '10.1.0.9',
        privateIPAddressVersion: 'IPv4',
      },
    ]);
  });

  test('the annotation’s address goes before those of the spec, each in its family', () => {
    const input = balancer(1, { ...DUAL, addresses: ['10.1.0.9', 'fd00::9'] }, { ipv4Address: '10.1.0.10' });
    expect([addressOf(input, 'IPv4'), addressOf(input, 'IPv6')]).toEqual(['10.1.0.10', 'fd00::9']);
    expect(addressOf(balancer(1), 'IPv4')).toBeUndefined();
  });
});

describe('one load balancer for many', () => {
  const inputs = [balancer(3, DUAL), balancer(1, { listeners: [HTTP, HTTPS] }), balancer(2, LOCAL)];

  test('has the parts of all; neither their order nor that of the Nodes matters', () => {
    const all = loadBalancerArguments(inputs, NODES, place());
    expect(all.frontendIPConfigurations).toHaveLength(4);
    expect(all.loadBalancingRules).toHaveLength(5);
    expect(canonicalJson(loadBalancerArguments(inputs.toReversed(), NODES.toReversed(), place()))).toBe(canonicalJson(all));
  });

  test('deleting one leaves every byte of the others', () => {
    const all = loadBalancerArguments(inputs, NODES, place());
    const without = loadBalancerArguments(inputs.slice(0, 2), NODES, place());
    const kept = (list: { name: string }[]) => list.filter(({ name }) => !name.startsWith(baseNameOf(balancer(2))));
    expect(without.frontendIPConfigurations).toEqual(kept(all.frontendIPConfigurations));
    expect(without.loadBalancingRules).toEqual(kept(all.loadBalancingRules));
  });

  test('a pool of each family that somebody needs, with the Nodes’ addresses in their order', () => {
    const pools = loadBalancerArguments(inputs, NODES, place()).backendAddressPools;
    expect(
      pools.map(({ name, loadBalancerBackendAddresses: all }) => [name, all.map(({ name, ipAddress }) => `${name} ${ipAddress}`)]),
    ).toEqual([
      ['kubernetes', ['node-1 10.0.0.1', 'node-2 10.0.0.2']],
      ['kubernetes-IPv6', ['node-1-ipv6 fd00::1', 'node-2-ipv6 fd00::2']],
    ]);
    expect(loadBalancerArguments([balancer(1)], NODES, place()).backendAddressPools).toHaveLength(1);
  });

  test('an address is in a pool once, though two Nodes have it, one of which goes', () => {
    const twin = { ...NODES[0]!, nodeName: 'node-0', providerID: 'azure:///node-0' };
    const [pool] = loadBalancerArguments([balancer(1)], [...NODES, twin], place()).backendAddressPools;
    expect(pool?.loadBalancerBackendAddresses.map(({ name, ipAddress }) => [name, ipAddress])).toEqual([
      ['node-0', '10.0.0.2'],
      ['node-1', '10.0.0.1'],
    ]);
  });

  test('in Azure’s own terms settings are below properties, in parts too, and references stay as they are', () => {
    const body = armBody(JSON.parse(JSON.stringify(loadBalancerArguments([balancer(1)], NODES, place()))) as never);
    expect(Object.keys(body).sort()).toEqual(['location', 'properties', 'sku']);
    const { backendAddressPools, loadBalancingRules } = body.properties as Record<string, { properties: Record<string, never> }[]>;
    expect(backendAddressPools?.[0]?.properties.loadBalancerBackendAddresses).toMatchObject([
      { name: 'node-1', properties: { ipAddress: '10.0.0.1' } },
      {},
    ]);
    expect(loadBalancingRules?.[0]?.properties.backendAddressPools).toEqual([
      { id: expect.stringMatching(/backendAddressPools\/kubernetes$/) as string },
    ]);
  });
});
