import { NODES, SECRETS, SERVICES, type Node, type Service } from '../../operator/kube/object';
import { decodeMetadata, kilobytes, STATE_TYPE, type Secret } from '../../operator/updates/state/state-secret';
import { waitFor } from '../harness/wait-for';
import { AzureScene } from '../integration/azure/operator-scene';
import { addressOf, serviceOf } from '../integration/operator/scene';
import { MemoryWatch, rssMB } from './processes';
import { say, sayFigure, secondsSince } from './report';

const SERVICE_COUNT = Number(process.env.BENCH_SERVICES ?? 500);
const NODE_COUNT = Number(process.env.BENCH_NODES ?? 650);
const LATENCY_MS = 200;
/** What a subscription may do in an hour, as upstream's users were throttled (kubernetes-sigs/cloud-provider-azure#5904). */
const HOURLY = { reads: 12_000, writes: 1_200 };
const CREATORS = 10;
const MINUTES = 60_000;

/** Upstream's users report hours for 600 Services on 650 Nodes: many Services on one load balancer of a model of Azure that answers late and counts calls. */
export async function azure(): Promise<void> {
  const scene = await AzureScene.start({ latencyMs: LATENCY_MS }, { started: false });
  const { reads, writes } = HOURLY;
  const bucket = (size: number) => ({ size, perSecond: size / 3600 });
  scene.arm.throttle.buckets = { reads: bucket(reads), writes: bucket(writes), deletes: bucket(writes) };
  try {
    const bench = new AzureBench(scene);
    await bench.fromNothing();
    await bench.serviceMore();
    await bench.nodeMore();
    await bench.serviceLess();
    await bench.nodeLess();
    await bench.restart();
  } finally {
    await scene.stop();
  }
}

class AzureBench {
  constructor(private readonly azure: AzureScene) {}

  async fromNothing(): Promise<void> {
    const { cluster } = this.azure;
    await inParallel(NODE_COUNT, (index) => this.azure.addMachine(index + 1));
    await inParallel(SERVICE_COUNT, (index) => cluster.kube.create(SERVICES, 'default', serviceOf(`bench-${index}`)));
    const startedAt = performance.now();
    await cluster.startOperator();
    const watch = new MemoryWatch(() => cluster.operatorPid);
    await this.settled(SERVICE_COUNT, NODE_COUNT).finally(() => watch.stop());
    const seconds = secondsSince(startedAt);
    await this.azure.scene.settled(5_000);
    const [writes, reads] = this.calls();
    const figure = `${SERVICE_COUNT} Services on ${NODE_COUNT} Nodes from nothing, ${LATENCY_MS} ms for each answer: settled after ${seconds.toFixed(0)} s`;
    sayFigure(figure, '≤ 600 s', seconds <= 600);
    sayFigure(`  ${writes} writes (${this.kinds()}), ${reads} reads`, '≤ 550 writes', writes <= 550);
    say(`  state: ${await this.states()}`);
    say(`  largest worker ${watch.workerMB} MB, largest engine ${watch.engineMB} MB, operator ${rssMB(cluster.operatorPid)} MB`);
  }

  serviceMore(): Promise<void> {
    const act = (): Promise<unknown> => this.azure.cluster.kube.create(SERVICES, 'default', serviceOf('bench-more'));
    return this.change('one Service more', act, { services: SERVICE_COUNT + 1, nodes: NODE_COUNT, writes: 4 });
  }

  nodeMore(): Promise<void> {
    const act = (): Promise<unknown> => this.azure.addMachine(NODE_COUNT + 1);
    return this.change('one Node more', act, { services: SERVICE_COUNT + 1, nodes: NODE_COUNT + 1, writes: 2 });
  }

  serviceLess(): Promise<void> {
    const act = (): Promise<unknown> => this.azure.cluster.kube.remove(SERVICES, 'default/bench-more');
    return this.change('one Service less', act, { services: SERVICE_COUNT, nodes: NODE_COUNT + 1, writes: 4 });
  }

  nodeLess(): Promise<void> {
    const act = (): Promise<unknown> => this.azure.cluster.kube.remove(NODES, `node-${NODE_COUNT + 1}`);
    return this.change('one Node less', act, { services: SERVICE_COUNT, nodes: NODE_COUNT, writes: 2 });
  }

  /** @param goal what there is then, and how many writes that may take */
  private async change(
    what: string,
    act: () => Promise<unknown>,
    goal: { services: number; nodes: number; writes: number },
  ): Promise<void> {
    this.azure.forgetCalls();
    const startedAt = performance.now();
    await act();
    await this.settled(goal.services, goal.nodes);
    const seconds = secondsSince(startedAt);
    await this.azure.scene.settled();
    const [writes, reads] = this.calls();
    const figure = `${what}: ${writes} writes (${this.kinds()}), ${reads} reads, ${seconds.toFixed(1)} s`;
    sayFigure(figure, `≤ ${goal.writes} writes`, writes <= goal.writes);
  }

  async restart(): Promise<void> {
    const { cluster, scene } = this.azure;
    await cluster.stopOperator();
    this.azure.forgetCalls();
    await cluster.startOperator();
    await scene.settled(10_000);
    const [writes, reads] = this.calls();
    sayFigure(`restart: ${writes} writes, ${reads} reads`, '0 writes', writes === 0);
  }

  private async settled(services: number, nodes: number): Promise<void> {
    const { kube } = this.azure.cluster;
    const all = async (): Promise<boolean> => {
      if (this.azure.poolOf().length !== nodes) throw new Error(`${this.azure.poolOf().length} Nodes behind it`);
      const found = (await kube.list<Service>(SERVICES)).filter((service) => addressOf(service) !== undefined);
      if (found.length === services) return true;
      const initialized = (await kube.list<Node>(NODES)).filter(({ spec }) => spec.providerID !== undefined).length;
      throw new Error(`${found.length} Services have addresses, ${initialized} Nodes a providerID`);
    };
    await waitFor(all, { what: `${services} addresses and ${nodes} Nodes`, timeoutMs: 20 * MINUTES, pollMs: 500 });
  }

  /** Bytes of the stacks' Secrets, and how often each was written. */
  private async states(): Promise<string> {
    const found = (await this.azure.cluster.kube.list<Secret>(SECRETS)).filter(({ type }) => type === STATE_TYPE);
    const bytesOf = ({ data = {} }: Secret): number =>
      Object.values(data).reduce((sum, text) => sum + Buffer.from(text, 'base64').length, 0);
    const told = found.map((secret) => {
      const { stack, revision } = decodeMetadata(secret.metadata, secret.metadata.name);
      return `${stack} ${kilobytes(bytesOf(secret))}, ${revision} writes`;
    });
    return told.join('; ');
  }

  private calls(): [writes: number, reads: number] {
    const writes = this.azure.writes().length;
    return [writes, this.azure.arm.calls.length - writes];
  }

  private kinds(): string {
    const counts = new Map<string, number>();
    for (const write of this.azure.writes()) counts.set(write, (counts.get(write) ?? 0) + 1);
    return [...counts].map(([write, count]) => `${write} ×${count}`).join(', ');
  }
}

/** @param work for each number from 0 to count - 1 */
async function inParallel(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: CREATORS }, worker));
}
