import { setTimeout as pause } from 'node:timers/promises';
import { NODES, SERVICES, type Service } from '../../../operator/kube/object';
import { waitFor } from '../../harness/wait-for';
import { isTainted, serviceOf } from '../../integration/operator/scene';
import type { Arena, Machine } from './arena';
import { measure, type Figure } from './measure';

export const PHASES = ['create', 'restart', 'node-added', 'node-removed', 'delete'] as const;
export type Phase = (typeof PHASES)[number];

/** What is measured, in words. */
export const TITLES: Readonly<Record<Phase, string>> = {
  create: 'Services created',
  restart: 'restart, nothing changed',
  'node-added': 'one Node added',
  'node-removed': 'one Node removed',
  delete: 'Services deleted',
};

const PORTS = 2;
const CREATORS = 10;
/** Between upstream's start and its first call. */
const STARTING_MS = 60_000;
const INITIALIZED_MS = 180_000;

/** The phases of one contestant, in an arena whose Nodes are there. */
export class Phases {
  private machines: Machine[] = [];

  constructor(
    private readonly arena: Arena,
    private readonly services: number,
  ) {}

  /** Starts the contestant and has it initialize the Nodes, which is not measured. */
  async begin(nodes: number): Promise<void> {
    this.machines = await this.arena.machines(nodes);
    await this.arena.contestant.start();
    for (const { node } of this.machines) await this.arena.scene.addNodeObject(node);
    for (const { node } of this.machines) await this.initialized(node);
  }

  run(phase: Phase): Promise<Figure> {
    const steps: Record<Phase, () => Promise<Figure>> = {
      create: () => this.create(),
      restart: () => this.restart(),
      'node-added': () => this.nodeAdded(),
      'node-removed': () => this.nodeRemoved(),
      delete: () => this.delete(),
    };
    return steps[phase]();
  }

  private create(): Promise<Figure> {
    const make = (): Promise<void> => this.each((index) => this.arena.cluster.kube.create(SERVICES, 'default', networkService(index)));
    const served = async (): Promise<number> => Math.min(await this.published(), Math.floor(this.right() / PORTS));
    return measure(this.arena, 'create', { act: make, done: served, goal: this.services });
  }

  private restart(): Promise<Figure> {
    const act = async (): Promise<void> => {
      await this.arena.contestant.stop();
      this.arena.proxy.calls.length = 0;
      await this.arena.contestant.start();
      for (let waited = 0; this.arena.proxy.calls.length === 0 && waited < STARTING_MS; waited += 100) await pause(100);
    };
    return measure(this.arena, 'restart', { act, done: () => Promise.resolve(1), goal: 1 });
  }

  private async nodeAdded(): Promise<Figure> {
    const [machine] = await this.arena.machines(1);
    if (machine === undefined) throw new Error('moto made no instance');
    const goal = this.arena.traffic.targets.size;
    this.machines.push(machine);
    const act = (): Promise<void> => this.arena.scene.addNodeObject(machine.node);
    return measure(this.arena, 'node-added', { act, done: () => Promise.resolve(this.right()), goal });
  }

  private async nodeRemoved(): Promise<Figure> {
    const machine = this.machines.pop();
    if (machine === undefined) throw new Error('there is no Node to remove');
    const goal = this.arena.traffic.targets.size;
    const act = (): Promise<unknown> => this.arena.cluster.kube.remove(NODES, machine.node);
    return measure(this.arena, 'node-removed', { act, done: () => Promise.resolve(this.right([machine.instanceID])), goal });
  }

  private delete(): Promise<Figure> {
    const act = (): Promise<void> => this.each((index) => this.arena.cluster.kube.remove(SERVICES, `default/${nameOf(index)}`));
    const gone = async (): Promise<number> => {
      const { loadBalancers, targets } = this.arena.traffic;
      return this.services - Math.max((await this.all()).length, loadBalancers.size, Math.ceil(targets.size / PORTS));
    };
    return measure(this.arena, 'delete', { act, done: gone, goal: this.services });
  }

  /** Target groups that hold the Nodes there are, and none of those instances. */
  private right(gone: readonly string[] = []): number {
    const ids = this.machines.map(({ instanceID }) => instanceID);
    return this.arena.traffic.right(ids, gone);
  }

  private async published(): Promise<number> {
    return (await this.all()).filter(({ status }) => (status?.loadBalancer?.ingress ?? []).length > 0).length;
  }

  private async all(): Promise<Service[]> {
    const services = await this.arena.cluster.kube.list<Service>(SERVICES, { namespace: 'default' });
    return services.filter(({ metadata }) => metadata.name.startsWith('bench-'));
  }

  private async initialized(node: string): Promise<void> {
    const { contestant, scene } = this.arena;
    const isDone = async (): Promise<boolean> => {
      contestant.assertRuns();
      const found = await scene.node(node);
      return found !== undefined && !isTainted(found) && found.spec.providerID !== undefined;
    };
    await waitFor(isDone, { what: `Node ${node} to be initialized`, timeoutMs: INITIALIZED_MS, pollMs: 200 });
  }

  private async each(act: (index: number) => Promise<unknown>): Promise<void> {
    let next = 0;
    const actor = async (): Promise<void> => {
      while (next < this.services) await act(next++);
    };
    await Promise.all(Array.from({ length: CREATORS }, actor));
  }
}

function nameOf(index: number): string {
  return `bench-${index}`;
}

const FIRST_NODE_PORT = 30_100;

/** Its node ports are fixed, so that both contestants are given the same. */
function networkService(index: number): object {
  const ports = [80, 443].map((port, at) => ({ name: `p${port}`, port, nodePort: FIRST_NODE_PORT + index * PORTS + at }));
  const annotations = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };
  return serviceOf(nameOf(index), { annotations, ports });
}
