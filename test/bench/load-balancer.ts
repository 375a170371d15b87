import { CLOUD_LOAD_BALANCERS } from '../../crds';
import { OperatorCluster } from '../harness/operator-cluster';
import { waitFor } from '../harness/wait-for';
import { isSettled, Scene } from '../integration/operator/scene';
import { percentile, say, sayAtMost } from './report';

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
    const at = (share: number, values: number[]): number => Math.round(percentile(values.slice(COLD), share));
    const engine = updates.map(({ preparedMs, engineMs }) => engineMs - preparedMs);
    const worker = updates.map(({ preparedMs, engineMs, totalMs }) => totalMs - (engineMs - preparedMs));
    say(`one changed load balancer, ${ROUNDS - COLD} changes one after another:`);
    sayAtMost('change applied → cloud done and Ready, p50', at(0.5, whole), 700, ' ms');
    sayAtMost('… of that, CLI and engine, p50', at(0.5, engine), 500, ' ms');
    say(`p95 ${at(0.95, whole)} ms, of that CLI and engine ${at(0.95, engine)} ms; worker without them p50 ${at(0.5, worker)} ms`);
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
