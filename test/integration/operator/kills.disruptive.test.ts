import type { Collection } from '../../../providers/local/api';
import type { OperatorCluster } from '../../harness/operator-cluster';
import { NONE, type Scene, serviceOf, withScene } from './scene';

const KINDS: Collection[] = ['addresses', 'pools', 'loadbalancers'];
const WORKER = { caller: 'cloud-operator-update' };
/** Long enough for a kill, short enough to end while the next operator starts. */
const HOLD = { latencyMs: { min: 700, max: 700 } };

let cluster: OperatorCluster;
let scene: Scene;

withScene((made) => {
  scene = made;
  cluster = made.cluster;
});

/** SIGKILL to the worker that runs the update, and to the engine in its process group. */
function killWorkers(): void {
  for (const pid of cluster.workerPids()) process.kill(-pid, 'SIGKILL');
}

async function replaceOperator(): Promise<void> {
  await cluster.killOperator();
  await cluster.startOperator();
}

/** The CloudStack can be read, says Ready, and knows the attempt that was cut off only as history. */
async function expectReadableStack(name: string): Promise<void> {
  await scene.published(name);
  await scene.until('the CloudStack to be Ready', async () => {
    const { status } = await scene.stackOf(name);
    expect(status?.attempts?.[0]).toMatchObject({ result: 'Succeeded' });
    expect(status?.conditions).toEqual([expect.objectContaining({ type: 'Ready', status: 'True' })]);
    expect(status?.resourceCount).toBe(3);
    expect(status?.attempts?.filter(({ result }) => result === 'Running')).toEqual([]);
    return true;
  });
}

describe.each(KINDS)('while a create of %s is held', (collection) => {
  const hold = { match: { verb: 'create', collection, ...WORKER }, times: 1, act: HOLD } as const;

  test('the operator is killed: its successor ends up with exactly one of each', async () => {
    const name = `operator-${collection}`;
    await scene.faults(hold);
    await cluster.apply(serviceOf(name));
    await scene.acted(0);
    await replaceOperator();
    await expectReadableStack(name);
    await scene.expectOneOfEach(name);
  });

  test('the worker is killed: another one ends up with exactly one of each', async () => {
    const name = `worker-${collection}`;
    await scene.faults(hold);
    await cluster.apply(serviceOf(name));
    await scene.acted(0);
    killWorkers();
    await expectReadableStack(name);
    await scene.expectOneOfEach(name);
  });
});

test('the operator is killed while a delete is held: its successor deletes the rest', async () => {
  await cluster.apply(serviceOf('dying'));
  await scene.published('dying');
  await scene.faults({ match: { verb: 'delete', collection: 'pools', ...WORKER }, times: 1, act: HOLD });
  await cluster.kubectl(['delete', 'service', 'dying', '--wait=false']);
  await scene.acted(0);
  await replaceOperator();
  await scene.gone('the Service', () => scene.service('dying'));
  await scene.gone('the CloudLoadBalancer', () => scene.loadBalancer('dying'));
  expect(await scene.counts('dying')).toEqual(NONE);
});

test('the Service is deleted while no operator runs, right after a create was cut off', async () => {
  await scene.faults({ match: { verb: 'create', collection: 'loadbalancers', ...WORKER }, times: 1, act: HOLD });
  await cluster.apply(serviceOf('orphan'));
  await scene.acted(0);
  await cluster.killOperator();
  await cluster.kubectl(['delete', 'service', 'orphan', '--wait=false']);
  await scene.until('the held create to be carried out', async () => (await scene.counts('orphan')).loadbalancers === 1);
  await cluster.startOperator();
  await scene.gone('the Service', () => scene.service('orphan'));
  await scene.gone('the CloudLoadBalancer', () => scene.loadBalancer('orphan'));
  expect(await scene.counts('orphan')).toEqual(NONE);
});

test.each(['before-journal', 'torn-journal', 'journal', 'dataplane'] as const)(
  'the cloud itself dies during a create (%s) and comes back: exactly one of each',
  async (crash) => {
    await scene.faults({ match: { verb: 'create', collection: 'loadbalancers', ...WORKER }, times: 1, act: { crash } });
    const name = `crash-${crash}`;
    await cluster.apply(serviceOf(name));
    await expectReadableStack(name);
    await scene.expectOneOfEach(name);
  },
);
