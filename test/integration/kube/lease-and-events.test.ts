import { silentLogger } from '../../../operator/base/log';
import { KubeClient } from '../../../operator/kube/client';
import { KubeEventRecorder } from '../../../operator/kube/events';
import { loadKubeConfig } from '../../../operator/kube/kube-config';
import { LeaseElector, type Lease } from '../../../operator/kube/lease';
import { EVENTS, LEASES, NODES, SERVICES, type KubeObject } from '../../../operator/kube/object';
import { CLUSTER_START_MS, startTestCluster, type TestCluster } from '../../harness/cluster';
import { ownEvents } from '../../harness/own-events';
import { waitFor } from '../../harness/wait-for';

type Event = KubeObject & {
  reason: string;
  message: string;
  count: number;
  involvedObject: { name: string; uid?: string };
  source: { component: string };
};

let cluster: TestCluster;
let client: KubeClient;

beforeAll(async () => {
  cluster = await startTestCluster({ controllerManager: false });
  client = new KubeClient(loadKubeConfig({ kubeconfig: cluster.kubeconfigPath }), { qps: 0, userAgent: 'cloud-operator/test' });
}, CLUSTER_START_MS);

afterAll(async () => {
  await client?.close();
  await cluster?.stop();
});

const until = (what: string, condition: () => boolean | Promise<boolean>) => waitFor(condition, { what, timeoutMs: 20_000, pollMs: 20 });

function candidate(identity: string, lease: string, events?: KubeEventRecorder) {
  const stop = new AbortController();
  const log: string[] = [];
  const times = { leaseDurationMs: 3000, renewDeadlineMs: 2000, retryPeriodMs: 300 };
  const elector = new LeaseElector({
    api: client,
    lease,
    identity,
    logger: silentLogger,
    ...times,
    ...(events === undefined ? {} : { events }),
  });
  const running = elector.run(
    {
      onStarted: async (signal) => {
        log.push('started');
        await new Promise((resolve) => (signal.aborted ? resolve(undefined) : signal.addEventListener('abort', resolve)));
        log.push('ended');
      },
      onLost: () => log.push('lost'),
    },
    stop.signal,
  );
  return { elector, log, stop: () => stop.abort(), running };
}

type Candidate = ReturnType<typeof candidate>;

describe('LeaseElector', () => {
  it('elects one of two, and the other at once when the first one leaves in good order', async () => {
    const recorder = new KubeEventRecorder({ api: client, component: 'cloud-controller-manager', logger: silentLogger });
    const candidates = [candidate('one', 'kube-system/ccm', recorder), candidate('two', 'kube-system/ccm', recorder)];
    await until('a leader', () => candidates.some(({ elector }) => elector.leading));
    const leader = candidates.find(({ elector }) => elector.leading) as Candidate;
    const standby = candidates.find((candidate) => candidate !== leader) as Candidate;
    const first = await client.get<Lease>(LEASES, 'kube-system/ccm');
    // Renewed again and again: the standby sees it change and waits for longer than a lease lasts.
    await until('renewals', async () => {
      const now = await client.get<Lease>(LEASES, 'kube-system/ccm');
      return Date.parse(now?.spec?.renewTime ?? '') - Date.parse(first?.spec?.renewTime ?? '') > 3500;
    });
    expect(leader.log).toEqual(['started']);
    expect(standby.log).toEqual([]);
    expect(standby.elector.validUntil()).toBe(0);
    leader.stop();
    await leader.running;
    expect(leader.log).toEqual(['started', 'ended']);
    await until('the successor', () => standby.elector.leading === true);
    const taken = await client.get<Lease>(LEASES, 'kube-system/ccm');
    expect(taken?.spec).toMatchObject({ leaseTransitions: 1, renewTime: expect.stringMatching(/\.\d{6}Z$/) as string });
    standby.stop();
    await standby.running;
    await recorder.flush();
    const told = (await client.list<Event>(EVENTS, { namespace: 'kube-system' })).filter(({ reason }) => reason === 'LeaderElection');
    expect(told.map(({ message }) => message.replace(/^(one|two) /, '')).sort()).toEqual([
      'became leader',
      'became leader',
      'stopped leading',
      'stopped leading',
    ]);
    expect(told[0]?.source.component).toBe('cloud-controller-manager');
  });

  it('ends the leader whose lease was taken by hand', async () => {
    const { elector, log, running } = candidate('one', 'kube-system/other');
    await until('leadership', () => elector.leading);
    await client.patch(LEASES, 'kube-system/other', 'merge', { spec: { holderIdentity: 'a-person' } });
    await running;
    expect(log).toContain('lost');
    expect((await client.get<Lease>(LEASES, 'kube-system/other'))?.spec?.holderIdentity).toBe('a-person');
  });
});

describe('KubeEventRecorder', () => {
  it('writes Events that the API server takes, counted and for Nodes in default', async () => {
    const node = await client.create<KubeObject>(NODES, undefined, { metadata: { name: 'node-1' } });
    const service = await client.create<KubeObject>(SERVICES, 'default', { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } });
    const recorder = new KubeEventRecorder({ api: client, component: 'service-controller', logger: silentLogger });
    for (let i = 0; i < 3; i++) recorder.event(service, 'Normal', 'EnsuringLoadBalancer', 'Ensuring load balancer');
    recorder.event(node, 'Normal', 'Synced', 'Node synced successfully');
    await recorder.flush();
    const events = ownEvents(await client.list<Event>(EVENTS, { namespace: 'default' }));
    const of = (name: string) => events.filter(({ involvedObject }) => involvedObject.name === name);
    expect(of('web')).toHaveLength(1);
    expect(of('web')[0]).toMatchObject({ count: 3, reason: 'EnsuringLoadBalancer', involvedObject: { uid: service.metadata.uid } });
    expect(of('node-1')[0]).toMatchObject({ count: 1, metadata: { namespace: 'default' } });
    expect(await cluster.kubectl(['describe', 'service', 'web', '-n', 'default'])).toMatch(
      /EnsuringLoadBalancer .*x3 over.*service-controller/,
    );
  });
});
