import { sleep, systemClock } from '../../operator/base/clock';
import { NODES, SERVICES } from '../../operator/kube/object';
import { LABEL_EXCLUDE_FROM_LOAD_BALANCERS } from '../../operator/kube/well-known';
import { OperatorCluster } from '../harness/operator-cluster';
import { Scene, serviceOf } from '../integration/operator/scene';
import { Heap } from './heap';
import { say, sayAtMost, secondsSince } from './report';

const SERVICE_CHANGES = Number(process.env.BENCH_SERVICE_CHANGES ?? 2_000);
const NODE_CHANGES = Number(process.env.BENCH_NODE_CHANGES ?? 1_000);
const MINUTES = Number(process.env.BENCH_MINUTES ?? 20);
const SERVICES_AT_ONCE = 20;
const NODES_AT_ONCE = 5;
const PARTS = 5;

/** Changes for twenty minutes, at an even pace; after each fifth of them, what the operator's heap holds. */
export async function soak(): Promise<void> {
  const cluster = await OperatorCluster.start();
  try {
    const bench = new SoakBench(cluster, new Scene(cluster));
    await bench.begin();
    const heap = await Heap.of(cluster.operatorPid);
    const used: number[] = [];
    for (let part = 1; part <= PARTS; part++) {
      const startedAt = performance.now();
      await bench.changes(SERVICE_CHANGES / PARTS, NODE_CHANGES / PARTS, (MINUTES * 60_000) / PARTS);
      await bench.settled();
      used.push(await heap.usedAfterCollection());
      say(`part ${part} of ${PARTS}, ${secondsSince(startedAt).toFixed(0)} s: heap after garbage collection ${used.at(-1)?.toFixed(1)} MB`);
    }
    heap.close();
    const [first = NaN, last = NaN] = [used[0], used.at(-1)];
    const mean = used.reduce((sum, one) => sum + one, 0) / used.length;
    const off = Math.max(...used.map((one) => Math.abs(one / mean - 1))) * 100;
    const growth = Math.max(0, last / first - 1) * 100;
    say(`${SERVICE_CHANGES} changes of Services and ${NODE_CHANGES} of Nodes in ${MINUTES} minutes: heap ${mean.toFixed(1)} MB`);
    sayAtMost('… farthest from the mean', off, 5, ' %');
    sayAtMost('… more in the last part than in the first', growth, 5, ' %');
  } finally {
    await cluster.stop();
  }
}

class SoakBench {
  private next = 0;
  private nextNode = 0;
  /** Names, oldest first: the oldest one goes for each that comes. */
  private readonly services: string[] = [];
  private readonly nodes: string[] = [];

  constructor(
    private readonly cluster: OperatorCluster,
    private readonly scene: Scene,
  ) {}

  async begin(): Promise<void> {
    for (let index = 0; index < NODES_AT_ONCE; index++) await this.addNode();
    for (let index = 0; index < SERVICES_AT_ONCE; index++) await this.addService();
    await this.settled();
  }

  async changes(services: number, nodes: number, lastsMs: number): Promise<void> {
    await Promise.all([
      this.paced(services, lastsMs, (index) => this.changeService(index)),
      this.paced(nodes, lastsMs, (index) => this.changeNode(index)),
    ]);
  }

  async settled(): Promise<void> {
    for (const name of this.services) await this.scene.ready(name, { timeoutMs: 120_000 });
    await this.scene.settled();
  }

  private async paced(count: number, lastsMs: number, change: (index: number) => Promise<void>): Promise<void> {
    const startedAt = performance.now();
    for (let index = 0; index < count; index++) {
      await change(index);
      await sleep(systemClock, Math.max(0, startedAt + ((index + 1) * lastsMs) / count - performance.now()));
    }
  }

  /** One is made anew for every four that are changed. */
  private async changeService(index: number): Promise<void> {
    if (index % 5 === 4) {
      await this.cluster.kube.remove(SERVICES, `default/${this.services.shift()}`);
      return this.addService();
    }
    const name = this.services[index % this.services.length];
    const ports = [{ name: 'http', port: 1_024 + (index % 30_000), targetPort: 8080 }];
    await this.cluster.kube.patch(SERVICES, `default/${name}`, 'merge', { spec: { ports } });
  }

  /** One is made anew for every four that are taken out of the load balancers or put in again. */
  private async changeNode(index: number): Promise<void> {
    if (index % 5 === 4) {
      const name = this.nodes.shift() ?? '';
      await this.cluster.kube.remove(NODES, name);
      const [machine] = await this.cluster.resources.list('instances', { name });
      if (machine !== undefined) await this.cluster.cloud.drift({ kind: 'delete', collection: 'instances', id: machine.id });
      return this.addNode();
    }
    const excluded = index % 2 === 0 ? 'true' : null;
    await this.cluster.kube.patch(NODES, this.nodes[0] ?? '', 'merge', {
      metadata: { labels: { [LABEL_EXCLUDE_FROM_LOAD_BALANCERS]: excluded } },
    });
  }

  private async addService(): Promise<void> {
    const name = `soak-${this.next++}`;
    await this.cluster.kube.create(SERVICES, 'default', serviceOf(name));
    this.services.push(name);
  }

  private async addNode(): Promise<void> {
    const name = `node-${this.nextNode++}`;
    await this.scene.addNode(name);
    this.nodes.push(name);
  }
}
