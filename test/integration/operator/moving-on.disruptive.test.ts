import { ANNOTATIONS, CLOUD_LOAD_BALANCERS, CLOUD_STACKS, type CloudLoadBalancerSpecInput } from '../../../crds';
import type { FaultRule } from '../../../providers/local/api';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { type Scene, type StoredStack, withScene } from './scene';

/** A load balancer that asks for a third stack while the second one has not taken it over: in the end the third has it, and nothing is left in the others. */

let cluster: OperatorCluster;
let scene: Scene;

withScene(
  (made) => {
    scene = made;
    cluster = made.cluster;
  },
  { provider: { retireAfter: '1s' } },
);

/** Long enough for the next change to come meanwhile. */
const HELD_MS = 1_500;

function at(placement: string): object {
  const spec: CloudLoadBalancerSpecInput = {
    provider: 'local',
    placement: { name: placement },
    listeners: [{ name: 'http', port: 80, nodePort: 30_080 }],
    updatePolicy: { replace: 'Allow' },
    local: {},
  };
  return { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer', metadata: { name: 'web', namespace: 'default' }, spec };
}

/** Placements whose load balancers are in the cloud. */
async function placements(): Promise<(string | undefined)[]> {
  return (await cluster.resources.list('loadbalancers')).map(({ tags }) => tags.owner);
}

async function onlyIn(placement: string): Promise<void> {
  await scene.until(
    `that of ${placement} alone`,
    async () => {
      expect(await placements()).toEqual([`placement default/${placement}`]);
      expect(await scene.counts()).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
      return true;
    },
    60_000,
  );
  await scene.ready('web');
}

afterEach(async () => {
  await cluster.kubectl(['delete', 'clb', 'web', '--wait=false']);
  await scene.gone('the CloudLoadBalancer', () => scene.loadBalancer('web'));
  expect(await scene.counts()).toEqual({ addresses: 0, pools: 0, loadbalancers: 0 });
});

test.each(['addresses', 'pools', 'loadbalancers'] as const)('it moves on while a create of %s is held', async (collection) => {
  await cluster.apply(at('first'));
  await scene.ready('web');
  await scene.faults({ match: { verb: 'create', collection }, times: 1, act: { latencyMs: { min: HELD_MS, max: HELD_MS } } });
  await cluster.apply(at('second'));
  await scene.acted(0);
  await cluster.apply(at('third'));
  await onlyIn('third');
});

/** Its target group has another name, so that the second one need not wait for the first; when that one has it, nothing is to be given up yet. */
test('it moves on while its first stack makes it, and that is done before the second one has it', async () => {
  const held = (ms: number): FaultRule => ({
    match: { verb: 'create', collection: 'loadbalancers' },
    act: { latencyMs: { min: ms, max: ms } },
  });
  await scene.faults({ ...held(2 * HELD_MS), times: 1 }, held(4 * HELD_MS));
  await cluster.apply(at('first'));
  await scene.acted(0);
  await cluster.kube.patch(CLOUD_LOAD_BALANCERS, 'default/web', 'merge', {
    spec: { placement: { name: 'second' }, listeners: [{ name: 'http', port: 8080, nodePort: 30_080 }] },
  });
  await onlyIn('second');
});

/** A target group that the second stack has made, in an update that never ended, has the name that the third one's is to have. */
test('it moves on while the first update of the second stack fails halfway', async () => {
  await cluster.apply(at('first'));
  await scene.ready('web');
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers' }, act: { status: 500, code: 'Internal' } });
  await cluster.apply(at('second'));
  await scene.acted(0);
  await cluster.apply(at('third'));
  await scene.until('the third stack', async () => (await cluster.kubectl(['get', 'cloudstacks', '-o', 'name'])).includes('third'));
  await scene.faults();
  await onlyIn('third');
});

test('it is deleted while the stack that it has left can’t be, and the operator has started again: the object waits for that', async () => {
  await cluster.apply(at('first'));
  await scene.ready('web');
  const [{ name = '' } = {}] = await cluster.resources.list('loadbalancers');
  await scene.faults({
    match: { verb: 'delete', collection: 'loadbalancers', nameRegex: `^${name}$` },
    act: { status: 500, code: 'Internal' },
  });
  await cluster.apply(at('second'));
  await scene.acted(0);
  await scene.ready('web');
  await cluster.killOperator();
  await cluster.startOperator();
  await scene.ready('web');
  await cluster.kubectl(['delete', 'clb', 'web', '--wait=false']);
  await scene.until('the second one to be gone', async () => (await placements()).join() === 'placement default/first');
  const { rules } = await cluster.cloud.faults();
  await scene.acted(0, (rules[0]?.acted ?? 0) + 1);
  expect((await scene.loadBalancer('web'))?.metadata.finalizers).toHaveLength(1);
  await scene.faults();
});

/** Its only member asks for another one: but for its CloudStack nothing says whose it is. */
describe('somebody deletes the CloudStack of the stack that it has left, which has not given it up yet', () => {
  let former: string;

  beforeEach(async () => {
    await cluster.apply(at('first'));
    await scene.ready('web');
    former = (await scene.stackOf('web')).metadata.name;
    await scene.faults({ match: { verb: 'delete', collection: 'loadbalancers' }, act: { status: 500, code: 'Internal' } });
    await cluster.apply(at('second'));
    await scene.acted(0);
  });

  async function onlyTheSecond(): Promise<void> {
    await onlyIn('second');
    await scene.until('no CloudStack of the first one', async () =>
      (await scene.list<StoredStack>(CLOUD_STACKS)).every(({ metadata }) => metadata.name !== former),
    );
  }

  test('it is written anew, and that stack gives up what it has', async () => {
    const freeze = (value: boolean): Promise<string> =>
      cluster.kubectl(['patch', 'cloudprovider', 'local', '--type=merge', '-p', JSON.stringify({ spec: { freeze: value } })]);
    await freeze(true);
    const before = await scene.until('its stack to rest', async () => {
      const found = await scene.stack(former);
      return found?.status?.conditions?.some(({ reason }) => reason === 'Frozen') === true && found;
    });
    await scene.faults();
    await cluster.kubectl(['delete', 'cst', former]);
    await scene.until('its CloudStack anew', async () => {
      const uid = (await scene.stack(former))?.metadata.uid;
      return uid !== undefined && uid !== before.metadata.uid;
    });
    await freeze(false);
    await onlyTheSecond();
  });

  test('while the operator is down: a sweep has the stack taken up again', async () => {
    await cluster.stopOperator();
    await cluster.kubectl(['delete', 'cst', former]);
    await scene.faults();
    await cluster.startOperator();
    await scene.ready('web');
    await cluster.kubectl(['annotate', 'cloudprovider', 'local', '--overwrite', `${ANNOTATIONS.sweep}=${Date.now()}`]);
    await onlyTheSecond();
  });
});
