import { LABEL_EXCLUDE_FROM_LOAD_BALANCERS } from '../../../operator/kube/well-known';
import type { JsonObject } from '../../../operator/base/json';
import { NODES, type Service } from '../../../operator/kube/object';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { partsIn } from '../../harness/arm/resource';
import { connect, GROUP, LOCATION, networkID } from '../../harness/arm/scene';
import { secretsWith } from '../state/planted';
import { addressOf, serviceOf } from '../operator/scene';
import { AzureScene, SECRET } from './operator-scene';
import { bodiesOf, serves } from './written';

const PREFIX = 'service.beta.kubernetes.io/azure-';
const INTERNAL = { [`${PREFIX}load-balancer-internal`]: 'true' };

/** One that takes everything, as if there were no others, and two for those that are labelled, of a namespace that is. */
const SEVERAL = [
  { name: 'kubernetes' },
  ...['edge', 'back'].map((name) => ({
    name,
    serviceLabelSelector: { matchLabels: { tier: name } },
    serviceNamespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] },
    nodeSelector: { matchExpressions: [{ key: 'pool', operator: 'In', values: [name] }] },
  })),
];

describe('an operator with a subscription of Azure', () => {
  let azure: AzureScene;

  beforeAll(async () => {
    azure = await AzureScene.start({}, { azureJson: { multipleStandardLoadBalancerConfigurations: SEVERAL } });
    await azure.addNode();
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => azure.stop());

  const setting = (settings: object): Promise<unknown> =>
    azure.cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type=merge', '-p', JSON.stringify({ spec: { azure: settings } })]);
  const published = (...names: string[]): Promise<string[]> => Promise.all(names.map((name) => azure.scene.published(name)));

  test('Services share one load balancer, each at an address of its own, with the Nodes behind it; a Node more is one write', async () => {
    const { scene, cluster } = azure;
    await cluster.apply(serviceOf('web'));
    await scene.ready('web', { timeoutMs: 60_000 });
    azure.forgetCalls();
    await cluster.apply(serviceOf('api'));
    const [web, api] = await published('web', 'api');
    expect(azure.writes().sort()).toEqual(['PUT loadBalancers', 'PUT networkSecurityGroups', 'PUT publicIPAddresses']);
    expect(web).not.toBe(api);
    expect((await scene.service('web'))?.status?.loadBalancer?.ingress).toEqual([{ ip: web, ipMode: 'VIP' }]);
    expect((await scene.stackOf('web')).metadata.name).toBe((await scene.stackOf('api')).metadata.name);
    expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(2);
    expect(azure.letInTo()).toEqual([web, api].sort());
    expect(azure.poolOf()).toEqual(['10.0.3.1']);

    azure.forgetCalls();
    const node = await azure.addNode();
    await scene.until('the second Node behind it', () => Promise.resolve(azure.poolOf().includes(node.address)));
    expect(azure.writes()).toEqual(['PUT loadBalancers']);
  }, 120_000);

  test('#3500: a Node that is not ready, tainted or cordoned stays in the pool, and with it what it may need to get ready; one with the label leaves', async () => {
    const { scene, cluster } = azure;
    const name = 'node-2';
    const before = azure.poolOf();
    expect(before).toHaveLength(2);
    await scene.setReady(name, false);
    const taints = [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' }];
    await cluster.kube.patch(NODES, name, 'merge', { spec: { unschedulable: true, taints } });
    await cluster.apply(serviceOf('api', { ports: [{ name: 'https', port: 443 }] }));
    await scene.until('the other port', () =>
      Promise.resolve(partsIn(azure.balancer(), 'loadBalancingRules').some(({ properties }) => properties.frontendPort === 443)),
    );
    expect(azure.poolOf()).toEqual(before);
    await cluster.kubectl(['label', 'node', name, 'node.kubernetes.io/exclude-from-external-load-balancers=']);
    await scene.until('the Node to leave', () => Promise.resolve(azure.poolOf().length === 1));
    await cluster.kubectl(['label', 'node', name, 'node.kubernetes.io/exclude-from-external-load-balancers-']);
    await scene.until('the Node to be back', () => Promise.resolve(azure.poolOf().length === 2));
  }, 90_000);

  test('Nodes follow while a window is closed, also where the update for them is interrupted, and the operator starts again', async () => {
    const { scene, cluster, arm } = azure;
    const schedule = `0 ${(new Date().getUTCHours() + 6) % 24} * * *`;
    const windows = (maintenanceWindows: object[] | null): Promise<string> =>
      cluster.kubectl(['patch', 'clb', 'web', '--type=merge', '-p', JSON.stringify({ spec: { maintenanceWindows } })]);
    await windows([{ schedule, duration: '1h' }]);
    arm.cloud.locks.set(GROUP, 'ReadOnly');
    const { name, address } = await azure.addNode();
    await scene.condition('web', 'Stalled', 'CredentialsRefused');
    await cluster.killOperator();
    arm.cloud.locks.delete(GROUP);
    await cluster.startOperator();
    await scene.until('the Node behind it', () => Promise.resolve(azure.poolOf().includes(address)));
    await windows(null);
    await cluster.kubectl(['label', 'node', name, `${LABEL_EXCLUDE_FROM_LOAD_BALANCERS}=`]);
    await scene.until('the Node to leave', () => Promise.resolve(!azure.poolOf().includes(address)));
    await scene.ready('web');
  }, 120_000);

  test('R-48: what would replace the address of one of several waits for approval; nothing of the others is touched, and without it all goes on', async () => {
    const { scene, cluster, arm } = azure;
    const [web, api] = await published('web', 'api');
    const prefix = networkID('publicIPPrefixes', 'range');
    arm.cloud.seed(prefix, { location: LOCATION, sku: { name: 'Standard' }, properties: { ipPrefix: '20.8.0.0/28' } });
    azure.forgetCalls();
    await cluster.kubectl(['annotate', 'service', 'api', `${PREFIX}pip-prefix-id=${prefix}`]);
    const { message } = await scene.condition('api', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain('the change of the public IP prefix replaces its address');
    expect(azure.writes()).toEqual([]);
    await cluster.kubectl(['annotate', 'service', 'api', `${PREFIX}pip-prefix-id-`]);
    await scene.ready('api');
    expect(await published('web', 'api')).toEqual([web, api]);
    expect(azure.writes()).toEqual([]);
  }, 60_000);

  test('R-48: other settings of the CloudProvider that would replace the load balancer wait for all who are on it; taken back, they leave no trace', async () => {
    const { scene, cluster } = azure;
    const before = await published('web', 'api');
    azure.forgetCalls();
    await setting({ loadBalancerResourceGroup: 'other' });
    for (const name of ['web', 'api']) {
      const { message } = await scene.condition(name, 'Reconciling', 'AwaitingApproval');
      expect(message).toContain(
        'the settings of CloudProvider azure have changed: the update replaces LoadBalancer kubernetes, which cuts',
      );
      expect(message).toContain('default/api, default/web, and spec.updatePolicy.replace is Never');
    }
    await cluster.apply(serviceOf('late'));
    expect((await scene.condition('late', 'Reconciling', 'StackAwaitingApproval')).message).toContain('waits for approval at default/');
    expect(azure.writes()).toEqual([]);
    await setting({ loadBalancerResourceGroup: null });
    await scene.ready('late');
    expect(azure.writes().sort()).toEqual(['PUT loadBalancers', 'PUT networkSecurityGroups', 'PUT publicIPAddresses']);
    await scene.deleteServices('late');
    expect(await published('web', 'api')).toEqual(before);

    // Of what cuts nobody nobody is asked.
    azure.forgetCalls();
    await setting({ tags: { team: 'net' } });
    await scene.until('the tags', () => Promise.resolve(azure.balancer()?.tags?.team === 'net'));
    await setting({ tags: null });
    await scene.until('no tags', () => Promise.resolve(azure.balancer()?.tags?.team === undefined));
    await Promise.all([scene.ready('web'), scene.ready('api')]);
  }, 90_000);

  test('an internal Service is on another load balancer, and let in to only by the virtual network', async () => {
    const { scene, cluster } = azure;
    await cluster.apply(serviceOf('inner', { annotations: INTERNAL }));
    const before = azure.letInTo();
    const [inner] = await published('inner');
    expect(inner).toMatch(/^10\.0\.0\./);
    expect(partsIn(azure.balancer('kubernetes-internal'), 'frontendIPConfigurations')).toHaveLength(1);
    expect(azure.letInTo()).toEqual(before);
    expect(azure.poolOf('kubernetes-internal')).toEqual(azure.poolOf());

    // A Node more is one write of each of the two.
    azure.forgetCalls();
    const node = await azure.addNode();
    await scene.until('the Node behind both', () =>
      Promise.resolve(['kubernetes', 'kubernetes-internal'].every((name) => azure.poolOf(name).includes(node.address))),
    );
    await scene.settled(3_000);
    const written = azure.arm.calls.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`);
    expect(written.sort()).toEqual(['kubernetes', 'kubernetes-internal'].map((name) => `PUT ${networkID('loadBalancers', name)}`));

    // Another subnet for all of them is a change in place, and another address.
    azure.forgetCalls();
    await setting({ subnetName: 'small' });
    const { message } = await scene.condition('inner', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain('gives frontends of LoadBalancer kubernetes-internal other addresses, which cuts default/inner');
    expect(azure.writes()).toEqual([]);
    const hash = / cloud-operator\.dev\/approve=([0-9a-f]+)/.exec(message ?? '')?.[1] ?? '';
    await cluster.kubectl(['annotate', 'cloudloadbalancers', '--all', '--overwrite', `cloud-operator.dev/approve=${hash}`]);
    await scene.ready('inner');
    expect(azure.writes()).toEqual(['PUT loadBalancers']);
    await scene.deleteServices('inner');
    await setting({ subnetName: 'nodes' });
    expect(azure.balancer('kubernetes-internal')).toBeUndefined();
  }, 60_000);

  test.each<[string, object, string[]]>([
    // Who no longer may come in is shut out when the load balancer is written.
    ['public', {}, ['PUT networkSecurityGroups', 'PUT loadBalancers', 'PUT networkSecurityGroups']],
    // What clients come in to, its frontends tell.
    [
      'internal',
      { annotations: INTERNAL, spec: { loadBalancerSourceRanges: ['10.9.0.0/16'] } },
      ['PUT loadBalancers', 'PUT networkSecurityGroups'],
    ],
  ])(
    'with approval: Manual, another port of a Service (%s) is carried out as its plan says, in one update, with nothing taken back',
    async (scheme, more, writes) => {
      const { scene, cluster } = azure;
      const name = `asked-${scheme}`;
      await cluster.apply(serviceOf(name, more));
      const [address = ''] = await published(name);
      await cluster.kubectl(['patch', 'clb', name, '--type=merge', '-p', '{"spec":{"updatePolicy":{"approval":"Manual"}}}']);
      await scene.ready(name);
      azure.forgetCalls();
      await cluster.apply(serviceOf(name, { ...more, ports: [{ name: 'http', port: 8080 }] }));
      await scene.planOf(name);
      expect(azure.writes()).toEqual([]);

      // Whoever waits keeps no Node in the load balancer that all share.
      const balancer = scheme === 'public' ? 'kubernetes' : 'kubernetes-internal';
      const pool = azure.poolOf(balancer);
      const node = (await cluster.kubectl(['get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}'])).trim();
      const label = (how: string): Promise<string> =>
        cluster.kubectl(['label', 'node', node, `${LABEL_EXCLUDE_FROM_LOAD_BALANCERS}${how}`]);
      await label('=');
      await scene.until('the Node to leave', () => Promise.resolve(azure.poolOf(balancer).length === pool.length - 1));
      await label('-');
      await scene.until('the Node to be back', () => Promise.resolve(azure.poolOf(balancer).length === pool.length));
      expect(azure.portsOf(address)).toEqual(['80']);
      await scene.condition(name, 'Reconciling', 'AwaitingApproval');
      await scene.settled();
      azure.forgetCalls();
      const { hash } = await scene.planOf(name);
      await cluster.kubectl(['annotate', 'clb', name, '--overwrite', `cloud-operator.dev/approve=${hash}`]);
      await scene.ready(name);
      expect([azure.writes(), azure.portsOf(address)]).toEqual([writes, ['8080']]);
      const told = (await scene.events('CloudLoadBalancer', name)).map(({ reason }) => reason);
      expect(told.filter((reason) => reason !== 'Updated')).toContain('AwaitingApproval');
      expect(told.filter((reason) => reason !== 'Updated' && reason !== 'AwaitingApproval')).toEqual([]);
      await scene.deleteServices(name);
    },
    60_000,
  );

  test('both families, open to service tags and ranges alone: each family has its own rules, and one that denies the others while that is asked for', async () => {
    const { scene, cluster } = azure;
    const deny = `${PREFIX}deny-all-except-load-balancer-source-ranges`;
    const annotations = {
      [`${PREFIX}allowed-service-tags`]: 'AzureCloud,Storage',
      [`${PREFIX}allowed-ip-ranges`]: '203.0.113.0/25,203.0.113.128/25,2001:db8::/32',
      [`${PREFIX}additional-public-ips`]: '20.9.0.9',
      [deny]: 'true',
    };
    await cluster.apply(serviceOf('dual', { annotations, spec: { ipFamilyPolicy: 'RequireDualStack' } }));
    const four = await scene.published('dual');
    const [, six = '', ...more] = ((await scene.service('dual'))?.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
    expect([six, more]).toEqual([expect.stringMatching(/^2603:1030::/), ['20.9.0.9']]);
    const rules = (): string[] =>
      azure
        .securityRules()
        .filter(({ destinations }) => destinations.some((one) => [four, six].includes(one)))
        .map(({ access, sources, destinations, ports }) => `${access} ${sources.join()} ${ports.join()} ${destinations.sort().join()}`)
        .sort();
    const fours = [four, '20.9.0.9'].sort().join();
    const allowed = [
      ...['AzureCloud', 'Storage'].flatMap((tag) => [`Allow ${tag} 80 ${fours}`, `Allow ${tag} 80 ${six}`]),
      ...[`Allow 203.0.113.0/24 80 ${fours}`, `Allow 2001:db8::/32 80 ${six}`],
    ];
    expect(rules()).toEqual([...allowed, `Deny * * ${fours}`, `Deny * * ${six}`].sort());
    const frontends = partsIn(azure.balancer(), 'frontendIPConfigurations').map(({ name }) => name);
    expect(frontends.filter((name) => name.endsWith('-IPv6'))).toHaveLength(1);
    expect(azure.poolOf('kubernetes', 'kubernetes-IPv6')).toEqual([]);
    await cluster.kubectl(['annotate', 'service', 'dual', `${deny}-`]);
    await scene.until('nobody to be denied', () => Promise.resolve(rules().join('; ') === allowed.sort().join('; ')));
    await scene.deleteServices('dual');
    expect(rules()).toEqual([]);
    expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(2);
  }, 60_000);

  test('what a lock keeps from being deleted is tried again, and holds nobody up: who comes gets an address, who changes keeps the change', async () => {
    const { scene, cluster, arm } = azure;
    const before = azure.publicAddresses();
    await cluster.apply(serviceOf('leaves'), serviceOf('narrows', { spec: { ipFamilyPolicy: 'RequireDualStack' } }));
    const [, four] = await published('leaves', 'narrows');
    const all = azure.publicAddresses();
    expect(all).toHaveLength(before.length + 3);
    arm.cloud.locks.set(GROUP, 'CanNotDelete');
    await cluster.kubectl(['delete', 'service', 'leaves', '--wait=false']);
    expect((await scene.condition('leaves', 'Stalled', 'CredentialsRefused')).message).toMatch(/ScopeLocked.*Remove the lock/);
    const conditions = async () => (await scene.stackOf('web')).status?.conditions ?? [];
    await scene.until('its stack to say so', async () => (await conditions()).some(({ reason }) => reason === 'CredentialsRefused'));
    await cluster.apply(serviceOf('comes'));
    const [comes] = await published('comes');
    expect(azure.letInTo()).toContain(comes);

    await cluster.kubectl(['patch', 'service', 'narrows', '-p', '{"spec":{"ipFamilyPolicy":"SingleStack"}}']);
    const ingress = async () => (await scene.service('narrows'))?.status?.loadBalancer?.ingress?.map(({ ip }) => ip).join();
    await scene.until('one address alone', async () => (await ingress()) === four);
    await scene.ready('narrows');
    azure.forgetCalls();
    await scene.askFor('web');
    await scene.until('another try', () => Promise.resolve(azure.writes().length > 1));
    await Promise.all(['web', 'api', 'narrows', 'comes'].map((name) => scene.ready(name)));
    expect(new Set(azure.writes())).toEqual(new Set(['DELETE publicIPAddresses']));
    expect(azure.publicAddresses()).toEqual(expect.arrayContaining(all));

    arm.cloud.locks.delete(GROUP);
    await scene.askFor('web');
    await scene.gone('the one that leaves', () => scene.loadBalancer('leaves'));
    expect(azure.publicAddresses()).toHaveLength(before.length + 2);
    await scene.until('its stack', async () => (await conditions())[0]?.status === 'True');
    await scene.deleteServices('narrows', 'comes');
    expect(azure.publicAddresses()).toEqual(before);
  }, 120_000);

  test('addresses of IPv6 that are there, by themselves and by name, and one that is taken from a prefix: the Service is told of them, and those that are there stay', async () => {
    const { scene, cluster, arm } = azure;
    const theirs: Record<string, string> = { 'six-a': '2603:1030:9::a', 'six-b': '2603:1030:9::b' };
    for (const [name, ipAddress] of Object.entries(theirs)) {
      const properties = { ipAddress, publicIPAddressVersion: 'IPv6', publicIPAllocationMethod: 'Static' };
      arm.cloud.seed(networkID('publicIPAddresses', name), {
        location: LOCATION,
        sku: { name: 'Standard' },
        tags: { team: 'net' },
        properties,
      });
    }
    const prefix = networkID('publicIPPrefixes', 'range-6');
    const properties = { ipPrefix: '2603:1030:8::/124', publicIPAddressVersion: 'IPv6' };
    arm.cloud.seed(prefix, { location: LOCATION, sku: { name: 'Standard' }, properties });
    const known = azure.publicAddresses();
    const asked: Record<string, Record<string, string>> = {
      'six-by-address': { [`${PREFIX}load-balancer-ipv6`]: '2603:1030:9::a' },
      'six-by-name': { [`${PREFIX}pip-name-ipv6`]: 'six-b' },
      'six-of-prefix': { [`${PREFIX}pip-prefix-id-ipv6`]: prefix },
    };
    const spec = { ipFamilyPolicy: 'RequireDualStack' };
    await cluster.apply(...Object.entries(asked).map(([name, annotations]) => serviceOf(name, { annotations, spec })));
    await published(...Object.keys(asked));
    const sixOf = async (name: string): Promise<string> => {
      const [four = '', six = '', ...more] = ((await scene.service(name))?.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip);
      expect([four, more]).toEqual([expect.stringMatching(/^20\./), []]);
      return six;
    };
    expect([await sixOf('six-by-address'), await sixOf('six-by-name')]).toEqual(Object.values(theirs));
    const made = arm.cloud.all().filter(({ type, name }) => /publicIPAddresses$/i.test(type) && !known.includes(name));
    // One of IPv4 for each of the three, and one of IPv6 alone.
    expect(made.map(({ properties: of }) => of.publicIPAddressVersion).sort()).toEqual(['IPv4', 'IPv4', 'IPv4', 'IPv6']);
    const ofPrefix = made.filter(({ properties: of }) => of.publicIPPrefix !== undefined);
    expect(ofPrefix.map(({ properties: of }) => [of.publicIPAddressVersion, of.publicIPPrefix])).toEqual([['IPv6', { id: prefix }]]);
    expect(await sixOf('six-of-prefix')).toBe(ofPrefix[0]?.properties.ipAddress);
    await scene.deleteServices(...Object.keys(asked));
    expect(azure.publicAddresses()).toEqual(known);
    for (const name of Object.keys(theirs)) {
      expect(arm.cloud.find(networkID('publicIPAddresses', name))?.tags).toEqual({ team: 'net' });
      arm.cloud.vanish(networkID('publicIPAddresses', name));
    }
    arm.cloud.vanish(prefix);
  }, 90_000);

  test('Private Link Services: others of the load balancer go on beside one that can’t be; what somebody changes is put right; they go before their frontends', async () => {
    const { scene, cluster, arm } = azure;
    const balancer = networkID('loadBalancers', 'kubernetes-internal');
    // Somebody else has the interfaces of machines in the pool.
    const pool = { name: 'kubernetes', properties: {} };
    arm.cloud.seed(balancer, { location: LOCATION, sku: { name: 'Standard' }, properties: { backendAddressPools: [pool] } });
    await setting({ preConfiguredPools: 'Internal' });
    const linked = (name: string, more: Record<string, string>): Promise<unknown> =>
      cluster.apply(serviceOf(name, { annotations: { ...INTERNAL, [`${PREFIX}pls-create`]: 'true', ...more } }));
    await linked('shop', { [`${PREFIX}pls-name`]: 'shop', [`${PREFIX}pls-visibility`]: '*' });
    await linked('lost', { [`${PREFIX}pls-ip-configuration-subnet`]: 'absent' });
    await linked('twin', { [`${PREFIX}pls-name`]: 'SHOP' });
    await cluster.apply(serviceOf('plain', { annotations: INTERNAL }));
    await published('shop', 'plain');
    expect((await scene.condition('lost', 'Stalled', 'Invalid')).message).toContain('subnets/absent is not there');
    expect((await scene.condition('twin', 'Stalled', 'Conflict')).message).toContain('belongs to default/shop');
    const services = (): string[] => arm.cloud.all().flatMap(({ type, name }) => (/privateLinkServices$/.test(type) ? [name] : []));
    expect(services()).toEqual(['shop']);
    expect(partsIn(arm.cloud.find(balancer), 'backendAddressPools')[0]?.properties.loadBalancerBackendAddresses).toBeUndefined();
    await scene.deleteServices('lost', 'twin');

    arm.cloud.tamper(networkID('privateLinkServices', 'shop'), ({ properties }) => void (properties.fqdns = ['theirs.example']));
    azure.forgetCalls();
    await cluster.kubectl(['annotate', 'cloudprovider', 'azure', '--overwrite', 'cloud-operator.dev/reconcile=links']);
    await scene.until('it to be as it was', () => Promise.resolve(azure.writes().length > 0));
    await scene.ready('shop');
    expect(azure.writes()).toEqual(['PUT privateLinkServices']);
    expect(arm.cloud.find(networkID('privateLinkServices', 'shop'))?.properties.fqdns).toEqual([]);
    // The write’s own; a look for drift is a list.
    expect(arm.calls.filter(({ path, verb }) => verb === 'get' && /privateLinkServices/.test(path))).toHaveLength(1);

    connect(arm.cloud, networkID('privateLinkServices', 'shop'));
    azure.forgetCalls();
    await scene.deleteServices('shop');
    expect(azure.writes()).toEqual(['DELETE privateLinkServices', 'DELETE privateLinkServices', 'PUT loadBalancers']);
    await scene.deleteServices('plain');
    expect(partsIn(arm.cloud.find(balancer), 'frontendIPConfigurations')).toEqual([]);
    arm.cloud.vanish(balancer);
    await setting({ preConfiguredPools: null });
  }, 120_000);

  test('one that goes takes its own along, and the others keep their addresses; the last one takes the load balancer', async () => {
    const { scene } = azure;
    const [web] = await published('web', 'api');
    azure.forgetCalls();
    await scene.deleteServices('api');
    expect(azure.writes().sort()).toEqual(['DELETE publicIPAddresses', 'PUT loadBalancers', 'PUT networkSecurityGroups']);
    expect(addressOf(await scene.service('web'))).toBe(web);
    expect(azure.letInTo()).toEqual([web]);
    await scene.deleteServices('web');
    expect(azure.balancer()).toBeUndefined();
    expect(azure.publicAddresses()).toEqual([]);
    expect(azure.letInTo()).toEqual([]);
  }, 60_000);

  test('of several load balancers a Service is on the one that takes its labels, with that one’s Nodes behind it; with others it moves, and both serve meanwhile', async () => {
    const { scene, cluster, arm } = azure;
    const before = azure.poolOf();
    const nodes = new Map<string, string>();
    for (const name of ['edge', 'back']) {
      const node = await azure.addNode();
      nodes.set(name, node.address);
      await cluster.kubectl(['label', 'node', node.name, `pool=${name}`]);
    }
    const annotations = { [`${PREFIX}load-balancer-configurations`]: 'edge,back' };
    await cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type', 'merge', '-p', '{"spec":{"retireAfter":"1s"}}']);
    await cluster.apply(serviceOf('moved', { annotations }));
    const isTold = (why: string): Promise<unknown> =>
      scene.until(`it to be told ${why}`, async () =>
        (await scene.service('moved'))?.status?.conditions?.some(({ message }) =>
          message?.includes(`no load balancer takes the Service (${why}`),
        ),
      );
    await isTold('edge: its namespaceSelector asks for team; back: its namespaceSelector asks for team');
    await cluster.kubectl(['label', 'namespace', 'default', 'team=shop']);
    await isTold('edge: its serviceSelector asks for tier=edge; back: its serviceSelector asks for tier=back');
    await cluster.kubectl(['label', 'service', 'moved', 'tier=edge']);
    const [first] = await published('moved');
    expect([azure.poolOf('edge'), azure.balancer('back')]).toEqual([[nodes.get('edge')], undefined]);
    expect(azure.poolOf()).toEqual(before);

    // who asks for its address comes to its load balancer, or is told whose it is.
    const ofFirst = { [`${PREFIX}load-balancer-ipv4`]: first! };
    const elsewhere = { ...ofFirst, [`${PREFIX}load-balancer-configurations`]: 'kubernetes' };
    const [labels, ports] = [{ tier: 'edge' }, [{ name: 'http', port: 8080 }]];
    /** Names of frontends, and their public addresses. */
    const frontendsOf = (of: { properties: JsonObject } | undefined): unknown =>
      partsIn(of, 'frontendIPConfigurations').map(({ name, properties: { publicIPAddress } }) => [name, publicIPAddress]);
    const hadFrontends = frontendsOf(azure.balancer('edge'));
    azure.forgetCalls();
    await cluster.apply(serviceOf('apart', { annotations: elsewhere, ports }));
    const whose = `${first} belongs to default/moved, on load balancer edge, which does not take the Service`;
    await scene.until('the other one to be told whose the address is', async () =>
      (await scene.service('apart'))?.status?.conditions?.some(({ message }) => message?.includes(whose) === true),
    );
    expect(azure.writes()).toEqual([]);
    await scene.until('an Event that says so', async () =>
      (await scene.events('Service', 'apart')).some(
        ({ reason, message }) => reason === 'SyncLoadBalancerFailed' && message.includes(whose),
      ),
    );
    const isOnEdge = { labels: { tier: 'edge' }, ports };
    await cluster.apply(serviceOf('named', { annotations: elsewhere, ...isOnEdge }));
    await scene.until('the one that names another load balancer to be told that both can’t be', async () =>
      (await scene.service('named'))?.status?.conditions?.some(
        ({ message }) => message?.includes(whose) === true && /the two can't be combined/.test(message),
      ),
    );
    expect(azure.writes()).toEqual([]);
    await scene.deleteServices('named');
    await cluster.apply(serviceOf('beside', { annotations: ofFirst, labels, ports }));
    expect(await published('beside')).toEqual([first]);
    // Who was there stays as it was, in every write.
    const edge = networkID('loadBalancers', 'edge');
    const joined = bodiesOf(arm.calls, edge);
    expect(joined).toHaveLength(1);
    expect(joined.map((body) => frontendsOf({ properties: body.properties as JsonObject }))).toEqual([hadFrontends]);
    expect(joined.every((body) => serves(body, { publicAddress: azure.publicAddresses()[0] ?? '', port: 80 }))).toBe(true);
    expect(partsIn(azure.balancer('edge'), 'loadBalancingRules')).toHaveLength(2);
    azure.forgetCalls();
    await cluster.apply(serviceOf('twice', { annotations: ofFirst, labels }));
    const { message: taken } = await scene.condition('twice', 'Stalled', 'PortConflict');
    expect(taken).toContain(`port 80/TCP of ${first} belongs to default/moved`);
    expect(azure.writes()).toEqual([]);
    await scene.deleteServices('apart', 'beside', 'twice');

    // What has stood before one load balancer, and stands before another by now, is let alone by the first.
    const gateway = '20.9.0.9';
    const inFront = `${PREFIX}additional-public-ips`;
    await cluster.apply(serviceOf('stays', { annotations: { [inFront]: gateway } }));
    const [stays = ''] = await published('stays');
    await cluster.kubectl(['annotate', 'service', 'stays', `${inFront}-`]);
    await scene.until('the gateway to be shut', () => Promise.resolve(!azure.letInTo().includes(gateway)));
    await cluster.kubectl(['annotate', 'service', 'moved', `${inFront}=${gateway}`]);
    await scene.until('the gateway to be open', () => Promise.resolve(azure.letInTo().includes(gateway)));
    await cluster.apply(serviceOf('stays', { ports: [{ name: 'https', port: 443 }] }));
    await scene.until('the other port alone', () => Promise.resolve(azure.portsOf(stays).join() === '443'));
    expect(azure.portsOf(gateway)).toEqual(['80']);
    await scene.deleteServices('stays');
    expect(azure.portsOf(gateway)).toEqual(['80']);
    await cluster.kubectl(['annotate', 'service', 'moved', `${inFront}-`]);
    await scene.until('the gateway to be shut again', () => Promise.resolve(!azure.letInTo().includes(gateway)));

    await cluster.kubectl([
      'patch',
      'cloudloadbalancer',
      'moved',
      '--type',
      'merge',
      '-p',
      '{"spec":{"updatePolicy":{"replace":"Allow"}}}',
    ]);
    await cluster.kubectl(['label', 'service', 'moved', 'tier=back', '--overwrite']);
    await scene.until('the other load balancer to serve it', async () => addressOf(await scene.service('moved')) !== first, 60_000);
    const isGone = (): boolean => azure.balancer('edge') === undefined && azure.publicAddresses().length === 1;
    await scene.until('the first one to be gone with its address', () => Promise.resolve(isGone()), 60_000);
    expect(azure.poolOf('back')).toEqual([nodes.get('back')]);
    await cluster.kubectl(['label', 'node', 'node-2', 'pool=back']);
    await scene.until('the Node with another label to be behind it', () => Promise.resolve(azure.poolOf('back').length === 2));

    // A DNS label is one address's in its region: the one that has it goes first.
    const label = () =>
      azure.arm.cloud.all().flatMap(({ type, properties }) => (/publicIPAddresses$/.test(type) ? [properties.dnsSettings] : []));
    await cluster.kubectl(['annotate', 'service', 'moved', `${PREFIX}dns-label-name=moved`]);
    await scene.until('the label', () => Promise.resolve(label()[0] !== undefined));
    await scene.ready('moved');
    await cluster.kubectl(['label', 'service', 'moved', 'tier=edge', '--overwrite']);
    await scene.until('it to be where it was', () => Promise.resolve(azure.balancer('edge') !== undefined), 60_000);
    await scene.ready('moved', { timeoutMs: 60_000 });
    expect([azure.balancer('back'), label()]).toEqual([undefined, [{ domainNameLabel: 'moved' }]]);
    await scene.deleteServices('moved');
    expect([azure.balancer('edge'), azure.publicAddresses()]).toEqual([undefined, []]);
  }, 240_000);

  test('without floating IP, too, another scheme is two updates: at every request one of the two frontends is there, and the Service has an address', async () => {
    const { scene, cluster, arm } = azure;
    await cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type', 'merge', '-p', '{"spec":{"retireAfter":"1s"}}']);
    const annotations = { [`${PREFIX}disable-load-balancer-floating-ip`]: 'true' };
    await cluster.apply(serviceOf('turned', { annotations }));
    let [address] = await published('turned');
    await cluster.kubectl(['patch', 'clb', 'turned', '--type', 'merge', '-p', '{"spec":{"updatePolicy":{"replace":"Allow"}}}']);
    const frontends = (): number[] =>
      ['kubernetes', 'kubernetes-internal'].map((name) => partsIn(azure.balancer(name), 'frontendIPConfigurations').length);
    const floating = (): unknown[] =>
      ['kubernetes', 'kubernetes-internal'].flatMap((name) =>
        partsIn(azure.balancer(name), 'loadBalancingRules').map(({ properties }) => properties.enableFloatingIP),
      );
    const seen: string[] = [];
    arm.meanwhile = () => void seen.push(frontends().join());
    const { stop } = await scene.history<Service>('Service', 'default/turned');
    for (const [internal, left] of [
      ['true', '0,1'],
      ['false', '1,0'],
    ] as const) {
      await cluster.kubectl(['annotate', 'service', 'turned', '--overwrite', `${PREFIX}load-balancer-internal=${internal}`]);
      await scene.until('another address', async () => addressOf(await scene.service('turned')) !== address, 60_000);
      await scene.until('the old frontend to go', () => Promise.resolve(frontends().join() === left), 60_000);
      await scene.ready('turned');
      expect(floating()).toEqual([false]);
      address = addressOf(await scene.service('turned'));
    }
    arm.meanwhile = undefined;
    expect([...new Set(seen)].sort()).toEqual(['0,1', '1,0', '1,1']);
    const versions = await stop();
    expect(versions.filter((version) => addressOf(version) === undefined)).toEqual([]);
    await scene.deleteServices('turned');
    expect([frontends(), azure.publicAddresses(), azure.letInTo()]).toEqual([[0, 0], [], []]);
  }, 120_000);

  test('no secret is written down', async () => {
    expect(await secretsWith(azure.cluster.kube, SECRET)).toEqual([]);
    expect(azure.cluster.operatorLog()).not.toContain(SECRET);
  });
});
