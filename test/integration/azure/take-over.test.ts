import { ANNOTATIONS } from '../../../crds';
import { NODES, SERVICES, type Service } from '../../../operator/kube/object';
import { TAG } from '../../../providers/azure/tags';
import { partFrom, partsIn } from '../../harness/arm/resource';
import { LOCATION, networkID } from '../../harness/arm/scene';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { addressOf, serviceOf } from '../operator/scene';
import { AzureScene, SECURITY_GROUP } from './operator-scene';
import { baseOf, UpstreamAzure } from './upstream';

const PREFIX = 'service.beta.kubernetes.io/azure-';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const INTERNAL = { [`${PREFIX}load-balancer-internal`]: 'true' };
const SLOW_MS = 120_000;
const PORTS = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443 },
];

const TABLE = networkID('routeTables', 'rt');
const [POD_CIDR, ROUTE] = ['198.18.1.0/24', 'node-1-198.18.1.0-24'];
const hop = (nextHopIpAddress: string) => ({ nextHopType: 'VirtualAppliance', nextHopIpAddress });

/** docs/migrate/azure.md, step by step: what stands is what cloud-provider-azure has made, and would find again. */
describe('taking over from cloud-provider-azure, and stepping back', () => {
  let azure: AzureScene;
  let upstream: UpstreamAzure;
  let node: { name: string; address: string };
  let before: unknown[];
  let rules: unknown;
  let routeTable: unknown;

  beforeAll(async () => {
    azure = await AzureScene.start(
      {},
      {
        flags: ['--cluster-cidr=198.18.0.0/16', '--route-reconciliation-period=1s'],
        azureJson: { routeTableName: 'rt', routeUpdateWaitingInSeconds: 1 },
      },
    );
    upstream = new UpstreamAzure(azure.arm, SECURITY_GROUP);
    node = await azure.addNode();
    await setProvider({ managementPolicy: 'Observe', policy: { adoption: ['Upstream'] }, sweepInterval: '0s' });
    await azure.scene.until('the CloudProvider to be observed', async () =>
      (await azure.scene.provider('azure'))?.status?.conditions?.some(({ reason }) => reason === 'Observed'),
    );
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => azure.stop());

  const setProvider = (spec: object): Promise<string> =>
    azure.cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type=merge', '-p', JSON.stringify({ spec })]);

  /** A Service that the old controller serves at an address. */
  async function served(name: string, ip: string, { annotations = {}, ranges, ...made }: Partial<Made> = {}): Promise<Service> {
    const { scene, cluster, arm } = azure;
    const spec = ranges === undefined ? {} : { loadBalancerSourceRanges: ranges };
    await cluster.apply(serviceOf(name, { annotations, ports: PORTS, spec }));
    const service = (await scene.service(name))!;
    const balancer = annotations === INTERNAL ? 'kubernetes-internal' : 'kubernetes';
    upstream.serve(service, { balancer, ip, nodes: { [node.name]: node.address }, ...made });
    await cluster.kube.patch(SERVICES, `default/${name}`, 'merge', { metadata: { finalizers: [FINALIZER] } });
    await cluster.kube.patch(
      SERVICES,
      `default/${name}`,
      'merge',
      { status: { loadBalancer: { ingress: [{ ip }] } } },
      { subresource: 'status' },
    );
    expect(arm.cloud.find(networkID('loadBalancers', balancer))).toBeDefined();
    return service;
  }

  interface Made {
    annotations: Record<string, string>;
    zones: string[];
    publicIPName: string;
    /** Of the Service. */
    ranges: string[];
    /** Those, as upstream writes them. */
    sources: string[];
  }

  const adopt = (...names: string[]): Promise<unknown> =>
    Promise.all(names.map((name) => azure.cluster.kubectl(['annotate', 'service', name, `${ANNOTATIONS.adopt}=Upstream`])));

  const table = (): unknown => structuredClone(azure.arm.cloud.find(TABLE));
  const standing = (): unknown[] => ['kubernetes', 'kubernetes-internal'].map((name) => upstream.standing(name));
  const securityRules = (): unknown =>
    structuredClone(partsIn(azure.arm.cloud.find(SECURITY_GROUP), 'securityRules').map(({ name, properties }) => [name, properties]));

  test('observed beside the controller that runs: one plan for all of a load balancer, and nothing is written', async () => {
    const { scene, arm } = azure;
    await served('web', '20.9.0.1', { zones: ['1', '2', '3'] });
    await served('api', '20.9.0.2', { ranges: ['198.51.100.0/25', '198.51.100.128/25', '198.51.100.7/32'], sources: ['198.51.100.0/24'] });
    await served('inner', '10.0.0.30', { annotations: INTERNAL });
    await served('shop', '20.9.0.4', { annotations: { [`${PREFIX}pip-name`]: 'shop' }, publicIPName: 'shop' });
    await served('late', '20.9.0.5');
    arm.cloud.tamper(networkID('loadBalancers', 'kubernetes'), (resource) => {
      const properties = { allocatedOutboundPorts: 1024, protocol: 'All' };
      resource.properties.outboundRules = [partFrom(`${resource.id}/outboundRules`, { name: 'theirs', properties })] as never;
    });
    [before, rules] = [standing(), securityRules()];
    azure.forgetCalls();
    await adopt('web', 'api', 'inner', 'shop');
    const plan = await scene.until(
      'the plan of all',
      async () => (await scene.stackOf('web')).status?.plans?.find(({ member }) => member.endsWith('and 2 more')),
      SLOW_MS,
    );
    expect(plan.summary).toContain(' 0 to replace, 0 to delete,');
    const updates = plan.operations.filter(({ op }) => op === 'update');
    expect(updates.map(({ type }) => type.split(':').at(-1)).sort()).toEqual(['LoadBalancer', 'PublicIPAddress', 'PublicIPAddress']);
    const paths = new Set(updates.flatMap(({ properties = [] }) => properties.map(({ path }) => path)));
    expect([...paths].filter((path) => !path.includes('cloud-operator.dev-'))).toEqual([]);
    const created = plan.operations.filter(({ op }) => op === 'create').map(({ type }) => type);
    expect(created.filter((type) => !type.startsWith('cloudoperator:'))).toEqual([]);
    // Each member says it after the stack does.
    await scene.until('the plan on a member', async () =>
      (await scene.condition('api', 'Ready', 'Observed', { status: 'False' })).message.includes('together with 2 more'),
    );
    await scene.until('the plan of the internal one', async () => (await scene.stackOf('inner')).status?.plans?.[0], SLOW_MS);
    expect(azure.writes()).toEqual([]);
  }, 300_000);

  test('routes are observed, too: neither table nor Node is written, and who asks for one is told that it is only observed', async () => {
    const { scene, arm, cluster } = azure;
    const routes = [
      // As upstream names them, without its dual-stack naming.
      { name: 'node-1', properties: { addressPrefix: POD_CIDR, ...hop(node.address) } },
      { name: 'theirs', properties: { addressPrefix: '0.0.0.0/0', ...hop('10.0.0.250') } },
    ];
    arm.cloud.seed(TABLE, { location: LOCATION, tags: { team: 'net' }, properties: { routes } });
    routeTable = table();
    azure.forgetCalls();
    await cluster.kube.patch(NODES, 'node-1', 'merge', { spec: { podCIDR: POD_CIDR, podCIDRs: [POD_CIDR] } });
    const { resourceVersion } = (await scene.node('node-1'))!.metadata;
    const spec = { provider: 'azure', nodeName: 'node-1', nodeAddresses: [node.address], destinationCIDR: POD_CIDR };
    await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name: 'look' }, spec });
    await scene.until('it to be observed', async () =>
      (await scene.route('look'))?.status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Observed'),
    );
    await cluster.kubectl(['delete', 'cloudroute', 'look', '--timeout=30s']);
    expect(await scene.route(ROUTE)).toBeUndefined();
    expect((await scene.node('node-1'))?.metadata.resourceVersion).toBe(resourceVersion);
    expect([azure.writes(), table()]).toEqual([[], routeTable]);
  }, 120_000);

  test('all of a load balancer is taken over at once: addresses, rules and pools stay, and only tags are written', async () => {
    const { scene, arm } = azure;
    await azure.cluster.kubectl(['patch', 'clb', 'late', '--type=merge', '-p', '{"spec":{"managementPolicy":"Observe"}}']);
    azure.forgetCalls();
    await setProvider({ managementPolicy: 'Default' });
    for (const name of ['web', 'api', 'inner', 'shop']) await scene.ready(name, { timeoutMs: SLOW_MS });
    await scene.until('the Node to be routed to', async () =>
      (await scene.node('node-1'))?.status?.conditions?.some(
        ({ type, reason }) => type === 'NetworkUnavailable' && reason === 'RouteCreated',
      ),
    );
    expect(await scene.route(ROUTE)).toMatchObject({
      status: { conditions: expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'True' })]) as object[] },
    });
    expect(table()).toEqual(routeTable);
    const looks = (): number => arm.calls.filter(({ method, path }) => method === 'GET' && path === TABLE).length;
    const first = looks();
    await scene.until('three looks for drift at the table', () => Promise.resolve(looks() >= first + 3), SLOW_MS);
    const { attempts = [], drift } = (await scene.stack((await scene.route(ROUTE))?.status?.stack ?? ''))?.status ?? {};
    expect([attempts.map(({ cause }) => cause), drift]).toEqual([['Change'], undefined]);
    expect(azure.writes().sort()).toEqual([
      'PATCH loadBalancers',
      'PATCH loadBalancers',
      'PATCH publicIPAddresses',
      'PATCH publicIPAddresses',
    ]);
    expect([standing(), securityRules()]).toEqual([before, rules]);
    expect(await Promise.all(['web', 'api', 'inner', 'shop'].map(async (name) => addressOf(await scene.service(name))))).toEqual([
      '20.9.0.1',
      '20.9.0.2',
      '10.0.0.30',
      '20.9.0.4',
    ]);
    const web = (await scene.service('web'))!;
    const { tags, zones } = arm.cloud.find(networkID('publicIPAddresses', `kubernetes-${baseOf(web)}`))!;
    expect([tags?.['k8s-azure-service'], tags?.[TAG.owner], zones]).toEqual(['default/web', 'default/web', ['1', '2', '3']]);
    const [adopted] = (await scene.events('CloudLoadBalancer', 'web')).filter(({ reason }) => reason === 'Adopted');
    expect(adopted?.message).toBe('Took over 2 resources from another controller: Service default/web, cluster kubernetes');
  }, 300_000);

  test('a Service that is changed leaves those that were not taken over as they are, as does a look for drift; one is taken over later', async () => {
    const { scene, cluster } = azure;
    const late = (await scene.service('late'))!;
    const ofLate = (): unknown =>
      partsIn(azure.balancer(), 'loadBalancingRules')
        .filter(({ name }) => name.startsWith(baseOf(late)))
        .map(({ name, properties }) => [name, properties]);
    const had = ofLate();
    await cluster.kubectl(['annotate', 'service', 'api', `${PREFIX}load-balancer-tcp-idle-timeout=30`]);
    await scene.until('the change', async () => {
      if (partsIn(azure.balancer(), 'loadBalancingRules').some(({ properties }) => properties.idleTimeoutInMinutes === 30)) return true;
      throw new Error(
        JSON.stringify([(await scene.loadBalancer('api'))?.status, (await scene.stackOf('api')).status]) +
          cluster.operatorLog().slice(-4000),
      );
    });
    await scene.ready('api');
    azure.forgetCalls();
    await setProvider({ driftInterval: '10s' });
    const looks = (): number => azure.arm.calls.filter(({ method, path }) => method === 'GET' && /loadBalancers$/.test(path)).length;
    await scene.until('two looks for drift', () => Promise.resolve(looks() >= 2), 60_000);
    expect(azure.writes()).toEqual([]);
    await setProvider({ driftInterval: '1h' });
    expect(ofLate()).toEqual(had);

    azure.forgetCalls();
    await adopt('late');
    await cluster.kubectl(['patch', 'clb', 'late', '--type=merge', '-p', '{"spec":{"managementPolicy":null}}']);
    await scene.ready('late', { timeoutMs: SLOW_MS });
    expect(azure.writes()).toEqual(['PATCH publicIPAddresses']);
    expect([ofLate(), addressOf(await scene.service('late'))]).toEqual([had, '20.9.0.5']);
  }, 300_000);

  test('a step back: the controller of before finds its names, tags and settings; what is deleted meanwhile is its own', async () => {
    const { scene } = azure;
    await setProvider({ managementPolicy: 'Observe' });
    await scene.until('it to be observed', async () =>
      (await scene.loadBalancer('web'))?.status?.conditions?.some(({ reason }) => reason === 'Observed'),
    );
    azure.forgetCalls();
    await azure.cluster.kubectl(['delete', 'service', 'api', '--wait=false']);
    await scene.until('the object to be gone', async () => (await scene.loadBalancer('api')) === undefined);
    expect(azure.writes()).toEqual([]);
    expect((await scene.service('api'))?.metadata.finalizers).toEqual([FINALIZER]);
    await azure.cluster.kube.patch(SERVICES, 'default/api', 'merge', { metadata: { finalizers: null } });
  }, 120_000);

  test('a step back with routes: a change waits; a CloudRoute that is deleted leaves its route to the controller of before', async () => {
    const { scene, cluster } = azure;
    azure.forgetCalls();
    await cluster.kubectl(['patch', 'cloudroute', ROUTE, '--type=merge', '-p', '{"spec":{"nodeAddresses":["10.0.3.99"]}}']);
    await scene.until('it to say that its change waits', async () => {
      const conditions = (await scene.route(ROUTE))?.status?.conditions;
      if (conditions?.some(({ reason, message }) => reason === 'Observed' && message?.includes('a change of its spec waits'))) return true;
      throw new Error(JSON.stringify(conditions));
    });
    await cluster.kubectl(['delete', 'cloudroute', ROUTE, '--timeout=30s']);
    expect([azure.writes(), table()]).toEqual([[], routeTable]);
  }, 120_000);
});
