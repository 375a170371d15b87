import {
  CLOUD_INSTANCES,
  CLOUD_LOAD_BALANCERS,
  CLOUD_PROVIDERS,
  CLOUD_ROUTES,
  CLOUD_STACKS,
  type CloudInstance,
  type CloudLoadBalancer,
  type CloudProvider,
  type CloudRoute,
  type CloudStack,
  type Condition,
  type WaitingPlan,
} from '../../../crds';
import { EVENTS, keyOf, NODES, SERVICES, type KubeObject, type Node, type ResourcePath, type Service } from '../../../operator/kube/object';
import type { Address, FaultRule, Instance, LoadBalancer, Resource, Route, TargetPool } from '../../../providers/local/api';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster, type OperatorClusterOptions } from '../../harness/operator-cluster';
import { ownEvents } from '../../harness/own-events';
import { waitFor } from '../../harness/wait-for';

export type StoredLoadBalancer = CloudLoadBalancer & KubeObject;
export type StoredStack = CloudStack & KubeObject;
export type StoredRoute = CloudRoute & KubeObject;

export interface KubeEvent extends KubeObject {
  involvedObject: { kind: string; name: string; namespace?: string; uid?: string };
  type: string;
  reason: string;
  message: string;
  firstTimestamp?: string;
  lastTimestamp?: string;
}

interface CloudContent {
  addresses: Address[];
  pools: TargetPool[];
  loadbalancers: LoadBalancer[];
  routes: Route[];
}

/** Nothing of a load balancer is in the cloud. */
export const NONE = { addresses: 0, pools: 0, loadbalancers: 0 };

const WAIT_MS = 20_000;
const FOLLOWED = [SERVICES, CLOUD_LOAD_BALANCERS, CLOUD_STACKS];
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

/** A cluster with an operator and one initialized Node, n1, for the tests of a file; fault rules last for one test. */
export function withScene(receive: (scene: Scene) => void, options: OperatorClusterOptions = {}): void {
  let cluster: OperatorCluster | undefined;
  let scene: Scene;
  beforeAll(async () => {
    cluster = await OperatorCluster.start(options);
    scene = new Scene(cluster);
    receive(scene);
    await scene.addNode('n1');
    await scene.initialized('n1');
  }, OPERATOR_CLUSTER_START_MS);
  afterEach(() => scene.faults());
  afterAll(() => cluster?.stop());
}

/** Reads and waits for what a test is about, in one cluster with one local cloud. */
export class Scene {
  constructor(readonly cluster: OperatorCluster) {}

  /** A failure tells how the operator is: where the run's files are gone, nothing else can say it. */
  async until<T>(what: string, condition: () => Promise<T | undefined | false>, timeoutMs = WAIT_MS): Promise<T> {
    try {
      return await waitFor(condition, { what, timeoutMs });
    } catch (thrown) {
      throw new Error(`${(thrown as Error).message}\n${await this.cluster.describeOperator()}`, { cause: thrown });
    }
  }

  // ---- Kubernetes

  service(name: string, namespace = 'default'): Promise<Service | undefined> {
    return this.cluster.kube.get<Service>(SERVICES, `${namespace}/${name}`);
  }

  loadBalancer(name: string, namespace = 'default'): Promise<StoredLoadBalancer | undefined> {
    return this.cluster.kube.get<StoredLoadBalancer>(CLOUD_LOAD_BALANCERS, `${namespace}/${name}`);
  }

  route(name: string): Promise<StoredRoute | undefined> {
    return this.cluster.kube.get<StoredRoute>(CLOUD_ROUTES, name);
  }

  stack(name: string): Promise<StoredStack | undefined> {
    return this.cluster.kube.get<StoredStack>(CLOUD_STACKS, name);
  }

  node(name: string): Promise<Node | undefined> {
    return this.cluster.kube.get<Node>(NODES, name);
  }

  instance(name: string): Promise<(CloudInstance & KubeObject) | undefined> {
    return this.cluster.kube.get<CloudInstance & KubeObject>(CLOUD_INSTANCES, name);
  }

  provider(name = 'local'): Promise<(CloudProvider & KubeObject) | undefined> {
    return this.cluster.kube.get<CloudProvider & KubeObject>(CLOUD_PROVIDERS, name);
  }

  list<T extends KubeObject>(resource: ResourcePath): Promise<T[]> {
    return this.cluster.kube.list<T>(resource);
  }

  /**
   * Collects every version of one object from now on: what passes by between two looks is not missed.
   * @returns once nothing can be missed any more; `stop` gives the versions in the order in which they came
   */
  async history<T extends KubeObject>(kind: string, key: string): Promise<{ stop: () => Promise<T[]> }> {
    const resource = FOLLOWED.find((one) => one.kind === kind);
    if (resource === undefined) throw new RangeError(`${kind} can't be followed`);
    let resourceVersion = '';
    for await (const page of this.cluster.kube.pages(resource)) resourceVersion = page.resourceVersion;
    const end = new AbortController();
    const found: T[] = [];
    const watch = async (): Promise<void> => {
      const options = { resourceVersion, timeoutSeconds: 300, signal: end.signal };
      for await (const event of this.cluster.kube.watch<T>(resource, options)) {
        if ((event.type === 'ADDED' || event.type === 'MODIFIED') && keyOf(event.object.metadata) === key) found.push(event.object);
      }
    };
    const watching = watch().catch((thrown: unknown) => {
      if (!end.signal.aborted) throw thrown;
    });
    const stop = async (): Promise<T[]> => {
      end.abort();
      await watching;
      return found;
    };
    return { stop };
  }

  /** The operator's Events of one object, the oldest first. */
  async events(kind: string, name: string): Promise<KubeEvent[]> {
    const selector = `involvedObject.kind=${kind},involvedObject.name=${name}`;
    const found = await this.cluster.kube.list<KubeEvent>(EVENTS, { fieldSelector: selector });
    return ownEvents(found).sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
  }

  /** Of the state of a load balancer's stack, with its namespace. */
  async stateSecretOf(name: string): Promise<string> {
    return `cloud-operator-system/stack-${(await this.stackOf(name)).metadata.name}`;
  }

  /** Asks for a pass over a load balancer. */
  async askFor(name: string): Promise<void> {
    const token = `cloud-operator.dev/reconcile=${performance.now()}`;
    await this.cluster.kubectl(['annotate', 'cloudloadbalancer', name, '--overwrite', token]);
  }

  /** What the operator has written to the cloud since the calls were last reset. */
  async cloudWrites(): Promise<number> {
    return (await this.cluster.operatorCalls()).writes;
  }

  /** The CloudStack that carries a load balancer. */
  async stackOf(name: string, namespace = 'default'): Promise<StoredStack> {
    return this.until(`the CloudStack of ${namespace}/${name}`, async () => {
      const stack = (await this.loadBalancer(name, namespace))?.status?.stack;
      return stack === undefined ? undefined : this.stack(stack);
    });
  }

  /** The plan of a load balancer that waits for approval. */
  planOf(name: string, namespace = 'default'): Promise<WaitingPlan> {
    const member = `${namespace}/${name}`;
    return this.until(`the plan of ${member}`, async () =>
      (await this.stackOf(name, namespace)).status?.plans?.find((plan) => plan.member === member),
    );
  }

  /** Waits until the newest spec of a load balancer is in the cloud. */
  ready(name: string, { namespace = 'default', timeoutMs = WAIT_MS } = {}): Promise<StoredLoadBalancer> {
    return this.until(
      `CloudLoadBalancer ${namespace}/${name} to be Ready`,
      async () => {
        const found = await this.loadBalancer(name, namespace);
        if (found === undefined) throw new Error('it is not there');
        if (isSettled(found)) return found;
        throw new Error(`generation ${found.metadata.generation}, status ${JSON.stringify(found.status)}`);
      },
      timeoutMs,
    );
  }

  /** Waits until a Service has an address, with the newest spec in the cloud. */
  async published(name: string, namespace = 'default'): Promise<string> {
    await this.ready(name, { namespace });
    return this.until(`an address of Service ${namespace}/${name}`, async () => addressOf(await this.service(name, namespace)));
  }

  /** Waits for a condition of a load balancer. */
  condition(name: string, type: string, reason: string, { status = 'True', namespace = 'default' } = {}): Promise<Condition> {
    return this.until(`condition ${type}=${status}/${reason} of CloudLoadBalancer ${namespace}/${name}`, async () => {
      const conditions = (await this.loadBalancer(name, namespace))?.status?.conditions ?? [];
      const found = conditions.find((condition) => condition.type === type);
      if (found?.status === status && found.reason === reason) return found;
      throw new Error(JSON.stringify(conditions));
    });
  }

  gone(what: string, read: () => Promise<unknown>, timeoutMs = WAIT_MS): Promise<true> {
    return this.until(
      `${what} to be gone`,
      async () => {
        const found = await read();
        if (found === undefined) return true;
        throw new Error(JSON.stringify(found));
      },
      timeoutMs,
    );
  }

  /** Deletes Services, and waits until they and everything of theirs are gone. */
  async deleteServices(...names: string[]): Promise<void> {
    await this.cluster.kubectl(['delete', 'service', '--wait=false', ...names]);
    for (const name of names) {
      await this.gone(`Service default/${name}`, () => this.service(name));
      await this.gone(`CloudLoadBalancer default/${name}`, () => this.loadBalancer(name));
    }
  }

  // ---- the cloud

  /** Everything of ours that is in the cloud. */
  async content(): Promise<CloudContent> {
    const { resources } = this.cluster;
    const [addresses, pools, loadbalancers, routes] = await Promise.all([
      resources.list('addresses'),
      resources.list('pools'),
      resources.list('loadbalancers'),
      resources.list('routes'),
    ]);
    return { addresses, pools, loadbalancers, routes };
  }

  /** How many of each there are, of one owner or of all. */
  async counts(name?: string, namespace = 'default'): Promise<{ addresses: number; pools: number; loadbalancers: number }> {
    const { addresses, pools, loadbalancers } = await this.content();
    const owned = (all: Resource[]): number => all.filter(({ tags }) => name === undefined || tags.owner === `${namespace}/${name}`).length;
    return { addresses: owned(addresses), pools: owned(pools), loadbalancers: owned(loadbalancers) };
  }

  /** The one load balancer of an owner in the cloud. @throws when there is none, or more than one */
  async inCloud(name: string, namespace = 'default'): Promise<LoadBalancer> {
    const found = (await this.cluster.resources.list('loadbalancers')).filter(({ tags }) => tags.owner === `${namespace}/${name}`);
    const [only, ...others] = found;
    if (only === undefined || others.length > 0) throw new Error(`the cloud has ${found.length} load balancers of ${namespace}/${name}`);
    return only;
  }

  /** Instance ids in the pool of a listener. */
  async targets(name: string, listener: string): Promise<string[]> {
    const { listeners } = await this.inCloud(name);
    const poolID = listeners.find((one) => one.name === listener)?.poolID;
    const pool = (await this.cluster.resources.list('pools')).find(({ id }) => id === poolID);
    if (pool === undefined) throw new Error(`${name} has no listener ${listener} with a pool`);
    return pool.targets.map(({ instanceID }) => instanceID).sort();
  }

  /** The same by the pool's owner, also on a load balancer that several share. */
  async targetsOf(name: string, listener: string): Promise<string[]> {
    const port = ((await this.loadBalancer(name))?.spec.listeners ?? []).find((one) => one.name === listener)?.port;
    const pools = await this.cluster.resources.list('pools');
    const pool = pools.find(({ name: pooled, tags }) => tags.owner === `default/${name}` && pooled.endsWith(`-${port}`));
    return (pool?.targets ?? []).map(({ instanceID }) => instanceID).sort();
  }

  /** Exactly one of each is there for the named Services, each with one target; then all is deleted, and nothing is left. */
  async expectOneOfEach(...names: string[]): Promise<void> {
    for (const name of names) {
      await this.published(name);
      expect(await this.targets(name, 'http')).toHaveLength(1);
      expect(await this.counts(name)).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
    }
    await this.deleteServices(...names);
    for (const name of names) expect(await this.counts(name)).toEqual(NONE);
  }

  async faults(...rules: FaultRule[]): Promise<void> {
    await this.cluster.cloud.setFaults({ rules });
  }

  /** Waits until a fault rule has acted so often. */
  acted(index: number, times = 1): Promise<true> {
    return this.until(`fault rule ${index} to act ${times} times`, async () => {
      const { rules } = await this.cluster.cloud.faults();
      if ((rules[index]?.acted ?? 0) >= times) return true;
      throw new Error(JSON.stringify(rules));
    });
  }

  // ---- machines

  /** Makes an instance in the cloud, and the Node that its kubelet would register: tainted, Ready, without a providerID. */
  async addNode(name: string, options: Omit<NodeObjectOptions, 'providerID'> = {}): Promise<Instance> {
    const { podCIDR } = options;
    const spec = { name, ...(podCIDR === undefined ? {} : { podCIDRs: [podCIDR] }) };
    const instance = await this.cluster.resources.create('instances', spec, `test-${name}`, {});
    await this.addNodeObject(name, options);
    return instance;
  }

  async addNodeObject(name: string, options: NodeObjectOptions = {}): Promise<void> {
    const { podCIDR, ready = true, providerID, annotations = {}, labels = {} } = options;
    const spec = {
      taints: [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' }],
      ...(providerID === undefined ? {} : { providerID }),
      ...(podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] }),
    };
    await this.cluster.kube.create(NODES, undefined, { metadata: { name, annotations, labels }, spec });
    await this.setReady(name, ready);
  }

  /** What kubelet says, or the node lifecycle controller once kubelet is silent. */
  async setReady(name: string, ready: boolean): Promise<void> {
    const now = new Date().toISOString();
    const condition = { type: 'Ready', status: ready ? 'True' : 'Unknown', reason: 'Test', message: '', lastTransitionTime: now };
    await this.cluster.kube.patch(NODES, name, 'strategic', { status: { conditions: [condition] } }, { subresource: 'status' });
  }

  initialized(name: string): Promise<Node> {
    return this.until(`Node ${name} to be initialized`, async () => {
      const node = await this.node(name);
      return node !== undefined && !isTainted(node) && (node.spec.providerID ?? '') !== '' ? node : undefined;
    });
  }

  // ---- quiet

  /** Versions of every object that the operator may write; two equal ones mean that nothing was written in between. */
  async versions(): Promise<Record<string, string>> {
    const kinds = [SERVICES, NODES, CLOUD_LOAD_BALANCERS, CLOUD_ROUTES, CLOUD_STACKS, CLOUD_INSTANCES, CLOUD_PROVIDERS];
    const lists = await Promise.all(kinds.map((kind) => this.cluster.kube.list(kind)));
    const events = ownEvents(await this.cluster.kube.list(EVENTS));
    return Object.fromEntries(
      [...lists.flat(), ...events].map(({ kind, metadata }) => [
        `${kind} ${metadata.namespace ?? ''}/${metadata.name}`,
        metadata.resourceVersion,
      ]),
    );
  }

  /** Writes to the API server so far, of kinds that the operator writes: also those that changed nothing. */
  async apiWrites(): Promise<Record<string, number>> {
    const text = String(await this.cluster.kube.raw('GET', '/metrics'));
    const counts: Record<string, number> = {};
    for (const line of text.split('\n')) {
      if (!line.startsWith('apiserver_request_total{') || !/verb="(APPLY|PATCH|POST|PUT|DELETE)"/.test(line)) continue;
      const resource = /[{,]resource="([^"]*)"/.exec(line)?.[1] ?? '';
      if (!/^(cloud.*|services|nodes|events)$/.test(resource)) continue;
      const verb = /verb="([A-Z]+)"/.exec(line)?.[1] ?? '';
      const key = `${verb} ${resource}`;
      counts[key] = (counts[key] ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1));
    }
    return counts;
  }

  /** Waits until the operator has made no API write for `quietMs`: also none that changed nothing. */
  async settled(quietMs = 1_500): Promise<void> {
    let before = await this.cluster.operatorWrites();
    let since = performance.now();
    await this.until('the operator to settle', async () => {
      const now = await this.cluster.operatorWrites();
      if (now !== before) since = performance.now();
      before = now;
      return performance.now() - since >= quietMs;
    });
  }
}

export function isSettled({ metadata, status }: StoredLoadBalancer | StoredRoute): boolean {
  const conditions = status?.conditions ?? [];
  const is = (type: string): boolean => conditions.some((condition) => condition.type === type && condition.status === 'True');
  return status?.observedGeneration === metadata.generation && is('Ready') && !is('Reconciling') && !is('Stalled');
}

export function isTainted(node: Node): boolean {
  return (node.spec.taints ?? []).some(({ key }) => key === UNINITIALIZED);
}

export function addressOf(service: Service | undefined): string | undefined {
  return service?.status?.loadBalancer?.ingress?.[0]?.ip;
}

interface NodeObjectOptions {
  podCIDR?: string;
  ready?: boolean;
  providerID?: string;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
}

export interface ServicePortSpec {
  name: string;
  port: number;
  protocol?: string;
}

/** A Service of type LoadBalancer. */
export function serviceOf(
  name: string,
  { ports = [{ name: 'http', port: 80 }], annotations, spec = {}, namespace = 'default', labels }: ServiceOptions = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, ...(annotations === undefined ? {} : { annotations }), ...(labels === undefined ? {} : { labels }) },
    spec: { type: 'LoadBalancer', selector: { app: name }, ports, ...spec },
  };
}

export interface ServiceOptions {
  ports?: ServicePortSpec[];
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  spec?: Record<string, unknown>;
  namespace?: string;
}
