import { OperatorError, type ErrorCode } from '../../../../operator/base/errors';
import { silentLogger } from '../../../../operator/base/log';
import type { KubeObject, Node, ResourcePath } from '../../../../operator/kube/object';
import type { ApiStatus } from '../../../../operator/kube/status';
import { KeyedQueue } from '../../../../operator/kube/queue';
import { MemoryStore } from '../../../../operator/kube/store';
import { IpamLoop } from '../../../../operator/loops/ipam/loop';
import { type NodeCidrFlags, parseNodeCidrs } from '../../../../operator/loops/ipam/settings';
import { NODE_RETRY } from '../../../../operator/loops/node/loop';
import { FakeClock } from '../../kube/fake-clock';
import { node } from '../objects';

/** A Node of this name, made anew with another UID where that is said. */
export function nodeOf(name: string, podCIDRs: string[] = [], metadata: object = {}): Node {
  const spec = podCIDRs.length === 0 ? {} : { podCIDR: podCIDRs[0]!, podCIDRs };
  return node({ metadata: { name, uid: name, ...metadata }, spec });
}

/** An API server with Nodes: takes podCIDRs once, as the real one does, and tells the store only when asked to. */
export class NodesApi {
  readonly live = new Map<string, Node>();
  readonly patches: [string, unknown][] = [];
  readonly events: string[] = [];
  /** One for each patch from now on: thrown in place of the answer, or as that answer, after the write where that is said. */
  readonly failures: { code: ErrorCode; written?: boolean; answer?: ApiStatus }[] = [];
  lists = 0;
  listFailures = 0;

  event(_target: object, type: string, reason: string, message: string): void {
    this.events.push(`${type} ${reason}: ${message}`);
  }

  list<T extends KubeObject>(): Promise<T[]> {
    this.lists++;
    if (this.lists <= this.listFailures) return Promise.reject(new OperatorError('Transient', '503'));
    return Promise.resolve([...this.live.values()] as unknown as T[]);
  }

  get<T extends KubeObject>(_resource: ResourcePath, key: string): Promise<T | undefined> {
    return Promise.resolve(this.live.get(key) as T | undefined);
  }

  patch<T extends KubeObject>(_resource: ResourcePath, key: string, _type: string, body: object): Promise<T> {
    const { metadata, spec } = body as Pick<Node, 'metadata' | 'spec'>;
    this.patches.push([key, spec.podCIDRs]);
    const failure = this.failures.shift();
    const refusal = failure?.written === true || failure === undefined ? this.write(key, metadata.uid, spec) : undefined;
    const detail = failure?.answer === undefined ? {} : { cause: failure.answer };
    const error = failure === undefined ? refusal : new OperatorError(failure.code, `no answer (${failure.code})`, detail);
    return error === undefined ? Promise.resolve(this.live.get(key) as unknown as T) : Promise.reject(error);
  }

  private write(key: string, uid: string, spec: Node['spec']): OperatorError | undefined {
    const before = this.live.get(key);
    if (before === undefined) return new OperatorError('NotFound', '404');
    if (before.metadata.uid !== uid) return new OperatorError('Conflict', '409');
    if (before.spec.podCIDRs !== undefined) return new OperatorError('Invalid', '422');
    this.live.set(key, { ...before, spec: { ...before.spec, ...spec } });
    return undefined;
  }
}

export class World {
  readonly api = new NodesApi();
  readonly clock = new FakeClock();
  readonly store = new MemoryStore<Node>({}, silentLogger);
  readonly queue = new KeyedQueue({ name: 'cidrallocator_node', logger: silentLogger, clock: this.clock, backOff: NODE_RETRY });
  readonly loop: IpamLoop;
  readonly stop = new AbortController();
  running: Promise<void> = Promise.resolve();
  /** Names of the Nodes whose CloudProvider is only observed. */
  readonly observed = new Set<string>();
  /** Share of the blocks that is taken, by cluster CIDR. */
  readonly usage = new Map<string, number>();

  constructor(flags: Partial<NodeCidrFlags> = {}) {
    const defaults = { clusterCidr: '10.10.0.0/16', serviceRanges: '', mask: 0, maskIPv4: 0, maskIPv6: 0, allocatorType: 'RangeAllocator' };
    this.loop = new IpamLoop({
      ...{ api: this.api as never, nodes: this.store, events: this.api, queue: this.queue, clock: this.clock, logger: silentLogger },
      metrics: (cidr) => ({
        ...{ allocated: () => undefined, released: () => undefined, tries: () => undefined },
        usage: (share) => this.usage.set(cidr, share),
      }),
      observes: ({ name }) => this.observed.has(name),
      settings: parseNodeCidrs({ ...defaults, ...flags }),
    });
  }

  /** Starts with these Nodes, and lets everything that is due happen. */
  async start(...nodes: Node[]): Promise<this> {
    for (const one of nodes) this.api.live.set(one.metadata.name, one);
    this.store.replace(nodes);
    this.running = this.loop.run(this.stop.signal);
    this.running.catch(() => undefined);
    await this.settle();
    return this;
  }

  async settle(ms = 0): Promise<void> {
    for (let round = 0; round < 20; round++) await this.clock.advance(round === 0 ? ms : 0);
  }

  async add(...nodes: Node[]): Promise<void> {
    for (const one of nodes) {
      this.api.live.set(one.metadata.name, one);
      this.store.set(one);
    }
    await this.settle();
  }

  async remove(name: string): Promise<void> {
    this.api.live.delete(name);
    this.store.delete(name);
    await this.settle();
  }

  podCIDRs(name: string): string[] | undefined {
    return this.api.live.get(name)?.spec.podCIDRs;
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
    this.queue.close();
  }
}
