import { Fleet } from '../../../dev/nodes/fleet';
import { keyOf } from '../../../operator/kube/object';
import type { LoadBalancer } from '../../../providers/local/api';
import { chooseTier } from '../../../providers/local/cloud/data-plane/tier';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { addressOf, Scene, serviceOf } from '../operator/scene';
import { FollowingLoad } from './following-load';

const RETIRE_AFTER = '3s';
/** Real packets where this machine can have them (rootless namespaces included); the loopback tier elsewhere. */
const { tier } = chooseTier('auto');

/** Whatever changes of a Service, clients that follow its address get every answer. */
describe(`under load, tier ${tier}`, () => {
  let cluster: OperatorCluster;
  let scene: Scene;
  let fleet: Fleet | undefined;

  beforeAll(async () => {
    cluster = await OperatorCluster.start({ tier, provider: { retireAfter: RETIRE_AFTER } });
    scene = new Scene(cluster);
    const token = (await cluster.tokenText()).trim();
    fleet = await Fleet.start({ kubeconfig: cluster.kubeconfigPath, endpoint: cluster.cloudEndpoint, token, count: 3 });
    await cluster.kubectl(['label', 'node', 'node-3', 'cloud=other']);
    for (const node of ['node-1', 'node-2', 'node-3']) await scene.initialized(node);
    await cluster.apply(
      webWith(81),
      serviceOf('shop', { annotations: { 'cloud-operator.dev/placement': 'front' }, ports: [{ name: 'http', port: 8000 }] }),
    );
    await scene.published('web');
    await scene.published('shop');
    await patch({ updatePolicy: { replace: 'Allow' } });
  }, OPERATOR_CLUSTER_START_MS);

  afterEach(() => scene.faults());
  afterAll(async () => {
    await fleet?.stop();
    await cluster?.stop();
  });

  const webWith = (other: number): object =>
    serviceOf('web', {
      ports: [
        { name: 'http', port: 80 },
        { name: 'other', port: other },
      ],
    });

  async function patch(spec: object): Promise<void> {
    await cluster.kubectl(['patch', 'clb', 'web', '--type', 'merge', '-p', JSON.stringify({ spec })]);
    await scene.ready('web');
  }

  /** What there is of the Service's own in the cloud; all of it bears its mark, also on a load balancer that others share. */
  async function generations(): Promise<string[]> {
    const pools = (await cluster.resources.list('pools')).filter(({ tags }) => tags.owner === 'default/web');
    return [...new Set(pools.map(({ name }) => /-g\d+/.exec(name)?.[0] ?? '-g0'))].sort();
  }

  /** Load while the Service moves: the new load balancer takes over, both answer for a while, and the old one goes. @returns the new one */
  async function moves(change: () => Promise<unknown>, generation: string): Promise<LoadBalancer> {
    const before = await scene.stackOf('web');
    await FollowingLoad.during(scene, { name: 'web', port: 80 }, async (load) => {
      await change();
      await scene.until('the new address', () => Promise.resolve(load.seen.length === 2));
      await load.askAgain(0);
      await scene.until('the old one to be gone', async () => (await generations()).join() === generation);
    });
    await scene.ready('web');
    const address = addressOf(await scene.service('web'));
    const { addresses, loadbalancers } = await scene.content();
    const id = addresses.find(({ ip }) => ip === address)?.id ?? '';
    const after = await scene.stackOf('web');
    if (after.metadata.name !== before.metadata.name && !before.metadata.name.includes('front'))
      await scene.gone('the old stack', () => scene.stack(before.metadata.name));
    return loadbalancers.find(({ addressIDs }) => addressIDs.includes(id)) as LoadBalancer;
  }

  const annotate = (annotation: string): Promise<string> =>
    cluster.kubectl(['annotate', 'service', 'web', '--overwrite', `cloud-operator.dev/${annotation}`]);

  test('a changed port disturbs no other port', async () => {
    await FollowingLoad.during(scene, { name: 'web', port: 80 }, async () => {
      await cluster.apply(webWith(8081));
      await scene.until('the new port', async () => (await scene.loadBalancer('web'))?.status?.ports === '80/TCP,8081/TCP');
      await scene.ready('web');
    });
    expect((await scene.inCloud('web')).listeners.map(({ port }) => port).sort((a, b) => a - b)).toEqual([80, 8081]);
  });

  test('to a shared load balancer, and back to one of its own', async () => {
    const front = await moves(() => annotate('placement=front'), '-g1');
    expect(front.listeners.map(({ port }) => port).sort((a, b) => a - b)).toEqual([80, 8000, 8081]);
    const own = await moves(() => annotate('placement-'), '-g2');
    expect(own.listeners.map(({ port }) => port).sort((a, b) => a - b)).toEqual([80, 8081]);
    expect((await scene.stackOf('shop')).status?.members).toEqual(['default/shop']);
    await scene.ready('shop');
  });

  test('to another CloudProvider, which must have Nodes first', async () => {
    const local = { endpoint: cluster.cloudEndpoint, tokenFile: cluster.tokenFile };
    const other = { retireAfter: RETIRE_AFTER, driftInterval: '1h', local, nodeSelector: { cloud: 'nowhere' } };
    await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudProvider', metadata: { name: 'other' }, spec: other });
    await scene.until('its connection', async () =>
      (await scene.provider('other'))?.status?.conditions?.some(({ reason }) => reason === 'Ready'),
    );
    const moved = await moves(async () => {
      await annotate('provider=other');
      await scene.condition('web', 'Reconciling', 'AwaitingNodes');
      expect(await generations()).toEqual(['-g2']);
      await cluster.kubectl(['patch', 'cloudprovider', 'other', '--type', 'merge', '-p', '{"spec":{"nodeSelector":{"cloud":"other"}}}']);
    }, '-g3');
    const pool = (await cluster.resources.list('pools')).find(({ id }) => id === moved.listeners[0]?.poolID);
    expect(pool?.targets.map(({ instanceID }) => instanceID)).toEqual([fleet?.instance('node-3').id]);
    expect((await scene.stackOf('web')).spec.provider).toBe('other');
    expect((await scene.loadBalancer('web'))?.status).toMatchObject({ address: addressOf(await scene.service('web')) });
  });

  test('another scheme is another load balancer', async () => {
    expect(await moves(() => patch({ scheme: 'Internal' }), '-g4')).toMatchObject({ scheme: 'Internal' });
  });

  test('the operator is killed while the new one is made, once both serve, and while the old one goes: no request fails, and nothing is left', async () => {
    const HELD = { latencyMs: { min: 1_500, max: 1_500 } };
    const again = async (): Promise<void> => {
      await cluster.killOperator();
      await cluster.startOperator();
    };
    const before = await scene.stackOf('web');
    await FollowingLoad.during(scene, { name: 'web', port: 80 }, async (load) => {
      await scene.faults(
        { match: { verb: 'create', collection: 'pools' }, times: 1, act: HELD },
        { match: { verb: 'delete', collection: 'pools' }, times: 1, act: HELD },
      );
      await annotate('placement=front');
      await scene.acted(0);
      await again();
      await scene.until('the new address', () => Promise.resolve(load.seen.length === 2));
      await again();
      await scene.acted(1);
      await again();
      await scene.until('the old one to be gone', async () => (await generations()).join() === '-g5');
    });
    await scene.gone('the old stack', () => scene.stack(before.metadata.name));
    const { metadata } = await scene.ready('web');
    const { addresses, loadbalancers } = await scene.content();
    const own = loadbalancers.filter(({ listeners }) => listeners.some(({ owner }) => owner === keyOf(metadata)));
    expect(own.map(({ listeners }) => listeners.map(({ port }) => port).sort((a, b) => a - b))).toEqual([[80, 8081]]);
    expect(addresses.find(({ id }) => own[0]?.addressIDs.includes(id))?.ip).toBe(addressOf(await scene.service('web')));
    expect((await scene.stackOf('web')).status?.members).toEqual(['default/web']);
  });

  describe('with an address that exists only once', () => {
    let fixed: string;
    const edge = (): Promise<LoadBalancer> => scene.inCloud('edge');

    beforeAll(async () => {
      fixed = (await scene.content()).addresses[0]?.ip.replace(/\.\d+$/, '.77') ?? '';
      await cluster.apply(serviceOf('edge', { spec: { loadBalancerIP: fixed } }));
      expect(await scene.published('edge')).toBe(fixed);
    });

    /** The operator is killed while the cloud is at this call, and another one goes on. */
    async function killedAt(
      match: { verb: 'create' | 'delete'; collection: 'loadbalancers' },
      change: () => Promise<unknown>,
    ): Promise<void> {
      await scene.faults({ match, times: 1, act: { latencyMs: { min: 2_000, max: 2_000 } } });
      await change();
      await scene.acted(0);
      await cluster.killOperator();
      await scene.faults();
      await cluster.startOperator();
    }

    const patchEdge = (spec: object): Promise<string> =>
      cluster.kubectl(['patch', 'clb', 'edge', '--type', 'merge', '-p', JSON.stringify({ spec })]);

    const placed = (placement: string): Promise<string> =>
      cluster.kubectl(['annotate', 'service', 'edge', '--overwrite', `cloud-operator.dev/placement${placement}`]);

    test('R-46 killed between its deletion and its creation, a replacement that was approved goes on without another approval', async () => {
      const before = await edge();
      await patchEdge({ scheme: 'Internal' });
      const { hash } = await scene.planOf('edge');
      await killedAt({ verb: 'create', collection: 'loadbalancers' }, () =>
        cluster.kubectl(['annotate', 'clb', 'edge', '--overwrite', `cloud-operator.dev/approve=${hash}`]),
      );
      await scene.until('the new one', async () => (await edge()).scheme === 'Internal');
      await scene.ready('edge');
      expect(await edge()).toMatchObject({ name: before.name, addressIDs: before.addressIDs });
    });

    test('killed while the old one is being deleted, a move ends at the new one with that address', async () => {
      await patchEdge({ updatePolicy: { replace: 'Allow' } });
      await scene.ready('edge');
      for (const placement of ['=corner', '-']) {
        const home = await scene.stackOf('edge');
        await killedAt({ verb: 'delete', collection: 'loadbalancers' }, () => placed(placement));
        await scene.gone('the old stack', () => scene.stack(home.metadata.name));
        expect(await scene.published('edge')).toBe(fixed);
      }
      expect(await scene.counts('edge')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
      expect((await scene.events('CloudLoadBalancer', 'edge')).map(({ reason }) => reason)).toContain('Replacing');
    });
  });
});
