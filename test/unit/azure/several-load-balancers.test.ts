import { azureProviderSettings, cloudProviderSpec, type AzureProviderSettingsInput } from '../../../crds';
import { compile } from '../../../providers/azure/annotations/annotations';
import { configurationOf } from '../../../providers/azure/load-balancers/placement';
import { nodesBehind } from '../../../providers/azure/load-balancers/nodes-behind';
import { validateLoadBalancer } from '../../../providers/azure/load-balancers/validation';
import { selects, type LabelSelector } from '../../../operator/base/label-selector';
import type { Compiled, Neighbor, ServiceFacts, Target } from '../../../providers/provider';
import { balancer, SUBSCRIPTION } from './balancer-scene';

type Several = NonNullable<AzureProviderSettingsInput['loadBalancers']>;
const ANNOTATION = 'service.beta.kubernetes.io/azure-load-balancer-configurations';
const NAMESPACES: Record<string, Record<string, string>> = { 'team-y': { team: 'y' }, 'team-z': { team: 'z' } };
const OF_SUBSCRIPTION = { subscriptionID: SUBSCRIPTION, resourceGroup: 'cluster' };

describe('which of several load balancers take a Service', () => {
  const several: Several = [
    { name: 'kubernetes' },
    { name: 'edge', serviceSelector: { matchLabels: { tier: 'edge', zone: 'a' } } },
    { name: 'shop', namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'shop' } } },
    { name: 'drained', allowServicePlacement: false },
    { name: 'teams', namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['x', 'y'] }] } },
  ];
  const compiled = (labels: Record<string, string>, namespace = 'default', named?: string, of = several): Compiled => {
    const settings = cloudProviderSpec.parse({ azure: { ...OF_SUBSCRIPTION, loadBalancers: of } });
    const service = { ports: [], labels, namespace, namespaceLabels: NAMESPACES[namespace] ?? {} };
    return compile(named === undefined ? {} : { [ANNOTATION]: named }, service, settings);
  };
  const edge = { tier: 'edge', zone: 'a', other: 'x' };

  test.each<[string, Parameters<typeof compiled>, string[]]>([
    ['those that ask for nothing', [{}], ['kubernetes']],
    ['those whose labels it has, too', [edge], ['kubernetes', 'edge']],
    ['not those of which it has some labels', [{ tier: 'edge' }], ['kubernetes']],
    ['those of its namespace', [edge, 'shop'], ['kubernetes', 'edge', 'shop']],
    ['of those that it names those whose labels it has', [edge, 'default', 'edge'], ['edge']],
    ['those that take labels of its namespace', [{}, 'team-y'], ['kubernetes', 'teams']],
    ['one that takes no others, by name', [{}, 'default', 'drained'], ['drained']],
  ])('%s', (_which, of, configurations) => {
    expect(compiled(...of)).toMatchObject({ block: { configurations }, problems: [] });
  });

  test('one that it names, and that does not take it, is left out and told; a name that is none is told elsewhere', () => {
    const { block, problems } = compiled({}, 'default', 'edge,kubernetes,nowhere');
    expect(block).toEqual({ configurations: ['kubernetes', 'nowhere'] });
    expect(problems).toMatchObject([
      {
        severity: 'Warning',
        field: ANNOTATION,
        message: expect.stringContaining('edge: its serviceSelector asks for tier=edge') as string,
      },
    ]);
  });

  test.each<[string, string | undefined, Several, string]>([
    [
      'by labels',
      undefined,
      [{ name: 'edge', serviceSelector: { matchLabels: { tier: 'edge' } } }],
      'edge: its serviceSelector asks for tier=edge',
    ],
    ['by name', 'shop', several, 'shop: its namespaceSelector asks for kubernetes.io/metadata.name=shop'],
    ['by labels of the namespace', 'teams', several, 'teams: its namespaceSelector asks for team in (x,y)'],
    [
      'as they are drained',
      undefined,
      [
        { name: 'old', allowServicePlacement: false },
        { name: 'edge', serviceSelector: { matchLabels: { tier: 'edge' } } },
      ],
      'old: its allowServicePlacement is false',
    ],
  ])('none that takes it, %s: it says why', (_how, named, of, why) => {
    const { problems } = compiled({}, 'default', named, of);
    expect(problems).toMatchObject([{ severity: 'Error', field: ANNOTATION }]);
    expect(problems[0]?.message).toContain('no load balancer takes the Service');
    expect(problems[0]?.message).toContain(why);
    expect(problems[0]?.message).toContain('Label the Service');
  });

  test('by name in any letter case: its selectors hold all the same', () => {
    const { problems } = compiled({}, 'default', 'EDGE');
    expect(problems).toMatchObject([
      { severity: 'Error', message: expect.stringContaining('edge: its serviceSelector asks for') as string },
    ]);
  });

  test('who is placed by labels of its namespace waits until they are known; the name alone is known at once', () => {
    const of = (balancers: Several): Compiled => {
      const settings = cloudProviderSpec.parse({ azure: { ...OF_SUBSCRIPTION, loadBalancers: balancers } });
      return compile({}, { ports: [], labels: {}, namespace: 'shop' }, settings);
    };
    const { block, problems } = of(several);
    expect(block).toEqual({});
    expect(problems).toMatchObject([
      { severity: 'Error', message: expect.stringContaining('labels of namespace shop are not known') as string },
    ]);
    expect(of(several.slice(0, 4))).toMatchObject({ block: { configurations: ['kubernetes', 'shop'] }, problems: [] });
  });

  test('one that takes no new ones keeps those that may be on it, as long as its selectors hold', () => {
    const drained: Several = [
      { name: 'one', allowServicePlacement: false, serviceSelector: { matchLabels: { tier: 'edge' } } },
      { name: 'two' },
    ];
    const settings = cloudProviderSpec.parse({ azure: { ...OF_SUBSCRIPTION, loadBalancers: drained } });
    const { spec: current } = balancer(1, {}, { configurations: ['one', 'two'] });
    const of = (labels: Record<string, string>, more: Partial<ServiceFacts> = {}): unknown =>
      compile({}, { ports: [], labels, ...more }, settings).block.configurations;
    expect([of(edge, { current }), of(edge), of({}, { current })]).toEqual([['one', 'two'], ['two'], ['two']]);
  });

  const problemsOf = (of: Several, core = {}): object[] =>
    validateLoadBalancer(balancer(1, core).spec, {
      settings: azureProviderSettings.parse({ ...OF_SUBSCRIPTION, vnetName: 'net', loadBalancers: of }),
    });

  test('a CloudLoadBalancer that somebody writes has no labels: where all ask for some, it names one', () => {
    expect(problemsOf([{ name: 'edge', serviceSelector: { matchLabels: { tier: 'edge' } } }])).toMatchObject([
      { severity: 'Error', field: 'spec.azure.configurations' },
    ]);
    expect(problemsOf(several)).toEqual([]);
  });

  test('with trafficPolicy Local Pods must be on the Nodes of the one: that is told', () => {
    expect(problemsOf(several, { trafficPolicy: 'Local' })).toMatchObject([{ severity: 'Warning', field: 'spec.trafficPolicy' }]);
    expect(problemsOf([{ name: 'kubernetes' }], { trafficPolicy: 'Local' })).toEqual([]);
  });
});

describe('R-32: an address that a Service asks for is on one load balancer', () => {
  const IP = '203.0.113.10';
  const settings = cloudProviderSpec.parse({
    azure: {
      ...OF_SUBSCRIPTION,
      loadBalancers: [
        { name: 'lb1' },
        { name: 'lb2' },
        { name: 'edge', serviceSelector: { matchLabels: { tier: 'edge' } } },
        { name: 'old', allowServicePlacement: false },
      ],
    },
  });
  const azure = (name: string): string => `service.beta.kubernetes.io/azure-${name}`;
  const ofIP = { [azure('load-balancer-ipv4')]: IP };
  const ofName = { [azure('pip-name')]: 'Shared' };
  const madeFor = (number: number, generation = ''): string =>
    `kubernetes-a${balancer(number).ownerUID.replaceAll('-', '').slice(0, 31)}${generation}`;

  /** One that is on a load balancer, and what it asks for. */
  const at = (name: string, block: object = {}, more: Partial<Neighbor> & { core?: object } = {}): Neighbor => {
    const { core, ...rest } = more;
    const { uid, ownerUID, spec } = balancer(1, core, { ...block, configurations: [name] });
    return { uid, ownerUID, key: 'demo/a1', createdAt: '2026-01-01T00:00:00Z', spec, addresses: [], ...rest };
  };
  const compiled = (annotations: Record<string, string>, neighbors: Neighbor[], more: Partial<ServiceFacts> = {}): Compiled =>
    compile(annotations, { ports: [], labels: {}, namespace: 'demo', neighbors: () => neighbors, ...more }, settings);
  const chosen = (...of: Parameters<typeof compiled>): string => {
    const { block, problems, core } = compiled(...of);
    expect(problems.filter(({ severity }) => severity === 'Error')).toEqual([]);
    const { spec } = balancer(2, { ...core, ...(of[2]?.addresses !== undefined && { addresses: of[2].addresses }) }, block);
    return configurationOf({ uid: 'new', spec }, azureProviderSettings.parse(settings.azure));
  };

  const both = ['lb1', 'lb2'];
  const INTERNAL = { [azure('load-balancer-internal')]: 'true' };
  test.each<[string, Record<string, string>, (name: string) => Neighbor, Partial<ServiceFacts>]>([
    ['that was made for another', ofIP, (name) => at(name, {}, { addresses: [IP] }), {}],
    ['by spec.loadBalancerIP', {}, (name) => at(name, {}, { addresses: [IP] }), { addresses: [IP] }],
    ['that another one asks for too, not served yet', ofIP, (name) => at(name, { ipv4Address: IP }), {}],
    ['by its name, in any letter case', ofName, (name) => at(name, { publicIP: { ipv4Name: 'shared' } }), {}],
    ['by the name of one that was made', { [azure('pip-name')]: madeFor(1) }, (name) => at(name), {}],
    ['of a later generation', { [azure('pip-name')]: madeFor(1, '-g2') }, (name) => at(name), {}],
    ['of an internal one', { ...ofIP, ...INTERNAL }, (name) => at(name, {}, { core: { scheme: 'Internal' }, addresses: [IP] }), {}],
  ])('%s: where that is, whichever it is', (_which, annotations, holder, more) => {
    expect(both.map((name) => chosen(annotations, [holder(name)], more))).toEqual(both);
  });

  test.each<[string, Record<string, string>, (name: string) => Neighbor]>([
    ['the address of one with another scheme', ofIP, (name) => at(name, {}, { core: { scheme: 'Internal' }, addresses: [IP] })],
    ['a name in another resource group', ofName, (name) => at(name, { publicIP: { ipv4Name: 'Shared', resourceGroup: 'other' } })],
    ['an address that only the rules of another one open', ofIP, (name) => at(name, {}, { addresses: ['203.0.113.11', IP] })],
    ['another address', ofIP, (name) => at(name, {}, { addresses: ['203.0.113.1'] })],
  ])('not %s', (_which, annotations, other) => {
    expect(new Set(both.map((name) => chosen(annotations, [other(name)]))).size).toBe(1);
  });

  test('who names another load balancer than its holder’s is refused, and told whose it is', () => {
    const c = compiled({ ...ofIP, [ANNOTATION]: 'lb2' }, [at('lb1', {}, { addresses: [IP] })]);
    expect(c.problems).toEqual([expect.objectContaining({ severity: 'Error', field: ANNOTATION, value: 'lb2' })]);
    expect(c.problems[0]?.message).toBe(
      `${IP} belongs to demo/a1, on load balancer lb1, which does not take the Service (the annotation names lb2): the two can't be combined, since an address is on one load balancer. Name lb1, or ask for another address.`,
    );
    expect(chosen({ ...ofIP, [ANNOTATION]: 'LB1,lb2' }, [at('lb1', {}, { addresses: [IP] })])).toBe('lb1');
  });

  test.each([
    ['edge', 'its serviceSelector asks for tier=edge'],
    ['old', 'its allowServicePlacement is false'],
    ['gone', 'it is none of the CloudProvider'],
  ])('one that %s does not take: %s', (name, reason) => {
    const { problems } = compiled(ofIP, [at(name, {}, { addresses: [IP] })]);
    expect(problems).toMatchObject([{ severity: 'Error', message: expect.stringContaining(`(${reason})`) as string }]);
  });

  test('of several that ask for it, one that is served has it, then the oldest; the order does not matter', () => {
    const asks = { ipv4Address: IP };
    const [older, newer] = [at('lb1', asks), at('lb2', asks, { key: 'demo/a2', createdAt: '2026-01-02T00:00:00Z' })];
    const served = { ...newer, addresses: [IP] };
    for (const [neighbors, expected] of [
      [[older, newer], 'lb1'],
      [[older, served], 'lb2'],
    ] as const) {
      expect([neighbors, neighbors.toReversed()].map((all) => chosen(ofIP, [...all]))).toEqual([expected, expected]);
    }
  });

  test('who has come to it stays, also when its first owner is gone, or another one asks for it elsewhere; not while another one is served there', () => {
    for (const [own, other] of [both, both.toReversed()] as [string, string][]) {
      const { spec: current } = balancer(2, {}, { ipv4Address: IP, configurations: [own] });
      expect(chosen(ofIP, [], { current })).toBe(own);
      expect(chosen(ofIP, [at(other, { ipv4Address: IP })], { current })).toBe(own);
      expect(chosen(ofIP, [at(other, {}, { addresses: [IP] })], { current })).toBe(other);
    }
    const { spec: current } = balancer(2, {}, { ipv4Address: IP, configurations: ['lb1'] });
    expect(chosen({ ...ofIP, [ANNOTATION]: 'lb2' }, [], { current })).toBe('lb2');
  });

  test('what is chosen anyway is written as ever, and others are not looked for where no address is asked for', () => {
    const neighbors = jest.fn(() => []);
    expect(compiled(ofIP, []).block.configurations).toEqual(both);
    const facts = { ports: [], labels: {}, namespace: 'demo', neighbors };
    expect(compile({}, facts, settings).block.configurations).toEqual(both);
    expect(neighbors).not.toHaveBeenCalled();
  });
});

describe('which of several load balancers a Node is behind', () => {
  const nodeOf = (number: number, scaleSet = 'pool'): Target => ({
    nodeName: `node-${number}`,
    providerID: `azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/${scaleSet}/virtualMachines/${number}`,
    addresses: [`10.0.0.${number}`],
  });
  const behind = (balancers: Several, nodes: Target[], labelled: Record<string, string[]> = {}): Record<string, string[]> => {
    const settings = azureProviderSettings.parse({ ...OF_SUBSCRIPTION, excludeControlPlane: false, loadBalancers: balancers });
    const labelsOf = (nodeName: string): Record<string, string> =>
      Object.fromEntries(Object.entries(labelled).flatMap(([label, names]) => (names.includes(nodeName) ? [[label, '']] : [])));
    const targets = (selector: LabelSelector = {}): Target[] => nodes.filter(({ nodeName }) => selects(selector, labelsOf(nodeName)));
    const of = ({ name }: { name: string }): [string, string[]] => [
      name,
      nodesBehind(name, targets, settings).map(({ nodeName }) => nodeName),
    ];
    return Object.fromEntries(balancers.map(of));
  };
  const many = Array.from({ length: 40 }, (_, number) => nodeOf(number));
  const all = many.map(({ nodeName }) => nodeName).sort();

  test('one, and the internal one beside it; none is without Nodes, however few there are', () => {
    const three: Several = ['one', 'two', 'three'].map((name) => ({ name }));
    expect(Object.values(behind(three, many)).flat().sort()).toEqual(all);
    expect(Object.values(behind(three, many.slice(0, 3))).map(({ length }) => length)).toEqual([1, 1, 1]);
    const settings = azureProviderSettings.parse({ ...OF_SUBSCRIPTION, excludeControlPlane: false, loadBalancers: three });
    expect(nodesBehind('one-internal', () => many, settings)).toEqual(nodesBehind('one', () => many, settings));
  });

  test('the order of the Nodes does not matter, and one that goes moves hardly any other', () => {
    const two: Several = [{ name: 'one' }, { name: 'two' }];
    const before = behind(two, many);
    const sorted = (shares: Record<string, string[]>): Record<string, string[]> =>
      Object.fromEntries(Object.entries(shares).map(([name, nodes]) => [name, [...nodes].sort()]));
    expect(sorted(behind(two, many.toReversed()))).toEqual(sorted(before));
    for (const gone of [0, 7, 39]) {
      const after = behind(two, many.toSpliced(gone, 1));
      const moved = all.filter((name) => after.one?.includes(name) && before.two?.includes(name));
      expect(moved.length).toBeLessThanOrEqual(1);
    }
  });

  test('those of its primary scale set are a load balancer’s own, whatever labels they have; those with its labels are spread over who asks for them', () => {
    const nodes = [nodeOf(1), nodeOf(2), nodeOf(3, 'edge'), nodeOf(4)];
    const balancers: Several = [
      { name: 'kubernetes', primaryVMSet: 'POOL-0' },
      { name: 'edge', primaryVMSet: 'EDGE' },
      { name: 'gpu', nodeSelector: { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] } },
    ];
    expect(behind(balancers, nodes, { gpu: ['node-2', 'node-3'] })).toMatchObject({
      edge: expect.arrayContaining(['node-3']) as string[],
      gpu: ['node-2'],
    });
    const only: Several = [{ name: 'gpu', nodeSelector: { matchExpressions: [{ key: 'gpu', operator: 'Exists' }] } }];
    expect(behind(only, nodes, { gpu: ['node-2'] })).toEqual({ gpu: ['node-2'] });
  });
});
