import type { CallCounts, DriftRequest, FaultRule, LoadBalancer, Resource, TargetPool, Topology } from '../../providers/local/api';

type Listed = Resource & Record<string, unknown>;

/** The side doors of the local cloud that only the demo uses: counts, faults, changes behind the operator's back. */
export class CloudAdmin {
  constructor(
    private readonly endpoint: string,
    private readonly token: string,
  ) {}

  topology(): Promise<Topology> {
    return this.call('GET', '/_topology');
  }

  async list<T extends Resource = Listed>(collection: string): Promise<T[]> {
    const { items } = await this.call<{ items: T[] }>('GET', `/v1/${collection}?pageSize=1000`);
    return items;
  }

  calls(): Promise<CallCounts> {
    return this.call('GET', '/_calls');
  }

  async resetCalls(): Promise<void> {
    await this.call('DELETE', '/_calls');
  }

  async faults(rules: FaultRule[]): Promise<void> {
    await this.call('PUT', '/_faults', { seed: 1, rules });
  }

  async drift(change: DriftRequest): Promise<void> {
    await this.call('POST', '/_drift', change);
  }

  /** The load balancer of a Service's CloudLoadBalancer, by the owner in its tags. */
  async loadBalancerOf(owner: string): Promise<LoadBalancer | undefined> {
    return (await this.loadBalancersOf(owner))[0];
  }

  async loadBalancersOf(owner: string): Promise<LoadBalancer[]> {
    return (await this.list<LoadBalancer>('loadbalancers')).filter((loadBalancer) => loadBalancer.tags.owner === owner);
  }

  /** Instance ids that take traffic of a load balancer's listener. */
  async targetsOf(loadBalancer: LoadBalancer, listener: string): Promise<string[]> {
    const poolID = loadBalancer.listeners.find(({ name }) => name === listener)?.poolID;
    const pool = (await this.list<TargetPool>('pools')).find(({ id }) => id === poolID);
    return (pool?.targets ?? []).map(({ instanceID }) => instanceID);
  }

  private async call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.endpoint}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'x-caller': 'demo', 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`local cloud: ${method} ${path} → ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}
