import { setTimeout as pause } from 'node:timers/promises';
import { CLOUD_PROVIDERS } from '../../crds';
import { NODES, SERVICES, type Service } from '../../operator/kube/object';
import { OperatorCluster } from '../harness/operator-cluster';
import { waitFor } from '../harness/wait-for';
import { addressOf, Scene, serviceOf } from '../integration/operator/scene';
import { idle } from './idle';
import { cpuSeconds, MemoryWatch, rssMB } from './processes';
import { say, sayAtMost, sayFigure, secondsSince } from './report';

const BURST = Number(process.env.BENCH_BURST ?? 300);
const COUNT = Number(process.env.BENCH_SERVICES ?? 1000);
const NODE_COUNT = 3;
/** Services that are created at the same time. */
const CREATORS = 10;
const MINUTES = 60_000;
const IDLE_MS = 70_000;
const DRIFT_PASSES = 4;

/**
 * Many load balancers, every one made by the engine: a burst, one Node that comes and goes, drift passes, memory.
 * Takes about eight minutes for 1,000.
 */
export async function scale(): Promise<void> {
  const cluster = await OperatorCluster.start({ fsync: true });
  try {
    const bench = new ScaleBench(cluster);
    await bench.burst();
    await bench.fill();
    await bench.nodes();
    await bench.idle();
    await bench.driftPasses();
  } finally {
    await cluster.stop();
  }
}

class ScaleBench {
  private readonly scene: Scene;

  constructor(private readonly cluster: OperatorCluster) {
    this.scene = new Scene(cluster);
  }

  async burst(): Promise<void> {
    for (let node = 0; node < NODE_COUNT; node++) await this.scene.addNode(`node-${node}`);
    for (let node = 0; node < NODE_COUNT; node++) await this.scene.initialized(`node-${node}`);
    const watch = new MemoryWatch(() => this.cluster.operatorPid);
    const cpuBefore = cpuSeconds(this.cluster.operatorPid);
    const seconds = await this.create(0, BURST).finally(() => watch.stop());
    const cpu = cpuSeconds(this.cluster.operatorPid) - cpuBefore;
    sayAtMost(`burst of ${BURST} Services: all have addresses after`, seconds, 150, ' s');
    say(`  operator CPU ${cpu.toFixed(1)} s`);
    sayAtMost('… largest worker', watch.workerMB, 200, ' MB');
    sayAtMost('… largest engine', watch.engineMB, 150, ' MB');
    sayAtMost('… operator right after', rssMB(this.cluster.operatorPid), 250, ' MB');
  }

  async fill(): Promise<void> {
    if (COUNT <= BURST) return;
    const seconds = await this.create(BURST, COUNT);
    say(`up to ${COUNT} load balancers: ${seconds.toFixed(0)} s more; operator ${rssMB(this.cluster.operatorPid)} MB`);
  }

  /** One Node more, then one less. */
  async nodes(): Promise<void> {
    await this.scene.settled();
    await this.nodeChange('added', NODE_COUNT + 1, () => this.scene.addNode('node-more'));
    await this.scene.initialized('node-more');
    await this.scene.settled();
    await this.nodeChange('removed', NODE_COUNT, () => this.cluster.kube.remove(NODES, 'node-more'));
  }

  async idle(): Promise<void> {
    await this.scene.settled();
    await pause(IDLE_MS);
    const workers = this.cluster.workerPids().length;
    sayAtMost('workers after a minute without work', workers, 0);
    say(`  operator with ${COUNT} load balancers at rest: ${rssMB(this.cluster.operatorPid)} MB`);
  }

  /** The operator starts anew, with a short drift interval; whole passes are counted by the cloud. */
  async driftPasses(): Promise<void> {
    await this.cluster.stopOperator();
    await this.cluster.kube.patch(CLOUD_PROVIDERS, 'local', 'merge', { spec: { driftInterval: '10s' } });
    const startedAt = performance.now();
    await this.cluster.startOperator();
    await this.scene.settled();
    say(`restart over ${COUNT} unchanged: settled after ${secondsSince(startedAt).toFixed(1)} s, ${await this.engineRuns()} engine runs`);
    await this.cluster.cloud.resetCalls();
    await this.passesBegun(1);
    const before = cpuSeconds(this.cluster.operatorPid);
    const since = performance.now();
    await this.passesBegun(1 + DRIFT_PASSES);
    const perPass = (cpuSeconds(this.cluster.operatorPid) - before) / DRIFT_PASSES;
    const { writes } = await this.cluster.operatorCalls();
    sayAtMost(`drift pass over ${COUNT} unchanged: operator CPU`, perPass, 5, ' s');
    sayAtMost('… engine runs', await this.engineRuns(), 0);
    sayAtMost('… cloud writes', writes, 0);
    say(`  all ${secondsSince(since).toFixed(0)} s of ${DRIFT_PASSES} intervals counted; operator ${rssMB(this.cluster.operatorPid)} MB`);
  }

  private async passesBegun(count: number): Promise<void> {
    const begun = async (): Promise<boolean> => {
      const { calls } = await this.cluster.operatorCalls();
      const lists = calls.filter(({ verb, collection }) => verb === 'list' && collection === 'addresses');
      return lists.reduce((sum, call) => sum + call.count, 0) >= count;
    };
    await waitFor(begun, { what: `drift pass ${count}`, timeoutMs: 10 * MINUTES, pollMs: 20 });
  }

  private async nodeChange(how: string, targets: number, change: () => Promise<unknown>): Promise<void> {
    await this.cluster.cloud.resetCalls();
    const runs = await this.engineRuns();
    const cpu = cpuSeconds(this.cluster.operatorPid);
    const startedAt = performance.now();
    await change();
    const right = async (): Promise<boolean> => {
      const pools = await this.cluster.resources.list('pools');
      return pools.length === COUNT && pools.every((pool) => pool.targets.length === targets);
    };
    await waitFor(right, { what: `${targets} targets everywhere`, timeoutMs: 3 * MINUTES, pollMs: 250 });
    const seconds = secondsSince(startedAt);
    await idle(this.cluster);
    const used = cpuSeconds(this.cluster.operatorPid) - cpu;
    const { calls } = await this.cluster.operatorCalls();
    const puts = calls.filter(({ verb }) => verb === 'targets').reduce((sum, call) => sum + call.count, 0);
    sayAtMost(`one Node ${how}, ${COUNT} target groups: right after`, seconds, 15, ' s');
    sayFigure(`… ${puts} writes of targets`, `${COUNT}`, puts === COUNT);
    sayAtMost('… engine runs', (await this.engineRuns()) - runs, 0);
    sayAtMost('… operator CPU', used, 5, ' s');
    say(`  calls: ${calls.map(({ verb, collection, code, count }) => `${verb} ${collection} ${code} ×${count}`).join(', ')}`);
  }

  /** Makes Services number `from` up to `to`, as fast as the API server takes them. @returns seconds until the last one has its address */
  private async create(from: number, to: number): Promise<number> {
    const startedAt = performance.now();
    let next = from;
    const creator = async (): Promise<void> => {
      while (next < to) await this.cluster.kube.create(SERVICES, 'default', serviceOf(`bench-${next++}`));
    };
    await Promise.all(Array.from({ length: CREATORS }, creator));
    const all = async (): Promise<boolean> => {
      const services = await this.cluster.kube.list<Service>(SERVICES);
      return services.filter((service) => addressOf(service) !== undefined).length === to;
    };
    await waitFor(all, { what: `${to} addresses`, timeoutMs: 20 * MINUTES, pollMs: 500 });
    return secondsSince(startedAt);
  }

  /** Updates of stacks that this operator has run so far, by its own metrics. */
  private async engineRuns(): Promise<number> {
    const text = await (await fetch(`${this.cluster.operatorURL}/metrics`)).text();
    const counts = text.split('\n').filter((line) => line.startsWith('cloud_operator_update_duration_seconds_count'));
    return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
  }
}
