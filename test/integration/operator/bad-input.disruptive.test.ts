import { CLOUD_LOAD_BALANCERS, CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import { SERVICES, type Service } from '../../../operator/kube/object';
import { kstatusOf } from '../../harness/kstatus';
import type { LoadBalancer } from '../../../providers/local/api';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { NONE, type Scene, serviceOf, type ServiceOptions, type StoredLoadBalancer, withScene } from './scene';

const API_VERSION = 'cloud-operator.dev/v1alpha1';

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

function loadBalancerWith(spec: Record<string, unknown>, name = 'bad'): object {
  const listeners = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }];
  return {
    apiVersion: API_VERSION,
    kind: 'CloudLoadBalancer',
    metadata: { name, namespace: 'default' },
    spec: { provider: 'local', listeners, local: {}, ...spec },
  };
}

describe('refused by the API server, in words that name the field', () => {
  test.each<[string, object, RegExp]>([
    [
      'port 0',
      loadBalancerWith({ listeners: [{ name: 'a', protocol: 'TCP', port: 0, nodePort: 30080 }] }),
      /spec\.listeners\[0\]\.port.*(>= 1|greater than or equal to 1)/,
    ],
    [
      'port 65536',
      loadBalancerWith({ listeners: [{ name: 'a', protocol: 'TCP', port: 65536, nodePort: 30080 }] }),
      /spec\.listeners\[0\]\.port.*65535/,
    ],
    ['a source range with 33 bits', loadBalancerWith({ sourceRanges: ['10.0.0.0/33'] }), /spec\.sourceRanges\[0\].*CIDR/],
    ['an address that is none', loadBalancerWith({ addresses: ['10.0.0.256'] }), /spec\.addresses\[0\].*IP/],
    ['two typed blocks', loadBalancerWith({ custom: { kind: 'other' } }), /only one of aws, azure, local, custom can be set/],
    [
      'two listeners on one port',
      loadBalancerWith({ listeners: ['a', 'b'].map((name) => ({ name, port: 80, nodePort: 30080 })) }),
      /listeners.*same protocol and port/,
    ],
    ['no listeners', loadBalancerWith({ listeners: [] }), /spec\.listeners/],
    [
      'an unknown protocol',
      loadBalancerWith({ listeners: [{ name: 'a', protocol: 'ICMP', port: 80, nodePort: 30080 }] }),
      /spec\.listeners\[0\]\.protocol.*ICMP/,
    ],
    [
      'a CloudProvider of two kinds',
      {
        apiVersion: API_VERSION,
        kind: 'CloudProvider',
        metadata: { name: 'two' },
        spec: { local: { endpoint: 'http://127.0.0.1:1' }, custom: { kind: 'x' } },
      },
      /exactly one of aws, azure, local, custom must be set/,
    ],
    [
      'an interval that is none',
      {
        apiVersion: API_VERSION,
        kind: 'CloudProvider',
        metadata: { name: 'soon' },
        spec: { local: { endpoint: 'http://127.0.0.1:1' }, driftInterval: 'soon' },
      },
      /spec\.driftInterval.*duration/,
    ],
    [
      'a route with host bits',
      {
        apiVersion: API_VERSION,
        kind: 'CloudRoute',
        metadata: { name: 'odd' },
        spec: { provider: 'local', destinationCIDR: '10.244.1.7/24', nodeName: 'n1' },
      },
      /spec\.destinationCIDR.*mask/,
    ],
    ['a Service with port 0', serviceOf('bad', { ports: [{ name: 'http', port: 0 }] }), /spec\.ports\[0\]\.port/],
    [
      'a Service with a source range of 33 bits',
      serviceOf('bad', { spec: { loadBalancerSourceRanges: ['10.0.0.0/33'] } }),
      /spec\.loadBalancerSourceRanges/i,
    ],
    [
      'a Service with a source range of 33 bits in its annotation',
      serviceOf('bad', { annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': '10.0.0.0/33' } }),
      /service\.beta\.kubernetes\.io\/load-balancer-source-ranges.*10\.0\.0\.0\/33/,
    ],
  ])('%s', async (_what, object, message) => {
    await expect(cluster.apply(object)).rejects.toThrow(message);
  });
});

interface Case {
  what: string;
  change: ServiceOptions;
  /** Reason and words of the Service's condition. */
  reason: string;
  message: RegExp;
  /** What kstatus says of the CloudLoadBalancer meanwhile. */
  loadBalancer: ReturnType<typeof kstatusOf>;
}

describe('told on the Service, while the last good load balancer keeps serving', () => {
  let address: string;
  let good: LoadBalancer;

  beforeAll(async () => {
    await cluster.apply(serviceOf('holder', { spec: { loadBalancerIP: '10.201.0.77' } }), serviceOf('web'));
    address = await scene.published('web');
    await scene.published('holder');
    good = await scene.inCloud('web');
  });

  test.each<Case>([
    {
      what: 'an address outside of the pool',
      change: { spec: { loadBalancerIP: '203.0.113.9' } },
      reason: 'Invalid',
      message: /spec\.loadBalancerIP "203\.0\.113\.9": .*203\.0\.113\.9 is outside the pool; choose one from/,
      loadBalancer: 'Failed',
    },
    {
      what: 'an address that somebody else has',
      change: { spec: { loadBalancerIP: '10.201.0.77' } },
      reason: 'Taken',
      message: /spec\.loadBalancerIP "10\.201\.0\.77": .*10\.201\.0\.77 is address .* of default\/holder .*Ask for another address/,
      loadBalancer: 'Failed',
    },
    {
      what: 'an annotation that does not parse',
      change: { annotations: { 'local.cloud-operator.dev/drain-seconds': 'soon' } },
      reason: 'InvalidAnnotation',
      message: /local\.cloud-operator\.dev\/drain-seconds.*"soon".*whole number of seconds/,
      loadBalancer: 'Current',
    },
    {
      what: 'an annotation out of range',
      change: { annotations: { 'local.cloud-operator.dev/idle-timeout': '5000s' } },
      reason: 'InvalidAnnotation',
      message: /local\.cloud-operator\.dev\/idle-timeout.*"5000s".*1s to 4000s/,
      loadBalancer: 'Current',
    },
    {
      what: 'SCTP, which the cloud does not have',
      change: {
        ports: [
          { name: 'http', port: 80 },
          { name: 'sctp', port: 9000, protocol: 'SCTP' },
        ],
      },
      reason: 'Invalid',
      message: /"sctp".*no SCTP.*Use TCP or UDP/,
      loadBalancer: 'Failed',
    },
    {
      what: 'a provider that does not exist',
      change: { annotations: { 'cloud-operator.dev/provider': 'nowhere' } },
      reason: 'ProviderNotFound',
      message: /cloud-operator\.dev\/provider.*"nowhere".*known are local/,
      loadBalancer: 'Current',
    },
    {
      what: 'more ports than a load balancer has',
      change: { ports: Array.from({ length: 101 }, (_, n) => ({ name: `p${n}`, port: n + 1 })) },
      reason: 'TooManyPorts',
      message: /spec\.ports: 101 ports.*at most 100.*several Services/,
      loadBalancer: 'Current',
    },
    {
      what: 'a placement that is no name',
      change: { annotations: { 'cloud-operator.dev/placement': 'Not A Name' } },
      reason: 'InvalidPlacement',
      message: /cloud-operator\.dev\/placement.*"Not A Name".*<name>/,
      loadBalancer: 'Current',
    },
  ])('$what', async ({ change, reason, message, loadBalancer }) => {
    await cluster.apply(serviceOf('web', change));
    const condition = await scene.until(`condition ${reason}`, async () => {
      const conditions = (await scene.service('web'))?.status?.conditions ?? [];
      const found = conditions.find(({ type }) => type === 'cloud-operator.dev/Ready');
      if (found?.status === 'False' && found.reason === reason) return found;
      throw new Error(JSON.stringify(conditions));
    });
    expect(condition.message).toMatch(message);
    await scene.until('a Warning', async () =>
      (await scene.events('Service', 'web')).some((event) => event.type === 'Warning' && message.test(event.message)),
    );
    const shown = await scene.loadBalancer('web');
    expect(shown && kstatusOf(shown)).toBe(loadBalancer);
    expect((await scene.service('web'))?.status?.loadBalancer?.ingress).toEqual([{ ip: address, ipMode: 'Proxy' }]);
    expect(withoutVersion(await scene.inCloud('web'))).toEqual(withoutVersion(good));

    await cluster.apply(serviceOf('web', cleared(change)));
    await scene.until('the Service to be well again', async () => {
      const conditions = (await scene.service('web'))?.status?.conditions ?? [];
      return conditions.find(({ type }) => type === 'cloud-operator.dev/Ready')?.status === 'True';
    });
    expect(await scene.published('web')).toBe(address);
    expect(withoutVersion(await scene.inCloud('web'))).toEqual(withoutVersion(good));
  });

  test('a forged status is never believed: not by the Service, not by the cloud; what is stored puts it right', async () => {
    const before = await scene.loadBalancer('web');
    const stack = await scene.stackOf('web');
    await scene.settled();
    await cluster.cloud.resetCalls();
    const history = await scene.history<Service>('Service', 'default/web');
    const forged = { clusterID: 'another', objectUID: 'another', incarnation: 'another', stack: 'lb-another', address: '203.0.113.6' };
    const status = { ...forged, ingress: [{ ip: '203.0.113.6', ipMode: 'VIP' }] };
    await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/web', 'merge', { status }, { subresource: 'status' });
    const hash = { status: { inputsHash: 'forged', incarnation: 'another' } };
    await cluster.kube.patch(CLOUD_STACKS, stack.metadata.name, 'merge', hash, { subresource: 'status' });
    await scene.until('the status to be put right', async () => {
      const now = await scene.loadBalancer('web');
      return Object.keys(status).every((field) => JSON.stringify(fieldOf(now, field)) === JSON.stringify(fieldOf(before, field)));
    });
    await scene.settled();
    const ingresses = (await history.stop()).map((version) => version.status?.loadBalancer?.ingress?.map(({ ip }) => ip));
    expect(ingresses.every((ips) => JSON.stringify(ips) === JSON.stringify([address]))).toBe(true);
    expect((await cluster.operatorCalls()).writes).toBe(0);
    expect(withoutVersion(await scene.inCloud('web'))).toEqual(withoutVersion(good));
  });

  test('an unknown annotation of the cloud is a warning, and everything else is done', async () => {
    await cluster.apply(serviceOf('warned', { annotations: { 'local.cloud-operator.dev/colour': 'red' } }));
    await scene.published('warned');
    const condition = await scene.until('the warning', async () =>
      (await scene.service('warned'))?.status?.conditions?.find(({ type }) => type === 'cloud-operator.dev/Warning'),
    );
    expect(condition).toMatchObject({ status: 'True', reason: 'UnknownAnnotation' });
    expect(condition.message).toMatch(/local\.cloud-operator\.dev\/colour.*not known.*drain-seconds/);
    await cluster.kubectl(['annotate', 'service', 'warned', 'local.cloud-operator.dev/colour-']);
    await scene.until('no warning', async () =>
      (await scene.service('warned'))?.status?.conditions?.every(({ type }) => type !== 'cloud-operator.dev/Warning'),
    );
    await scene.expectOneOfEach('warned');
  });
});

test('resources that a forged status names in another cluster are never called: not after a change of Nodes, not by the next operator, not by a deletion', async () => {
  const tags = { clusterID: 'c1', stack: 'lb-demo-edge', resource: 'http', owner: 'demo/edge' };
  const theirs = await cluster.resources.create('pools', { name: 'c1-edge', protocol: 'TCP', tags }, 'c1-edge', {});
  await cluster.apply(serviceOf('forged'));
  await scene.published('forged');
  const { metadata, status } = await scene.stackOf('forged');
  const resources = status?.resources?.map((resource) =>
    resource.type.endsWith(':TargetPool') ? { ...resource, id: theirs.id } : resource,
  );
  expect(resources).not.toEqual(status?.resources);
  const forge = async (): Promise<void> => {
    const groups = { status: { targetGroups: theirs.id } };
    await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/forged', 'merge', groups, { subresource: 'status' });
    await cluster.kube.patch(CLOUD_STACKS, metadata.name, 'merge', { status: { resources } }, { subresource: 'status' });
  };
  const targets = (count: number): Promise<true> =>
    scene.until(`${count} targets`, async () => (await scene.targets('forged', 'http')).length === count);
  const pools = (await scene.counts()).pools - 1;
  /** Our own pools are written, once each, and nobody else's is tried. */
  const isOnlyOurs = async (): Promise<void> => {
    await scene.settled();
    const { calls } = await cluster.operatorCalls();
    expect(calls.filter(({ verb }) => !/^(get|list)$/.test(verb))).toEqual([
      expect.objectContaining({ verb: 'targets', code: 200, count: pools }),
    ]);
    expect(await cluster.resources.get('pools', theirs.id)).toEqual(theirs);
    await cluster.cloud.resetCalls();
  };

  await scene.settled();
  await cluster.cloud.resetCalls();
  await forge();
  await scene.addNode('n2');
  await targets(2);
  await isOnlyOurs();
  await cluster.stopOperator();
  await forge();
  await cluster.kubectl(['delete', 'node', 'n2']);
  await cluster.startOperator();
  await targets(1);
  await isOnlyOurs();
  await forge();
  await scene.deleteServices('forged');
  expect(await scene.counts('forged')).toEqual(NONE);
  expect(await cluster.resources.get('pools', theirs.id)).toEqual(theirs);
  await cluster.resources.remove('pools', theirs.id, {});
});

test('R-10 a Service that is restored from another cluster gets an address of its own, and the other’s is not touched', async () => {
  const tags = { clusterID: 'c1', stack: 'lb-default-restored', resource: 'address', owner: 'default/restored' };
  const theirs = await cluster.resources.create('addresses', { name: 'c1-restored', family: 'IPv4', tags }, 'c1-restored', {});
  const finalizer = 'service.kubernetes.io/load-balancer-cleanup';
  await cluster.apply({ ...serviceOf('restored'), metadata: { name: 'restored', namespace: 'default', finalizers: [finalizer] } });
  const status = { loadBalancer: { ingress: [{ ip: theirs.ip }] } };
  await cluster.kube.patch(SERVICES, 'default/restored', 'merge', { status }, { subresource: 'status' });
  await scene.until('an address of its own', async () => {
    const [own] = (await scene.service('restored'))?.status?.loadBalancer?.ingress ?? [];
    return own?.ip !== undefined && own.ip !== theirs.ip;
  });
  await scene.ready('restored');
  expect((await scene.service('restored'))?.metadata.finalizers).toEqual([finalizer]);
  await scene.deleteServices('restored');
  expect(await cluster.resources.get('addresses', theirs.id)).toEqual(theirs);
});

test('R-50 what another cluster has in the same account is refused by its holder’s name, and is not touched', async () => {
  const tags = { clusterID: 'c1', stack: 'lb-demo-edge', resource: 'address', owner: 'demo/edge' };
  const spec = { name: 'c1-edge', family: 'IPv4', requestedIP: '10.201.0.99', tags };
  const theirs = await cluster.resources.create('addresses', spec, 'c1-edge', {});
  await cluster.apply(serviceOf('edge', { spec: { loadBalancerIP: '10.201.0.99' } }));
  const { message } = await scene.condition('edge', 'Stalled', 'Taken');
  expect(message).toMatch(/10\.201\.0\.99 belongs to demo\/edge \(stack lb-demo-edge, cluster c1\)/);
  await scene.until('the Event on the Service', async () =>
    (await scene.events('Service', 'edge')).some(
      ({ reason, message: text }) => reason === 'SyncLoadBalancerFailed' && text.includes('demo/edge (stack lb-demo-edge, cluster c1)'),
    ),
  );
  await scene.deleteServices('edge');
  expect(await cluster.resources.get('addresses', theirs.id)).toEqual(theirs);
});

test.each<[string, object, RegExp]>([
  ['namespaces', { namespaces: ['team-a'] }, /metadata\.namespace "default" is not allowed.*team-a/],
  ['schemes', { schemes: ['Internal'] }, /spec\.scheme "Public" is not allowed.*Internal/],
])('the policy’s %s hold for Services and for people’s CloudLoadBalancers alike', async (_what, policy, message) => {
  const set = (value: object | null) => cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { policy: value } });
  await set(policy);
  await cluster.apply(serviceOf('ruled'), loadBalancerWith({}, 'ruled-too'));
  for (const name of ['ruled', 'ruled-too']) {
    expect((await scene.condition(name, 'Stalled', 'Invalid')).message).toMatch(message);
    expect(await scene.counts(name)).toEqual(NONE);
  }
  await scene.until('the Service to be told', async () =>
    (await scene.service('ruled'))?.status?.conditions?.some(({ status, message: text = '' }) => status === 'False' && message.test(text)),
  );
  await set(null);
  for (const name of ['ruled', 'ruled-too']) await scene.ready(name);
  await scene.deleteServices('ruled');
  await cluster.kubectl(['delete', 'clb', 'ruled-too', '--timeout=20s']);
});

test('R-38 a Service without node ports makes nothing and is told which field to set; with them it is served', async () => {
  await scene.settled();
  await cluster.cloud.resetCalls();
  await cluster.apply(serviceOf('portless', { spec: { allocateLoadBalancerNodePorts: false } }));
  const message = /"http" has no node port.*allocateLoadBalancerNodePorts: true/;
  expect((await scene.condition('portless', 'Stalled', 'Invalid')).message).toMatch(message);
  const shown = await scene.loadBalancer('portless');
  expect(shown && kstatusOf(shown)).toBe('Failed');
  await scene.until('the Event on the Service', async () =>
    (await scene.events('Service', 'portless')).some((event) => event.reason === 'SyncLoadBalancerFailed' && message.test(event.message)),
  );
  expect(await scene.counts('portless')).toEqual(NONE);
  expect((await cluster.operatorCalls()).writes).toBe(0);
  await cluster.apply(serviceOf('portless', { spec: { allocateLoadBalancerNodePorts: true } }));
  await scene.published('portless');
  await scene.deleteServices('portless');
});

test('a CloudLoadBalancer of a provider that does not exist is Stalled until there is one', async () => {
  await cluster.apply(loadBalancerWith({ provider: 'nowhere' }, 'astray'));
  const { message } = await scene.condition('astray', 'Stalled', 'ProviderNotFound');
  expect(message).toMatch(/there is no CloudProvider "nowhere".*spec\.provider.*known are local/);
  await scene.until('a Warning', async () =>
    (await scene.events('CloudLoadBalancer', 'astray')).some(({ type, message: text }) => type === 'Warning' && text.includes('"nowhere"')),
  );
  const { spec } = (await scene.provider()) ?? {};
  await cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'nowhere' }, spec: { local: spec?.local } });
  await scene.ready('astray');
  await cluster.kubectl(['delete', 'clb', 'astray', '--timeout=20s']);
  await cluster.kubectl(['delete', 'cloudprovider', 'nowhere', '--timeout=20s']);
});

test('a CloudProvider whose token file is not there is Stalled and names the field', async () => {
  const { spec } = (await scene.provider()) ?? {};
  const local = { ...spec?.local, tokenFile: '/does/not/exist' };
  await cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'tokenless' }, spec: { local } });
  const stalled = await scene.until('Stalled', async () =>
    (await scene.provider('tokenless'))?.status?.conditions?.find(({ type }) => type === 'Stalled'),
  );
  expect(stalled.message).toMatch(/spec\.local\.tokenFile.*\/does\/not\/exist/);
  await cluster.kubectl(['delete', 'cloudprovider', 'tokenless', '--timeout=20s']);
});

test('a CloudProvider whose Secret is not there says which, where and with what key; it is used at once when it comes', async () => {
  const { spec } = (await scene.provider()) ?? {};
  const local = { endpoint: spec?.local?.endpoint, tokenSecretRef: { name: 'late', key: 'api-token' } };
  await cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'secretless' }, spec: { local } });
  await cluster.apply(loadBalancerWith({ provider: 'secretless' }, 'waiting'));
  const { message } = await scene.condition('waiting', 'Stalled', 'SecretMissing');
  expect(message).toMatch(/^there is no Secret "late" in namespace cloud-operator-system, which is to have the key "api-token"/i);
  expect(message).toContain('kubectl -n cloud-operator-system create secret generic late --from-literal=api-token=…');
  const lines = (): string[] =>
    cluster
      .operatorLog()
      .split('\n')
      .filter((line) => line.includes('\\"late\\"'));
  await scene.until('three tries', () => Promise.resolve(lines().filter((line) => line.includes('"queue":"cloudproviders"')).length >= 3));
  expect(lines().filter((line) => line.includes('\\n    at '))).toEqual([]);
  await cluster.kubectl([
    '-n',
    'cloud-operator-system',
    'create',
    'secret',
    'generic',
    'late',
    `--from-literal=api-token=${await cluster.tokenText()}`,
  ]);
  await scene.ready('waiting');
  await cluster.kubectl(['delete', 'clb', 'waiting', '--timeout=20s']);
  await cluster.kubectl(['delete', 'cloudprovider', 'secretless', '--timeout=20s']);
});

function fieldOf(object: StoredLoadBalancer | undefined, field: string): unknown {
  return (object?.status as Record<string, unknown> | undefined)?.[field];
}

/** The same without what each write changes. */
function withoutVersion({ etag: _etag, updatedAt: _updatedAt, ...rest }: LoadBalancer): object {
  return rest;
}

/** The good Service again, with what `kubectl apply` must take away. */
function cleared(change: ServiceOptions): ServiceOptions {
  return change.spec === undefined ? {} : { spec: Object.fromEntries(Object.keys(change.spec).map((field) => [field, null])) };
}
