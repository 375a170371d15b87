import { azureProviderSettings, type AzureProviderSettingsInput, type CloudLoadBalancerSpec } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { selects } from '../../../operator/base/label-selector';
import type { AzureInput } from '../../../providers/azure/load-balancers/arguments';
import { entriesOf } from '../../../providers/azure/load-balancers/entries';
import { AzureLoadBalancers } from '../../../providers/azure/load-balancers/load-balancers';
import { baseNameOf, publicIPNameOf } from '../../../providers/azure/load-balancers/names';
import type { RenderedBalancer, RenderedStack } from '../../../providers/azure/load-balancers/render';
import { locationOf } from '../../../providers/azure/load-balancers/scope';
import { loadBalancersOf } from '../../../providers/azure/served';
import { TAG } from '../../../providers/azure/tags';
import type { Target } from '../../../providers/provider';
import { balancer, HTTP, HTTPS, NODES, place, SUBSCRIPTION } from './balancer-scene';

const INTERNAL = { scheme: 'Internal' };

function loadBalancers(settings: Partial<AzureProviderSettingsInput> = {}): AzureLoadBalancers {
  const all = { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster', vnetName: 'net', subnetName: 'nodes', ...settings };
  return new AzureLoadBalancers({ clusterID: 'c', location: 'westeurope', settings: azureProviderSettings.parse(all) });
}

function rendered(inputs: AzureInput[], settings: Partial<AzureProviderSettingsInput> = {}, nodes: Target[] = NODES): RenderedBalancer {
  const stack = loadBalancers(settings).render('s', inputs, () => nodes) as unknown as RenderedStack;
  expect(stack.balancers).toHaveLength(1);
  return stack.balancers[0]!;
}

describe('stacks', () => {
  const ofSeveral = { loadBalancers: [{ name: 'one' }, { name: 'two' }, { name: 'closed', allowServicePlacement: false }] };

  test.each([
    ['a public one', {}, undefined, {}, 'kubernetes'],
    ['an internal one', INTERNAL, undefined, {}, 'kubernetes-internal'],
    ['another name of the cluster', INTERNAL, undefined, { clusterName: 'prod' }, 'prod-internal'],
    ['the name that is set', {}, undefined, { loadBalancerName: 'edge' }, 'edge'],
    ['one of several, by name', {}, { configurations: ['two'] }, ofSeveral, 'two'],
    ['one that takes no others, by name', INTERNAL, { configurations: ['closed'] }, ofSeveral, 'closed-internal'],
  ])('%s', (...[, core, azure, settings, name]) => {
    expect(loadBalancers(settings).defaultPlacement(balancer(1, core, azure))).toBe(name);
  });

  test('R-32: those that ask for one address are on one load balancer, which has it', () => {
    const settings = { loadBalancers: ['lb1', 'lb2', 'lb3'].map((name) => ({ name })) };
    for (const azure of [{ publicIP: { ipv4Name: 'shared' } }, { ipv4Address: '203.0.113.10' }]) {
      const all = Array.from({ length: 20 }, (_, number) => loadBalancers(settings).defaultPlacement(balancer(number, {}, azure)));
      expect(new Set(all).size).toBe(1);
    }
  });

  test('of several load balancers each takes some, and one more takes only what it then has', () => {
    const names = (settings: object): string[] =>
      Array.from({ length: 60 }, (_, number) => loadBalancers(settings).defaultPlacement(balancer(number)));
    const two = names(ofSeveral);
    expect(new Set(two)).toEqual(new Set(['one', 'two']));
    const three = names({ loadBalancers: [...ofSeveral.loadBalancers, { name: 'three' }] });
    const moved = two.flatMap((name, index) => (three[index] === name ? [] : [three[index]]));
    expect(moved.length).toBeGreaterThan(0);
    expect(new Set(moved)).toEqual(new Set(['three']));
  });
});

describe('what the program gets', () => {
  test('is the same in whatever order load balancers and Nodes come', () => {
    const inputs = [balancer(1), balancer(2, { listeners: [HTTP, HTTPS] }), balancer(3, {}, { publicIP: { dnsLabel: 'web' } })];
    const all = [inputs, inputs.toReversed()].map((some, index) => rendered(some, {}, index === 0 ? NODES : NODES.toReversed()));
    expect(canonicalJson(all[0] as never)).toBe(canonicalJson(all[1] as never));
  });

  test('has an address for each, with the marks of upstream and of ours, and none for one that is named', () => {
    const { addresses, named } = rendered([
      balancer(1, {}, { publicIP: { dnsLabel: 'web', tags: { team: 'a' }, ipTags: { RoutingPreference: 'Internet' } } }),
      balancer(2, {}, { publicIP: { ipv4Name: 'theirs', resourceGroup: 'net' } }),
      balancer(3, { addresses: ['20.0.0.9'] }),
    ]);
    expect(addresses).toMatchObject([
      {
        dnsSettings: { domainNameLabel: 'web' },
        ipTags: [{ ipTagType: 'RoutingPreference', tag: 'Internet' }],
        tags: {
          team: 'a',
          'k8s-azure-service': 'demo/web-1',
          'k8s-azure-cluster-name': 'kubernetes',
          'k8s-azure-dns-label-service': 'demo/web-1',
          [TAG.owner]: 'demo/web-1',
          [TAG.stack]: 's',
        },
      },
    ]);
    expect(named).toMatchObject([
      { family: 'IPv4', resourceGroupName: 'net', by: { name: 'theirs' } },
      { family: 'IPv4', resourceGroupName: 'cluster', by: { address: '20.0.0.9' } },
    ]);
  });

  test('has each tag once, in whatever letter case it is asked for', () => {
    const ask = balancer(1, {}, { publicIP: { tags: { Team: 'web', 'K8s-Azure-Service': 'mine' } } });
    const tags = rendered([ask], { tags: { team: 'net', cost: '1' } }).addresses[0]?.tags;
    expect(tags).toMatchObject({ team: 'web', cost: '1', 'k8s-azure-service': 'demo/web-1' });
    expect(tags).not.toHaveProperty('Team');
    expect(tags).not.toHaveProperty('K8s-Azure-Service');
  });

  test('has one frontend for an address that several ask for, whose name none of them decides', () => {
    const ask = (number: number, port: number) =>
      balancer(number, { ...INTERNAL, addresses: ['10.0.0.9'], listeners: [{ name: 'p', port, nodePort: 30000 + port }] });
    const both = rendered([ask(1, 80), ask(2, 81)]).loadBalancer;
    expect(both.frontendIPConfigurations).toHaveLength(1);
    expect(both.loadBalancingRules).toHaveLength(2);
    expect(rendered([ask(2, 81)]).loadBalancer.frontendIPConfigurations).toEqual(both.frontendIPConfigurations);
  });

  test('a port is claimed at an address by every word by which another one may ask for it', () => {
    const made = balancer(1, {}, {});
    const name = `public IP address ${publicIPNameOf(made, 'kubernetes', 'IPv4')}`;
    const both = { ipFamilies: ['IPv4', 'IPv6'] };
    const rows: [AzureInput, string[], string[]][] = [
      [made, [], [name]],
      [made, ['20.0.0.1', '20.0.0.7'], [name, '20.0.0.1']],
      [balancer(1, { ...INTERNAL, addresses: ['10.0.0.9'] }), ['10.0.0.9'], ['10.0.0.9']],
      [balancer(1, INTERNAL), ['10.0.0.8'], ['10.0.0.8']],
      [balancer(1, both, { ipv4Address: '20.0.0.1' }), ['20.0.0.1', '2001:db8::1'], ['20.0.0.1', `${name}-ipv6`, '2001:db8::1']],
      [balancer(1, {}, { publicIP: { ipv4Name: 'Web' } }), ['20.0.0.1'], ['public IP address web', '20.0.0.1']],
      [balancer(1, {}, { publicIP: { ipv4Name: 'web', resourceGroup: 'Net' } }), [], ['public IP address web of resource group net']],
      [balancer(1, {}, { publicIP: { ipv4Name: 'web', resourceGroup: 'CLUSTER' } }), [], ['public IP address web']],
    ];
    for (const [input, given, places] of rows) {
      expect(loadBalancers().places(input, given)).toEqual(places);
    }
  });

  test('says of each resource whom it serves: an address its own, the load balancer all', () => {
    const inputs = { balancers: [rendered([balancer(1), balancer(2)])] } as unknown as JsonObject;
    const own = loadBalancersOf({ args: { tags: { [TAG.ownerUID]: balancer(2).ownerUID } } }, inputs);
    expect(own).toEqual([balancer(2).uid]);
    expect(loadBalancersOf({ args: { tags: { [TAG.ownerUID]: 'kubernetes' } } }, inputs)).toEqual([]);
  });
});

describe('what settings decide', () => {
  const inputs = [balancer(1, {}, { floatingIP: false }), balancer(2)];
  const bare = (settings: Partial<AzureProviderSettingsInput>, nodes = NODES): string => {
    const several = loadBalancers({ securityGroupName: 'sg', ...settings });
    return canonicalJson(several.withoutTargets(several.render('s', inputs, () => nodes)));
  };

  test('is told from what the Nodes decide', () => {
    expect(bare({}, NODES.slice(1))).toBe(bare({}));
    expect(bare({}, [])).toBe(bare({}));
    expect(bare({ loadBalancerResourceGroup: 'other' })).not.toBe(bare({}));
    expect(bare({ tags: { team: 'net' } })).not.toBe(bare({}));
    expect(loadBalancers().withoutTargets({})).toEqual({ balancers: [] });
  });

  const frontend = (path: string, old?: string) => ({
    path: `frontendIPConfigurations${path}`,
    new: '"new"',
    ...(old !== undefined && { old }),
  });
  test.each<[string, Parameters<AzureLoadBalancers['lossBy']>[0]['op'], string, object[], string | undefined]>([
    [
      'a frontend in another subnet',
      'update',
      'LoadBalancer',
      [frontend('[0].subnet.id', '"old"')],
      'gives frontends of LoadBalancer x other addresses',
    ],
    [
      'a frontend that goes',
      'update',
      'LoadBalancer',
      [{ path: 'frontendIPConfigurations[1]', old: '{}' }],
      'gives frontends of LoadBalancer x other addresses',
    ],
    ['not a frontend more', 'update', 'LoadBalancer', [frontend('[2]')], undefined],
    ['not what is said of one more than before', 'update', 'LoadBalancer', [frontend('[0].privateIPAddressVersion')], undefined],
    ['not another rule', 'update', 'LoadBalancer', [{ path: 'loadBalancingRules[0].frontendPort', old: '80', new: '81' }], undefined],
    ['an address that goes', 'delete', 'PublicIPAddress', [], 'deletes PublicIPAddress x'],
    ['a Private Link Service that goes', 'delete', 'PrivateLinkService', [], 'deletes PrivateLinkService x'],
    ['not the label of an address', 'update', 'PublicIPAddress', [{ path: 'dnsSettings', old: '{}' }], undefined],
  ])('takes away: %s', (...[, op, type, properties, says]) => {
    const of = { op, type: `azure-native:network:${type}`, name: 'x', urn: 'u', properties } as Parameters<AzureLoadBalancers['lossBy']>[0];
    expect(loadBalancers().lossBy(of)).toBe(says);
  });
});

describe('what only one load balancer can have', () => {
  const RANGES = { sourceRanges: ['10.0.0.0/8'] };
  const BLIND = { floatingIP: false };
  const of = (core: object, azure?: object): string[] => loadBalancers().exclusive(balancer(1, core, azure).spec);

  test('is an address that is asked for, and the DNS label of one that is made', () => {
    expect(of({}, { publicIP: { dnsLabel: 'web' } })).toEqual(['DNS label web']);
    expect(of({ addresses: ['20.0.0.9'] }, { publicIP: { dnsLabel: 'web' } })).toEqual(['20.0.0.9']);
    expect(of({ ...INTERNAL }, { publicIP: { dnsLabel: 'web' } })).toEqual([]);
    expect(of({ ipFamilies: ['IPv4', 'IPv6'] }, { ipv4Address: '20.0.0.9', publicIP: { dnsLabel: 'web' } })).toEqual([
      '20.0.0.9',
      'DNS label web',
    ]);
  });

  test('is a rule to the Nodes themselves, which without floating IP is the same on either side of a change of scheme', () => {
    const rule = 'the rule that lets 10.0.0.0/8 in to 30080/Tcp of the Nodes';
    expect(of(RANGES, BLIND)).toEqual([rule]);
    expect(of({ ...RANGES, ...INTERNAL }, BLIND)).toEqual([rule]);
    expect(of(RANGES)).toEqual([]);
    // Without ranges only the public one lets anybody in.
    expect([of({}, BLIND), of(INTERNAL, BLIND)]).toEqual([['the rule that lets Internet in to 30080/Tcp of the Nodes'], []]);
  });

  test('is none of these between several load balancers, each of which has Nodes of its own', () => {
    const [one, two] = ['one', 'two'].map((name) => of(RANGES, { ...BLIND, configurations: [name] }));
    expect(one).toEqual(['the rule that lets 10.0.0.0/8 in to 30080/Tcp of the Nodes behind one']);
    expect(two).not.toEqual(one);
  });
});

describe('replacement', () => {
  const DUAL = { ipFamilies: ['IPv4', 'IPv6'] };
  const PREFIX = `/subscriptions/${place().subscriptionID}/resourceGroups/net/providers/Microsoft.Network/publicIPPrefixes/out`;
  const rows: [string, AzureInput, AzureInput, boolean | undefined][] = [
    ['another port', balancer(1), balancer(1, { listeners: [HTTPS] }), undefined],
    ['a DNS label', balancer(1), balancer(1, {}, { publicIP: { dnsLabel: 'web' } }), undefined],
    ['a second family', balancer(1), balancer(1, DUAL), undefined],
    ['IPv6 from both families', balancer(1, DUAL), balancer(1, { ipFamilies: ['IPv6'] }), false],
    ['a subnet', balancer(1, INTERNAL), balancer(1, INTERNAL, { subnetName: 'apps' }), false],
    [
      'a subnet, where one family has no floating IP',
      balancer(1, { ...INTERNAL, ...DUAL }),
      balancer(1, { ...INTERNAL, ...DUAL }, { subnetName: 'apps' }),
      true,
    ],
    [
      'a prefix under a DNS label that stays',
      balancer(1, {}, { publicIP: { dnsLabel: 'web' } }),
      balancer(1, {}, { publicIP: { dnsLabel: 'web', ipv4PrefixID: PREFIX } }),
      true,
    ],
    [
      'a prefix and the DNS label',
      balancer(1, {}, { publicIP: { dnsLabel: 'web' } }),
      balancer(1, {}, { publicIP: { dnsLabel: 'shop', ipv4PrefixID: PREFIX } }),
      false,
    ],
    ['a named address', balancer(1), balancer(1, {}, { publicIP: { ipv4Name: 'web' } }), false],
    ['an address that it may have already', balancer(1, INTERNAL), balancer(1, { ...INTERNAL, addresses: ['10.0.0.9'] }), true],
    [
      'IP tags without floating IP',
      balancer(1, {}, { floatingIP: false }),
      balancer(1, {}, { floatingIP: false, publicIP: { ipTags: { a: 'b' } } }),
      true,
    ],
  ];
  test.each(rows)('%s', (_name, before, after, gap) => {
    const found = loadBalancers().replacement(before, after);
    expect(found?.gap).toBe(gap);
    expect(loadBalancers().replacement(after, after)).toBeUndefined();
  });

  test('of a public address that is made, with a gap: under a name of its own, since Azure deletes none that a frontend has', () => {
    const renamed = (name: string): unknown => {
      const [, before, after] = rows.find(([of]) => of === name)!;
      return loadBalancers().replacement(before, after)?.renamed;
    };
    expect(renamed('a prefix under a DNS label that stays')).toBe(true);
    expect(renamed('IP tags without floating IP')).toBe(true);
    expect(renamed('an address that it may have already')).toBeUndefined();
  });
});

describe('whose fault a failure is', () => {
  const inputs = [balancer(1), balancer(2), balancer(3, {}, { publicIP: { ipv4Name: 'theirs' } })];
  const namedFrontend = entriesOf(inputs[2]!, place())[0]?.frontend;
  const urn = (type: string, name: string): string => `urn:pulumi:s::p::${type}::${name}`;
  const attributed = (name: string, message: string): string[] =>
    loadBalancers().attribute(new OperatorError('Invalid', message, { resource: urn('azure-native:network:LoadBalancer', name) }), inputs);

  test.each([
    ['an address is its load balancer’s', `kubernetes-${baseNameOf(inputs[1]!)}`, 'refused', [inputs[1]!.uid]],
    ['a part is named in Azure’s words', 'kubernetes', `Rule ${baseNameOf(inputs[0]!)}-TCP-80: no`, [inputs[0]!.uid]],
    [
      'so is the frontend of an address that was asked for',
      'kubernetes',
      `Resource lb/${namedFrontend} is referencing public IP address x`,
      [inputs[2]!.uid],
    ],
    ['nobody is named', 'kubernetes', 'Cannot create more than 250 rules on one load balancer.', []],
    ['a later generation is another name', 'kubernetes', `Rule ${baseNameOf(inputs[0]!)}-g1-TCP-80: no`, []],
  ])('%s', (_name, name, message, uids) => {
    expect(attributed(name, message)).toEqual(uids);
  });
});

describe('what Azure can’t do is said', () => {
  const rows: [string, object, object | undefined, Partial<AzureProviderSettingsInput>, string][] = [
    ['no network', {}, undefined, { vnetName: undefined }, 'spec.provider'],
    ['no subnet', INTERNAL, undefined, { subnetName: undefined }, 'spec.provider'],
    ['a placement', { placement: { name: 'mine' } }, undefined, {}, 'spec.placement'],
    ['a configuration that is not there', {}, { configurations: ['two'] }, {}, 'spec.azure.configurations'],
    [
      'public SCTP',
      { listeners: [{ name: 's', protocol: 'SCTP', port: 9, nodePort: 30009 }] },
      undefined,
      {},
      'spec.listeners[0].protocol',
    ],
    ['no node port without floating IP', { listeners: [{ name: 'h', port: 80 }] }, { floatingIP: false }, {}, 'spec.listeners[0].nodePort'],
    ['a tag of ours', {}, { publicIP: { tags: { 'cloud-operator.dev-released': 'true' } } }, {}, 'spec.azure.publicIP.tags'],
    ['two tags that are one for Azure', {}, { publicIP: { tags: { team: 'a', Team: 'b' } } }, {}, 'spec.azure.publicIP.tags'],
    ['a second address of one family', { addresses: ['20.0.0.1', '20.0.0.2'] }, undefined, {}, 'spec.addresses'],
    ['both kinds of ranges', { sourceRanges: ['10.0.0.0/8'] }, { access: { ranges: ['192.168.0.0/16'] } }, {}, 'spec.azure.access.ranges'],
    [
      'others denied where Nodes are reached by their own addresses',
      { sourceRanges: ['10.0.0.0/8'] },
      { floatingIP: false, access: { denyOthers: true } },
      {},
      'spec.azure.access.denyOthers',
    ],
    [
      'others denied in internal IPv6, which has no floating IP',
      { ...INTERNAL, ipFamilies: ['IPv4', 'IPv6'], sourceRanges: ['10.0.0.0/8'] },
      { access: { denyOthers: true } },
      {},
      'spec.azure.access.denyOthers',
    ],
    [
      'a probe of a port that is none of the Service',
      {},
      { ports: [{ port: 80, probePort: 'htpp' }] },
      {},
      'spec.azure.ports[0].probePort',
    ],
    [
      'the same where Nodes without an endpoint would get traffic',
      { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 31000 } },
      { ports: [{ port: 80, probePort: '70000' }] },
      {},
      'spec.azure.ports[0].probePort',
    ],
    ['Private Link on a floating public address', {}, { privateLink: {} }, {}, 'spec.azure.privateLink'],
    [
      'more rules than a load balancer may have',
      { listeners: [HTTP, HTTPS] },
      undefined,
      { limits: { rulesPerLoadBalancer: 1 } },
      'spec.listeners',
    ],
  ];
  test.each(rows)('%s', (...[, core, azure, settings, field]) => {
    const { spec } = balancer(1, core, azure);
    const errors = (of: CloudLoadBalancerSpec, more: object) =>
      loadBalancers(more)
        .validate(of)
        .filter(({ severity }) => severity === 'Error');
    expect(errors(spec, settings).map((problem) => problem.field)).toEqual([field]);
    expect(errors(balancer(1).spec, {})).toEqual([]);
  });
});

describe('what has no effect is said', () => {
  const rows: [string, object, object, string[]][] = [
    ['a group where no address is named', {}, { publicIP: { resourceGroup: 'net' } }, ['resourceGroup']],
    [
      'what is set of an address that is there',
      {},
      { publicIP: { ipv4Name: 'web', resourceGroup: 'net', dnsLabel: 'web', tags: { a: 'b' }, ipTags: { c: 'd' } } },
      ['dnsLabel', 'tags', 'ipTags'],
    ],
    ['the same, named by itself', { addresses: ['20.1.0.1'] }, { publicIP: { dnsLabel: 'web' } }, ['dnsLabel']],
    ['but not where one is made too', { ipFamilies: ['IPv4', 'IPv6'] }, { publicIP: { ipv4Name: 'web', dnsLabel: 'web' } }, []],
    ['tags of upstream’s', {}, { publicIP: { tags: { 'k8s-azure-service': 'default/other', team: 'web' } } }, ['tags']],
  ];
  test.each(rows)('%s', (_name, core, azure, fields) => {
    const problems = loadBalancers().validate(balancer(1, core, azure).spec);
    expect(problems.map(({ severity, field }) => [severity, field])).toEqual(
      fields.map((field) => ['Warning', `spec.azure.publicIP.${field}`]),
    );
  });
});

describe('a listener whose Nodes nobody would check is told', () => {
  const bare = { listeners: [{ name: 'http', port: 80 }] };
  const local = { trafficPolicy: 'Local', healthCheck: { protocol: 'HTTP', port: 31000 } };
  const port = (settings: object) => ({ ports: [{ port: 80, ...settings }] });
  const sharing = { healthProbe: { mode: 'Shared' as const, port: 10256, path: '/healthz' } };
  const rows: [string, object, object, Partial<AzureProviderSettingsInput>, boolean][] = [
    ['without node ports', bare, {}, {}, true],
    ['without the node port of the listener that is named', bare, port({ probePort: 'http' }), {}, true],
    ['but not where a port of the Nodes is named', bare, port({ probePort: '10256' }), {}, false],
    ['nor where one probe is for all Services, whatever the port names', bare, port({ probePort: 'htpp' }), sharing, false],
    ['nor where Nodes say whether they have an endpoint', { ...bare, ...local }, {}, {}, false],
    [
      'nor where one rule for all ports has the probe of another one',
      { scheme: 'Internal', listeners: [...bare.listeners, { name: 'more', port: 81 }] },
      { allPorts: true, ports: [{ port: 81, probePort: '10256' }] },
      {},
      false,
    ],
    ['nor where the port is to have no probe', bare, port({ probe: false, probePort: 'htpp' }), {}, false],
    ['nor where it has no rule', bare, port({ rule: false, probePort: 'htpp' }), {}, false],
    ['nor of UDP, which has none', { listeners: [{ name: 'dns', port: 80, protocol: 'UDP' }] }, port({ probePort: 'htpp' }), {}, false],
  ];
  test.each(rows)('%s', (...[, core, azure, settings, isTold]) => {
    const problems = loadBalancers(settings).validate(balancer(1, core, azure).spec);
    expect(problems.map(({ severity, field }) => [severity, field])).toEqual(isTold ? [['Warning', 'spec.listeners[0].nodePort']] : []);
  });
});

test('a load balancer is named in whatever letter case, since the annotation is read in lower case', () => {
  const some = loadBalancers({ loadBalancers: [{ name: 'Big' }, { name: 'small' }] });
  const input = balancer(1, {}, { configurations: ['big'] });
  expect(some.validate(input.spec)).toEqual([]);
  expect(some.defaultPlacement(input)).toBe('Big');
});

test.each([
  ['frontends', { frontendsPerLoadBalancer: 2 }, /it would have 3 frontends, and may have 2/],
  ['rules', { rulesPerLoadBalancer: 2 }, /it would have 3 rules, and may have 2/],
])('more %s than a load balancer may have are not asked of Azure', (_name, limits, message) => {
  const all = [1, 2, 3].map((number) => balancer(number));
  const some = loadBalancers({ limits });
  expect(() => some.render('s', all)).toThrow(message);
  expect(() => some.render('s', all)).toThrow(expect.objectContaining({ code: 'Quota' }) as Error);
  expect(() => some.render('s', all.slice(1))).not.toThrow();
});

test('a region is where Azure says that things are, however it is written', () => {
  expect(['West Europe', 'WestEurope', 'westeurope'].map(locationOf)).toEqual(['westeurope', 'westeurope', 'westeurope']);
});

describe('the Nodes behind a load balancer', () => {
  const [second, first] = NODES as [Target, Target];
  const labelled: Record<string, string> = { 'node-role.kubernetes.io/control-plane': '' };
  const behind = (settings: Partial<AzureProviderSettingsInput>, azure?: object): string[] => {
    const stack = loadBalancers(settings).render('s', [balancer(1, {}, azure)], (selector = {}) =>
      [first, second].filter((node) => selects(selector, node === first ? {} : labelled)),
    ) as unknown as RenderedStack;
    return stack.balancers.flatMap(({ loadBalancer: { backendAddressPools } }) =>
      backendAddressPools.flatMap(({ loadBalancerBackendAddresses: all }) => all.map(({ name }) => name)),
    );
  };

  test('are all but the control plane’s, or all', () => {
    expect(behind({})).toEqual(['node-1']);
    expect(behind({ excludeControlPlane: false })).toEqual(['node-1', 'node-2']);
  });

  test('are somebody else’s where that is set: the pool is theirs, and stays as it is', () => {
    expect(rendered([balancer(1)], { preConfiguredPools: 'All' }).loadBalancer.backendAddressPools).toEqual([]);
    expect(behind({ preConfiguredPools: 'Internal' })).toEqual(['node-1']);
  });

  test('of several load balancers are those with its labels, and all others of the one that asks for none', () => {
    const several = {
      excludeControlPlane: false,
      loadBalancers: [{ name: 'one', nodeSelector: { matchLabels: labelled } }, { name: 'two' }],
    };
    expect(behind(several, { configurations: ['one'] })).toEqual(['node-2']);
    expect(behind(several, { configurations: ['two'] })).toEqual(['node-1']);
  });
});
