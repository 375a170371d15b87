import { randomUUID } from 'node:crypto';
import { systemClock } from '../../operator/base/clock';
import { OperatorError, toOperatorError } from '../../operator/base/errors';
import { createLogger, type Logger } from '../../operator/base/log';
import { compiled } from '../../operator/entry';
import { KubeClient } from '../../operator/kube/client';
import { loadKubeConfig } from '../../operator/kube/kube-config';
import { LEASES, NODES, SERVICES, type Node, type Service } from '../../operator/kube/object';
import type { Lease } from '../../operator/kube/lease';
import { Reflector } from '../../operator/kube/reflector';
import type { Family, Instance } from '../../providers/local/api';
import { LocalCloudClient } from '../../providers/local/client';
import { addressInCIDR, contains } from '../../providers/local/cloud/data-plane/ip-range';
import { Machine } from './machine';
import { NODE_LEASE_NAMESPACE, nodeLease, nodeNumber, nodeObject, readyCondition, servedPorts } from './node-object';

export interface FleetOptions {
  /** Path of an admin's kubeconfig. */
  kubeconfig: string;
  /** The local cloud's API. */
  endpoint: string;
  token: string;
  /** How many nodes to begin with: `node-1`, `node-2`, … */
  count: number;
  /** Each node gets a /24 of it as its pods' range; default 10.244.0.0/16. */
  clusterCIDR?: string;
  /** Of the machines and their pods; absent = IPv4. */
  ipFamilies?: Family[];
  /** Removes nodes of an earlier fleet whose numbers are above `count`. Default false. */
  removeOthers?: boolean;
  /** Breaks the start off. */
  signal?: AbortSignal;
  logger?: Logger;
}

const HEARTBEAT_MS = 10_000;
const INSTANCE_TIMEOUT_MS = 15_000;
const POLL_MS = 20;

/**
 * The nodes of a development cluster: instances of the local cloud with a nodelet on each, Nodes that stand for them, heartbeats as a kubelet
 * posts them, and NodePorts as kube-proxy opens them.
 */
export class Fleet {
  private readonly machines = new Map<string, Machine>();
  private readonly stopping = new AbortController();
  private readonly kube: KubeClient;
  private readonly cloud: LocalCloudClient;
  private readonly services: Reflector<Service>;
  private readonly logger: Logger;
  private watching: Promise<void> | undefined;
  private cancelHeartbeat: () => void = () => undefined;

  private constructor(private readonly options: FleetOptions) {
    const { kubeconfig, endpoint, token } = options;
    this.logger = options.logger ?? createLogger('fleet', { level: 'warn' });
    this.kube = new KubeClient(loadKubeConfig({ kubeconfig }));
    this.cloud = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'fleet' });
    this.services = new Reflector<Service>({ api: this.kube, resource: SERVICES, logger: this.logger });
  }

  /** @throws OperatorError when the cloud or the API server can't be reached; nothing of ours runs then */
  static async start(options: FleetOptions): Promise<Fleet> {
    const fleet = new Fleet(options);
    try {
      await fleet.begin();
      return fleet;
    } catch (error) {
      await fleet.stop();
      throw error;
    }
  }

  /** Names of the nodes whose Node is kept, by number. */
  get names(): string[] {
    const registered = [...this.machines.values()].filter((machine) => machine.registered).map(({ name }) => name);
    return registered.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  }

  /**
   * Registers a Node as a kubelet does when it starts, on the machine of that name, made if absent.
   * @param name `node-<number>`; absent = the first number that is free
   */
  async addNode(name: string = this.freeName()): Promise<void> {
    const machine = this.machines.get(name) ?? (await this.makeMachine(name));
    const body = nodeObject(name, machine.instance.podCIDRs, new Date());
    const node = (await this.kube.get<Node>(NODES, name)) ?? (await this.kube.create<Node>(NODES, undefined, body));
    machine.registered = true;
    await this.heartbeat(machine.name, () => this.renewLease(node));
  }

  /** Deletes the Node. Its machine goes on and serves what is under way, unless `terminate` ends it too. */
  async removeNode(name: string, options: { terminate?: boolean } = {}): Promise<void> {
    const machine = this.machine(name);
    machine.registered = false;
    await this.kube.remove(NODES, name);
    if (options.terminate === true) await this.terminate(machine);
  }

  /** Deletes every Node and terminates every machine. */
  async removeAll(): Promise<void> {
    await Promise.all([...this.machines.keys()].map((name) => this.removeNode(name, { terminate: true })));
  }

  /** What the Node says of itself from the next heartbeat on, which is posted now. */
  async setReady(name: string, ready: boolean): Promise<void> {
    const machine = this.machine(name);
    machine.ready = ready;
    await this.postReady(machine);
  }

  /** How many pods each Service has on a node from now on: without any, the node's health check for externalTrafficPolicy Local fails. */
  setLocalEndpoints(name: string, count: number): void {
    this.machine(name).localEndpoints = count;
    this.serve();
  }

  /** Where the pod of a node answers, inside the cluster's network. */
  pod(name: string): { ip: string; port: number } {
    return this.machine(name).pod;
  }

  instance(name: string): Instance {
    return this.machine(name).instance;
  }

  /**
   * Asks the pod of node `to` from the pod of node `from`.
   * @returns the answer's body
   * @throws OperatorError when there is no way or no answer within `timeoutMs`
   */
  fetchPod(from: string, to: string, timeoutMs = 1000): Promise<string> {
    return this.machine(from).nodelet.fetchPod({ ...this.pod(to), timeoutMs });
  }

  /** Ends everything that runs here. Nodes and instances stay; the cloud ends its own processes. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.cancelHeartbeat();
    for (const machine of this.machines.values()) machine.nodelet.close();
    await this.watching;
    await Promise.all([this.cloud.close(), this.kube.close()]);
  }

  private async begin(): Promise<void> {
    this.watching = this.services.start(this.stopping.signal);
    this.services.store.onChange(() => this.serve());
    if (this.options.removeOthers === true) await this.removeAbove(this.options.count);
    const names = Array.from({ length: this.options.count }, (_, i) => `node-${i + 1}`);
    await Promise.all(names.map((name) => this.addNode(name)));
    this.beatAfter();
  }

  private async removeAbove(count: number): Promise<void> {
    const others = (await this.cloud.list('instances')).filter(({ name }) => (nodeNumber(name) ?? 0) > count);
    for (const { id, name } of others) {
      await this.kube.remove(NODES, name);
      await this.cloud.remove('instances', id, {});
    }
  }

  private async makeMachine(name: string): Promise<Machine> {
    const [existing] = await this.cloud.list('instances', { name });
    const made = existing ?? (await this.createInstance(name));
    const machine = new Machine(name, await this.whenUp(made), this.logger);
    this.machines.set(name, machine);
    machine.serve(servedPorts(this.services.store.list()));
    return machine;
  }

  private createInstance(name: string): Promise<Instance> {
    const spec = {
      ...{ name, zone: 'local-a', type: 'local.small', podCIDRs: this.podCIDRs(name) },
      ...(this.options.ipFamilies !== undefined && { ipFamilies: this.options.ipFamilies }),
      process: { command: [process.execPath, compiled('dev/nodes/nodelet')], env: { NODE_NAME: name } },
    };
    return this.cloud.create('instances', spec, `fleet-${name}-${randomUUID()}`, {});
  }

  private async whenUp(instance: Instance): Promise<Instance> {
    const deadline = systemClock.monotonic() + INSTANCE_TIMEOUT_MS;
    let current: Instance | undefined = instance;
    while (current?.socket === undefined) {
      this.options.signal?.throwIfAborted();
      if (current === undefined || current.state === 'error' || systemClock.monotonic() > deadline) {
        const why = current?.message ?? 'it has no socket yet';
        throw new OperatorError('Transient', `instance ${instance.id} (${instance.name}) did not come up: ${why}`);
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      current = await this.cloud.get('instances', instance.id);
    }
    return current;
  }

  private podCIDRs(name: string): string[] {
    const families = this.options.ipFamilies ?? ['IPv4'];
    return families.map((family) => (family === 'IPv4' ? this.podCIDR(name) : `fd00:10:244:${nodeNumber(name)?.toString(16)}::/64`));
  }

  private podCIDR(name: string): string {
    const clusterCIDR = this.options.clusterCIDR ?? '10.244.0.0/16';
    const number = nodeNumber(name);
    if (number === undefined) throw new OperatorError('Invalid', `"${name}" is not a name for a node; use node-1, node-2, …`);
    const network = addressInCIDR(clusterCIDR, number * 256);
    if (!contains(clusterCIDR, network)) throw new OperatorError('Invalid', `${clusterCIDR} has no range of pods for ${name}`);
    return `${network}/24`;
  }

  private freeName(): string {
    for (let number = 1; ; number++) if (!this.names.includes(`node-${number}`)) return `node-${number}`;
  }

  private machine(name: string): Machine {
    const machine = this.machines.get(name);
    if (machine === undefined)
      throw new OperatorError('NotFound', `the fleet has no node "${name}"; it has ${[...this.machines.keys()].join(', ')}`);
    return machine;
  }

  private async terminate(machine: Machine): Promise<void> {
    this.machines.delete(machine.name);
    machine.nodelet.close();
    await this.cloud.remove('instances', machine.instance.id, {});
  }

  private serve(): void {
    const services = this.services.store.list();
    for (const machine of this.machines.values()) machine.serve(servedPorts(services, machine.localEndpoints));
  }

  private beatAfter(): void {
    this.cancelHeartbeat = systemClock.after(HEARTBEAT_MS, () => {
      const registered = [...this.machines.values()].filter((machine) => machine.registered);
      void Promise.all(registered.map((machine) => this.postReady(machine))).then(() => {
        if (!this.stopping.signal.aborted) this.beatAfter();
      });
    });
  }

  private postReady({ name, ready }: Machine): Promise<void> {
    const body = { status: { conditions: [readyCondition(ready, new Date())] } };
    return this.heartbeat(name, async () => {
      await this.renewLease(await this.kube.patch<Node>(NODES, name, 'strategic', body, { subresource: 'status' }));
    });
  }

  private async renewLease(node: Node): Promise<void> {
    const key = `${NODE_LEASE_NAMESPACE}/${node.metadata.name}`;
    await this.kube.apply<Lease>(LEASES, key, nodeLease(node, new Date()), { fieldManager: 'nodelet', force: true });
  }

  /** Like a kubelet's: a Node that somebody deleted is not made anew, and the next heartbeat makes up for a failed one. */
  private async heartbeat(name: string, post: () => Promise<void>): Promise<void> {
    await post().catch((thrown: unknown) => {
      const error = toOperatorError(thrown);
      if (error.code !== 'NotFound') this.logger.warn({ node: name, error: error.message }, 'heartbeat failed');
    });
  }
}
