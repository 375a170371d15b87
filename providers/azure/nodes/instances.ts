import type { Instance, Instances, NodePlace } from '../../provider';
import type { ArmClient } from '../client/arm-client';
import { ArmError } from '../client/arm-error';
import { sameID } from '../client/resource-id';
import { instanceOf, type NetworkInterface } from './machine';
import { type MachineLists, MachineReads } from './machine-lists';
import { type MachineStates, StateReads } from './machine-states';
import { machineIn } from './provider-id';

/** Which machines are looked at. */
export interface MachineScope {
  subscriptionID: string;
  /** Where the settings say that the cluster's machines are. */
  resourceGroups: readonly string[];
}

/** Upstream's labels of Nodes. */
const MANAGED_LABEL = 'kubernetes.azure.com/managed';
const GROUP_LABEL = 'kubernetes.azure.com/resource-group';

/** A quarter of the 12,000 reads an hour that a subscription has. */
const MS_PER_READ = (4 * 3_600_000) / 12_000;
/** A resource group that no Node has named for so long is not listed any more. */
const PLACE_KEPT_MS = 15 * 60_000;
/** Lists of Azure's lag behind what was made (kubernetes-sigs/cloud-provider-azure#10604). */
const LATE_MS = 5 * 60_000;

/**
 * Machines of a cluster's resource groups: by themselves, in availability sets, in flexible and in uniform scale sets. Nodes of other groups of the
 * subscription say by their providerID or label in which one they are, as upstream has it.
 */
export class AzureInstances implements Instances {
  readonly lateMs = LATE_MS;
  private readonly states: StateReads;
  /** Calls of the newest listing without a place. */
  private pages = 0;
  /** The newest listing of each other resource group, and when that was: monotonic, milliseconds. */
  private readonly elsewhere = new Map<string, { reads: MachineReads; at: number }>();

  constructor(
    private readonly arm: ArmClient,
    private readonly scope: MachineScope,
  ) {
    this.states = new StateReads(arm, scope.subscriptionID);
  }

  /** @param place a resource group; one that is gone has no machines */
  async list(place?: string): Promise<Instance[]> {
    if (place !== undefined) return this.listElsewhere(place);
    const { subscriptionID, resourceGroups } = this.scope;
    const reads = new MachineReads(this.arm, subscriptionID, () => this.states.take(), resourceGroups);
    const lists = await reads.read();
    this.pages = reads.pages;
    return described(lists);
  }

  identify(providerID: string): string | undefined {
    return machineIn(providerID, this.scope.subscriptionID)?.id;
  }

  placeOf({ providerID = '', labels }: NodePlace): string | undefined {
    const group = providerID === '' ? labels[GROUP_LABEL] : machineIn(providerID, this.scope.subscriptionID)?.resourceGroup;
    const isElsewhere = group !== undefined && !this.scope.resourceGroups.some((one) => sameID(one, group));
    return isElsewhere ? group.toLowerCase() : undefined;
  }

  unmanaged(labels: Readonly<Record<string, string>>): string | undefined {
    if (labels[MANAGED_LABEL]?.toLowerCase() !== 'false') return undefined;
    return `its label ${MANAGED_LABEL}=false says that it is no machine of Azure's`;
  }

  /** Where there are other groups, they have one half together, so that Nodes of the cluster's own do not wait for them. */
  restMs(place?: string): number {
    const elsewhere = this.pagesElsewhere();
    const pages = (place === undefined ? this.pages : elsewhere) + this.states.pages;
    return pages * MS_PER_READ * (elsewhere === 0 ? 1 : 2);
  }

  private async listElsewhere(place: string): Promise<Instance[]> {
    const statesOf = (ids: readonly string[]): Promise<MachineStates> => this.states.share(this.restMs(place), ids);
    const reads = new MachineReads(this.arm, this.scope.subscriptionID, statesOf, [place]);
    try {
      return described(await reads.read());
    } catch (thrown) {
      if (thrown instanceof ArmError && thrown.armCode === 'ResourceGroupNotFound') return [];
      throw thrown;
    } finally {
      this.elsewhere.set(place, { reads, at: this.now() });
    }
  }

  private pagesElsewhere(): number {
    const sum = (): number => [...this.elsewhere.values()].reduce((total, { reads }) => total + reads.pages, 0);
    const keptMs = Math.max(PLACE_KEPT_MS, 4 * sum() * MS_PER_READ);
    for (const [place, { at }] of this.elsewhere) if (this.now() - at > keptMs) this.elsewhere.delete(place);
    return sum();
  }

  private now(): number {
    return this.arm.retryPolicy.clock.monotonic();
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
