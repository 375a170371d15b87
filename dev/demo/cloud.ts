import type { Collection, DriftRequest, FaultRule, LoadBalancer, Resource } from '../../providers/local/api';
import { LocalCloudClient, type ResourceCollection, type Resources } from '../../providers/local/client';
import { LocalCloudAdmin } from '../../providers/local/cloud/admin-client';

/** The local cloud as the demo sees it: what is in it, and its side doors. */
export class DemoCloud {
  readonly admin: LocalCloudAdmin;
  private readonly client: LocalCloudClient;

  constructor(endpoint: string, token: string) {
    this.admin = new LocalCloudAdmin(endpoint, token);
    this.client = new LocalCloudClient({ endpoint, token: () => Promise.resolve(token), caller: 'demo' });
  }

  list<C extends ResourceCollection>(collection: C): Promise<Resources[C][]> {
    return this.client.list(collection);
  }

  /** How many there are of each. */
  async count(...collections: (ResourceCollection & Collection)[]): Promise<number> {
    const lists = await Promise.all(collections.map((collection) => this.list(collection) as Promise<Resource[]>));
    return lists.reduce((sum, list) => sum + list.length, 0);
  }

  async faults(rules: FaultRule[]): Promise<void> {
    await this.admin.setFaults({ seed: 1, rules });
  }

  async drift(change: DriftRequest): Promise<void> {
    await this.admin.drift(change);
  }

  /** The load balancers that were made for an object, by the owner in their tags. */
  async loadBalancersOf(owner: string): Promise<LoadBalancer[]> {
    return (await this.list('loadbalancers')).filter((loadBalancer) => loadBalancer.tags.owner === owner);
  }

  /** @throws when there is none, or more than one */
  async loadBalancerOf(owner: string): Promise<LoadBalancer> {
    const [found, ...more] = await this.loadBalancersOf(owner);
    if (found === undefined || more.length > 0)
      throw new Error(`the cloud has ${found === undefined ? 'no' : more.length + 1} load balancer for ${owner}`);
    return found;
  }

  /** The listener of an owner on a load balancer that several share. @throws when there is none */
  async listenerOf(owner: string): Promise<{ loadBalancer: LoadBalancer; listener: string }> {
    for (const loadBalancer of await this.list('loadbalancers')) {
      const found = loadBalancer.listeners.find((listener) => listener.owner === owner);
      if (found !== undefined) return { loadBalancer, listener: found.name };
    }
    throw new Error(`no load balancer has a listener of ${owner}`);
  }

  /** Ids of the instances that take traffic of a listener. */
  async targetsOf(loadBalancer: LoadBalancer, listener: string): Promise<string[]> {
    const poolID = loadBalancer.listeners.find(({ name }) => name === listener)?.poolID;
    const pool = (await this.list('pools')).find(({ id }) => id === poolID);
    return (pool?.targets ?? []).map(({ instanceID }) => instanceID);
  }

  async close(): Promise<void> {
    await Promise.all([this.client.close(), this.admin.close()]);
  }
}
