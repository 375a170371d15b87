import type { Instance, Instances, NodeAddress } from '../provider';
import type { Instance as CloudInstance } from './api';
import type { LocalCloudClient } from './client';

const STATES = { running: 'Running', stopped: 'Stopped', terminated: 'Terminated' } as const;

/** Machines that could be Nodes of one cluster: those tagged with it, and those that nobody has claimed by a tag. */
export class LocalInstances implements Instances {
  constructor(
    private readonly client: LocalCloudClient,
    private readonly clusterID: string,
  ) {}

  async list(): Promise<Instance[]> {
    const all = await this.client.list('instances');
    return all.filter(({ tags }) => (tags.clusterID ?? this.clusterID) === this.clusterID).map(describe);
  }
}

function describe({ id, name, providerID, power, type, zone, region, addresses }: CloudInstance): Instance {
  const internal = addresses.map(({ ip }): NodeAddress => ({ type: 'InternalIP', address: ip }));
  return {
    id,
    providerID,
    names: [name],
    state: STATES[power],
    type,
    zone,
    region,
    addresses: [...internal, { type: 'Hostname', address: name }],
  };
}
