import type { OperatorError } from '../../../operator/base/errors';
import type { InstanceLookup, InstanceMetadata, Instances } from '../../../operator/loops/instances';

interface Machine extends InstanceMetadata {
  name: string;
  shutdown: boolean;
}

/** Machines of one provider, `cloud-a`, which are found by providerID or by name. */
export class Fleet implements Instances {
  readonly machines = new Map<string, Machine>();
  /** While set, the cloud answers nothing else. */
  failure: OperatorError | undefined;
  lookups = 0;

  add(name: string, changes: Partial<Machine> = {}): Machine {
    const machine: Machine = {
      name,
      providerID: `fake://${name}`,
      instanceType: 'small',
      zone: 'zone-a',
      region: 'region-a',
      addresses: [{ type: 'InternalIP', address: '192.0.2.11' }],
      additionalLabels: {},
      shutdown: false,
      ...changes,
    };
    this.machines.set(machine.providerID, machine);
    return machine;
  }

  lookup(node: { name: string; providerID?: string }): Promise<InstanceLookup> {
    this.lookups++;
    if (this.failure !== undefined) return Promise.reject(this.failure);
    const machines = [...this.machines.values()];
    const machine = machines.find(({ name, providerID }) =>
      node.providerID === undefined ? name === node.name : providerID === node.providerID,
    );
    if (machine !== undefined) {
      return Promise.resolve({ state: 'Found', provider: 'cloud-a', shutdown: machine.shutdown, metadata: machine });
    }
    if (node.providerID !== undefined)
      return Promise.resolve({ state: 'Missing', provider: 'cloud-a', listedAt: performance.now(), lateMs: 0 });
    return Promise.resolve({ state: 'Unclaimed', message: `no CloudProvider has an instance named ${node.name}` });
  }
}
