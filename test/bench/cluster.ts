import { setTimeout as pause } from 'node:timers/promises';
import { CLOUD_INSTANCES } from '../../crds';
import { NODES, SERVICES, type Node, type Service } from '../../operator/kube/object';
import { OperatorCluster } from '../harness/operator-cluster';
import { waitFor } from '../harness/wait-for';
import { addressOf, isTainted, Scene, serviceOf } from '../integration/operator/scene';
import { idle } from './idle';
import { cpuSeconds, rssMB } from './processes';
import { say, sayFigure, secondsSince } from './report';

const NODE_COUNT = Number(process.env.BENCH_NODES ?? 5_000);
const SERVICE_COUNT = Number(process.env.BENCH_SERVICES ?? 1_000);
const JOINING = Number(process.env.BENCH_JOINING ?? 100);
const REST_SECONDS = Number(process.env.BENCH_REST_SECONDS ?? 330);
/** Where the prepared cluster is kept for further runs. */
const DIRECTORY = process.env.BENCH_DIRECTORY;

const MINUTES = 60_000;
/** Nodes that are there while the load balancers are made. */
const FIRST_NODES = 3;
const CREATORS = 10;
/** What the preparation takes is no figure: it may ask the API server as fast as that answers. */
const UNLIMITED = ['--kube-api-qps=0', '--kube-api-burst=0', '--concurrent-node-syncs=10'];
/** How often a kubelet writes its Node's status though nothing has changed. */
const HEARTBEAT_SECONDS = 300;

/** A large cluster, as its own API server sees it: cold start, rest, Nodes that join. Takes about twenty minutes, most of them for the preparation. */
export async function cluster(): Promise<void> {
  const provider = { driftInterval: '10m' };
  const running = await OperatorCluster.start({ provider, started: false, ...(DIRECTORY === undefined ? {} : { directory: DIRECTORY }) });
  try {
    const bench = new ClusterBench(running);
    await bench.prepare();
    await bench.coldStart();
    await bench.rest();
    await bench.oneNode();
    await bench.nodesJoin();
  } finally {
    await running.stop();
  }
}

class ClusterBench {
  private readonly scene: Scene;

  constructor(private readonly running: OperatorCluster) {
    this.scene = new Scene(running);
  }

  /** All of it is made as it would be in life: by the operator, its engine and the cloud. */
  async prepare(): Promise<void> {
    const startedAt = performance.now();
    await this.running.startOperator(UNLIMITED);
    await this.addNodes(0, FIRST_NODES);
    await this.addServices();
    say(`${SERVICE_COUNT} load balancers are there after ${secondsSince(startedAt).toFixed(0)} s`);
    await this.addNodes(FIRST_NODES, NODE_COUNT);
    await this.targetsAre(NODE_COUNT);
    await this.mirrored(NODE_COUNT);
    await idle(this.running);
    say(
      `prepared: ${NODE_COUNT} Nodes, ${SERVICE_COUNT} Services, in ${secondsSince(startedAt).toFixed(0)} s, operator CPU ${cpuSeconds(this.running.operatorPid).toFixed(0)} s`,
    );
    await this.running.stopOperator();
  }

  async coldStart(): Promise<void> {
    await this.running.cloud.resetCalls();
    const startedAt = performance.now();
    await this.running.startOperator();
    const cpu = cpuSeconds(this.running.operatorPid);
    const seconds = ((await idle(this.running)) - startedAt) / 1000;
    const { total, writes } = await this.running.operatorCalls();
    const used = cpuSeconds(this.running.operatorPid);
    sayFigure(
      `cold start to idle ${seconds.toFixed(1)} s, CPU ${used.toFixed(1)} s (${cpu.toFixed(1)} s until ready)`,
      '≤ 60 s',
      seconds <= 60,
    );
    sayFigure(`… cloud writes ${writes}, reads ${total - writes}`, '0 writes', writes === 0);
  }

  /** Without a change, and with the heartbeats of kubelets. */
  async rest(): Promise<void> {
    const silent = await this.shareOf(() => pause(REST_SECONDS * 1000));
    sayFigure(`at rest for ${REST_SECONDS} s: ${silent.toFixed(2)} % of a core`, '≤ 1 %', silent <= 1);
    const memory = rssMB(this.running.operatorPid);
    sayFigure(`… ${memory} MB`, '≤ 400 MB', memory <= 400);
    const beating = await this.shareOf(() => this.heartbeats());
    say(`        while all kubelets write their Nodes' status, each every ${HEARTBEAT_SECONDS} s: ${beating.toFixed(2)} % of a core`);
  }

  async oneNode(): Promise<void> {
    await this.running.cloud.resetCalls();
    const cpu = this.cpuCounter();
    const startedAt = performance.now();
    await this.addNodes(NODE_COUNT, NODE_COUNT + 1);
    await this.targetsAre(NODE_COUNT + 1);
    const seconds = secondsSince(startedAt);
    await idle(this.running);
    const { calls } = await this.running.operatorCalls();
    const puts = sum(calls.filter(({ verb }) => verb === 'targets'));
    sayFigure(
      `one Node added: ${SERVICE_COUNT} target groups right after ${seconds.toFixed(1)} s with ${puts} cloud calls, CPU ${cpu().toFixed(1)} s`,
      'one call per target group',
      puts <= SERVICE_COUNT,
    );
    say(`        ${text(calls)}`);
  }

  async nodesJoin(): Promise<void> {
    await this.running.cloud.resetCalls();
    const from = NODE_COUNT + 1;
    await this.addInstances(from, from + JOINING);
    await this.running.cloud.resetCalls();
    const startedAt = performance.now();
    await this.addNodeObjects(from, from + JOINING);
    await this.initialized(from, from + JOINING);
    const seconds = secondsSince(startedAt);
    const { calls } = await this.running.operatorCalls();
    const reads = sum(calls.filter(({ collection }) => collection === 'instances'));
    sayFigure(`${JOINING} Nodes joined: initialized after ${seconds.toFixed(1)} s`, '≤ 10 s', seconds <= 10);
    sayFigure(`… with ${reads} cloud calls`, '≤ 5', reads <= 5);
    await this.targetsAre(from + JOINING);
    await idle(this.running);
    const after = (await this.running.operatorCalls()).calls;
    say(`        and all targets right after ${secondsSince(startedAt).toFixed(1)} s: ${text(after)}`);
  }

  /** Share of a core that the operator uses meanwhile, in percent. */
  private async shareOf(during: () => Promise<unknown>): Promise<number> {
    const cpu = this.cpuCounter();
    const startedAt = performance.now();
    await during();
    return (100 * cpu()) / secondsSince(startedAt);
  }

  private async heartbeats(): Promise<void> {
    const started = performance.now();
    const beats = Math.round((NODE_COUNT * REST_SECONDS) / HEARTBEAT_SECONDS);
    for (let beat = 0; beat < beats; beat++) {
      await this.heartbeat(nameOf(beat % NODE_COUNT));
      await pause(Math.max(0, started + ((beat + 1) * REST_SECONDS * 1000) / beats - performance.now()));
    }
  }

  private async heartbeat(node: string): Promise<void> {
    const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: new Date().toISOString() }];
    await this.running.kube.patch(NODES, node, 'strategic', { status: { conditions } }, { subresource: 'status' });
  }

  private async addServices(): Promise<void> {
    const there = (await this.running.kube.list(SERVICES, { namespace: 'default' })).length - 1;
    await inParallel(Math.max(0, there), SERVICE_COUNT, (index) =>
      this.running.kube.create(SERVICES, 'default', serviceOf(`bench-${index}`)),
    );
    const all = async (): Promise<boolean> => {
      const services = await this.running.kube.list<Service>(SERVICES);
      return services.filter((service) => addressOf(service) !== undefined).length >= SERVICE_COUNT;
    };
    await waitFor(all, { what: `${SERVICE_COUNT} addresses`, timeoutMs: 60 * MINUTES, pollMs: 2_000 });
  }

  private async addNodes(from: number, to: number): Promise<void> {
    const there = (await this.running.kube.list(NODES)).length;
    if (there >= to) return;
    await this.addInstances(from, to);
    await this.addNodeObjects(from, to);
    await this.initialized(from, to);
  }

  private async addInstances(from: number, to: number): Promise<void> {
    await inParallel(from, to, (index) =>
      this.running.resources.create('instances', { name: nameOf(index) }, `bench-${nameOf(index)}`, {}),
    );
  }

  private async addNodeObjects(from: number, to: number): Promise<void> {
    await inParallel(from, to, (index) => this.scene.addNodeObject(nameOf(index)));
  }

  /** One after another: to list thousands of Nodes again and again would take the time that is measured. */
  private async initialized(from: number, to: number): Promise<void> {
    for (let index = from; index < to; index++) {
      const done = async (): Promise<boolean> => {
        const node = await this.running.kube.get<Node>(NODES, nameOf(index));
        return node !== undefined && !isTainted(node) && (node.status?.addresses ?? []).length > 0;
      };
      await waitFor(done, { what: `${nameOf(index)} to be initialized`, timeoutMs: 20 * MINUTES, pollMs: 100 });
    }
  }

  private async mirrored(count: number): Promise<void> {
    const all = async (): Promise<boolean> => (await this.running.kube.list(CLOUD_INSTANCES, { metadataOnly: true })).length === count;
    await waitFor(all, { what: `${count} CloudInstances`, timeoutMs: 20 * MINUTES, pollMs: 5_000 });
  }

  private async targetsAre(count: number): Promise<void> {
    const right = async (): Promise<boolean> => {
      const pools = await this.running.resources.poolDigests();
      return pools.length === SERVICE_COUNT && pools.every(({ targetCount }) => targetCount === count);
    };
    await waitFor(right, { what: `${count} targets everywhere`, timeoutMs: 20 * MINUTES, pollMs: 500 });
  }

  /** CPU seconds of the operator since now. */
  private cpuCounter(): () => number {
    const before = cpuSeconds(this.running.operatorPid);
    return () => cpuSeconds(this.running.operatorPid) - before;
  }
}

function nameOf(index: number): string {
  return `node-${String(index).padStart(5, '0')}`;
}

async function inParallel(from: number, to: number, make: (index: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const maker = async (): Promise<void> => {
    while (next < to) await make(next++);
  };
  await Promise.all(Array.from({ length: CREATORS }, maker));
}

function sum(calls: readonly { count: number }[]): number {
  return calls.reduce((total, { count }) => total + count, 0);
}

function text(calls: readonly { verb: string; collection: string; code: number; count: number }[]): string {
  return calls.map(({ verb, collection, code, count }) => `${verb} ${collection} ${code} ×${count}`).join(', ');
}
