import { CLOUD_LOAD_BALANCERS } from '../../crds';
import { OperatorCluster } from '../harness/operator-cluster';
import { waitFor } from '../harness/wait-for';
import { isSettled, Scene } from '../integration/operator/scene';
import { percentile, say } from './report';

const ROUNDS = 40;
/** The first ones warm everything up. */
const COLD = 5;

const WEB = {
  apiVersion: 'cloud-operator.dev/v1alpha1',
  kind: 'CloudLoadBalancer',
  metadata: { name: 'web', namespace: 'default' },
  spec: { provider: 'local', listeners: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 }], local: {} },
};

interface Timings {
  preparedMs: number;
  engineMs: number;
  totalMs: number;
}

/** One load balancer, changed again and again: from the change of its object until the cloud has it and its status says so. */
export async function loadBalancer(): Promise<void> {
  const cluster = await OperatorCluster.start({ fsync: true, logLevel: 'debug' });
  try {
    const scene = new Scene(cluster);
    await scene.addNode('node-0');
    await scene.initialized('node-0');
    await cluster.apply(WEB);
    await scene.ready('web');
    const whole: number[] = [];
    for (let round = 0; round < ROUNDS; round++) whole.push(await changed(cluster, scene, round));
    const updates = timingsIn(cluster.operatorLog()).slice(-ROUNDS);
    if (updates.length !== ROUNDS) throw new Error(`${updates.length} updates for ${ROUNDS} changes`);
    const line = (what: string, values: number[]): void =>
      say(
        `  ${what.padEnd(48)} p50 ${percentile(values.slice(COLD), 0.5).toFixed(0)} ms, p95 ${percentile(values.slice(COLD), 0.95).toFixed(0)} ms`,
      );
    say(`one changed load balancer, ${ROUNDS - COLD} changes one after another:`);
    line('change applied → cloud done and Ready (goal: ≤ 700)', whole);
    line(
      'CLI and engine, of that (goal: ≤ 500)',
      updates.map(({ preparedMs, engineMs }) => engineMs - preparedMs),
    );
    line(
      'worker, without them',
      updates.map(({ preparedMs, engineMs, totalMs }) => totalMs - (engineMs - preparedMs)),
    );
  } finally {
    await cluster.stop();
  }
}

async function changed({ kube }: OperatorCluster, scene: Scene, round: number): Promise<number> {
  const startedAt = performance.now();
  const spec = { sourceRanges: [`10.0.${round}.0/24`] };
  await kube.patch(CLOUD_LOAD_BALANCERS, 'default/web', 'merge', { spec });
  const ready = async (): Promise<boolean> => {
    const found = await scene.loadBalancer('web');
    return found !== undefined && isSettled(found);
  };
  await waitFor(ready, { what: 'the change', timeoutMs: 30_000, pollMs: 5 });
  return performance.now() - startedAt;
}

/** What the operator has logged of each update's parts. */
function timingsIn(log: string): Timings[] {
  const lines = log.split('\n').filter((line) => line.includes('"engineMs"'));
  return lines.map((line) => JSON.parse(line.slice(line.indexOf('{'))) as Timings);
}
