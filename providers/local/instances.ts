import { OperatorError } from '../../operator/base/errors';
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
    if (this.clusterID === '') return unmistakable(all).map(describe);
    return all.filter(({ tags }) => (tags.clusterID ?? this.clusterID) === this.clusterID).map(describe);
  }
}

/**
 * While this cluster's id is not known, only the name tells whose a machine is.
 * @throws OperatorError where that is not enough: who isn't listed would be taken for gone
 */
function unmistakable(all: CloudInstance[]): CloudInstance[] {
  const twice = all.find(({ name }, index) => all.findIndex((other) => other.name === name) !== index);
  if (twice === undefined) return all;
  throw new OperatorError(
    'Credentials',
    `two machines are named ${twice.name}, and this cluster's id, which tells them apart, can't be read`,
  );
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
