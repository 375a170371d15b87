import type { Instance, Instances } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { instanceOf, type NetworkInterface } from './machine';
import { type MachineLists, MachineReads } from './machine-lists';
import { machineIn } from './provider-id';

/** Which machines are looked at. */
export interface MachineScope {
  subscriptionID: string;
  /** The cluster's, and those of other Nodes. */
  resourceGroups: readonly string[];
}

/** Machines of a cluster's resource groups: by themselves, in availability sets, in flexible and in uniform scale sets. */
export class AzureInstances implements Instances {
  private readonly reads: MachineReads;

  constructor(
    arm: ArmClient,
    private readonly scope: MachineScope,
  ) {
    this.reads = new MachineReads(arm, scope.subscriptionID);
  }

  async list(): Promise<Instance[]> {
    const lists = await Promise.all(this.scope.resourceGroups.map((name) => this.reads.of(name)));
    return lists.flatMap(described);
  }

  identify(providerID: string): string | undefined {
    return machineIn(providerID, this.scope.resourceGroups);
  }
}

/** Pure. */
function described({ machines, interfaces, views, publicAddresses }: MachineLists): Instance[] {
  const byMachine = new Map<string, NetworkInterface[]>();
  for (const one of interfaces) {
    const machine = one.properties.virtualMachine?.id.toLowerCase();
    if (machine !== undefined) byMachine.set(machine, [...(byMachine.get(machine) ?? []), one]);
  }
  return machines.map((machine) => {
    const id = machine.id.toLowerCase();
    const instanceView = views.get(id);
    const parts = { interfaces: byMachine.get(id) ?? [], publicAddresses, ...(instanceView !== undefined && { instanceView }) };
    return instanceOf(machine, parts);
  });
}
