import { type ErrorCode, OperatorError } from '../../../operator/base/errors';
import type { ArmClient } from '../client/arm-client';
import { parseResourceID, sameID } from '../client/resource-id';
import { type Machine, MACHINES, type NetworkInterface } from './machine';
import type { MachineStates } from './machine-states';

const INTERFACES = 'Microsoft.Network/networkInterfaces';
const PUBLIC_ADDRESSES = 'Microsoft.Network/publicIPAddresses';
const SETS = 'Microsoft.Compute/virtualMachineScaleSets';
/** How a resource group is refused that the operator may not read, or that is gone. */
const SILENT: readonly ErrorCode[] = ['Credentials', 'NotFound', 'Invalid'];
const IN_SET = { query: { $expand: 'instanceView' } };

interface ScaleSet {
  id: string;
  properties: { orchestrationMode?: string };
}

interface PublicAddress {
  id: string;
  properties: { ipAddress?: string };
}

/** Everything that machines are described by. */
export interface MachineLists {
  machines: Machine[];
  interfaces: NetworkInterface[];
  /** Of machines that belong to no uniform scale set, by their ids in lower case. */
  views: MachineStates;
  /** By their ids in lower case. */
  publicAddresses: Map<string, string>;
}

/**
 * Reads machines in lists, never one by one: so many as there are uniform scale sets, the states of all others, and four for each resource group; of other
 * groups that interfaces or public addresses are in, one or two. A list that fails fails all, but for those groups.
 */
export class MachineReads {
  /** How many reads it took so far, without those of what machines do. */
  pages = 0;

  constructor(
    private readonly arm: ArmClient,
    private readonly subscription: string,
    /** What these machines do, by their ids in lower case. */
    private readonly statesOf: (ids: readonly string[]) => Promise<MachineStates>,
    /** Whose machines are read. What belongs to these may be in others of the subscription. */
    private readonly resourceGroups: readonly string[],
  ) {}

  async read(): Promise<MachineLists> {
    const { resourceGroups } = this;
    const [alone, sets] = await Promise.all([
      this.inGroups<Machine>(resourceGroups, MACHINES),
      this.inGroups<ScaleSet>(resourceGroups, SETS),
    ]);
    const elsewhere = groupsOf(interfacesOf(alone)).filter((group) => !this.isOwn(group));
    // Machines of flexible sets are listed as all others.
    const uniform = sets.filter(({ properties }) => properties.orchestrationMode !== 'Flexible').map(({ id }) => id);
    const [views, interfaces, ...inSets] = await Promise.all([
      this.views(alone),
      this.inGroups<NetworkInterface>([...resourceGroups, ...elsewhere], INTERFACES),
      ...uniform.map((id) => this.inSet(id)),
    ]);
    const machines = [...alone, ...inSets.flatMap((set) => set.machines)];
    const ids = new Set(machines.map(({ id }) => id.toLowerCase()));
    // A group of the network's may have those of many others, which have public addresses wherever they like.
    const own = [...interfaces, ...inSets.flatMap((set) => set.interfaces)].filter(({ properties }) =>
      ids.has(properties.virtualMachine?.id.toLowerCase() ?? ''),
    );
    return { machines, interfaces: own, views, publicAddresses: await this.publicAddresses(own, uniform) };
  }

  private async inGroups<T>(groups: readonly string[], type: string): Promise<T[]> {
    return (await Promise.all(groups.map((group) => this.inGroup<T>(group, type)))).flat();
  }

  /** Another group that may not be read, or is gone, holds up nobody: a Node whose machine's interface is there keeps the addresses that it has. */
  private inGroup<T>(group: string, type: string): Promise<T[]> {
    const found = this.list<T>(`/subscriptions/${this.subscription}/resourceGroups/${group}/providers/${type}`, type);
    if (this.isOwn(group)) return found;
    return found.catch((thrown: unknown) => {
      if (thrown instanceof OperatorError && SILENT.includes(thrown.code)) return [];
      throw thrown;
    });
  }

  private isOwn(group: string): boolean {
    return this.resourceGroups.some((one) => sameID(one, group));
  }

  /** What is refused is a call too. */
  private list<T>(path: string, type: string, options: { query?: Record<string, string> } = {}): Promise<T[]> {
    return this.arm.list<T>(path, type, { ...options, onPage: () => this.pages++ }).catch((thrown: unknown) => {
      this.pages++;
      throw thrown;
    });
  }

  private async inSet(id: string): Promise<{ machines: Machine[]; interfaces: NetworkInterface[] }> {
    const [machines, interfaces] = await Promise.all([
      this.list<Machine>(`${id}/virtualMachines`, `${SETS}/virtualMachines`, IN_SET),
      this.list<NetworkInterface>(`${id}/networkInterfaces`, `${SETS}/networkInterfaces`),
    ]);
    return { machines, interfaces };
  }

  /** Of machines by themselves a list gives either what they are or what they do. */
  private views(machines: readonly Machine[]): Promise<MachineStates> {
    return machines.length === 0 ? Promise.resolve(new Map()) : this.statesOf(machines.map(({ id }) => id.toLowerCase()));
  }

  /** Nothing is asked where no machine has one. */
  private async publicAddresses(interfaces: NetworkInterface[], uniform: string[]): Promise<Map<string, string>> {
    const named = interfaces.flatMap(({ properties }) =>
      (properties.ipConfigurations ?? []).flatMap((one) => one.properties.publicIPAddress?.id.toLowerCase() ?? []),
    );
    const isOf = (set: string, id: string): boolean => id.startsWith(`${set.toLowerCase()}/`);
    const sets = uniform.filter((set) => named.some((id) => isOf(set, id)));
    const alone = named.filter((id) => !uniform.some((set) => isOf(set, id)));
    const lists = await Promise.all([
      this.inGroups<PublicAddress>(groupsOf(alone), PUBLIC_ADDRESSES),
      ...sets.map((set) => this.list<PublicAddress>(`${set}/publicIPAddresses`, `${SETS}/publicIPAddresses`)),
    ]);
    return new Map(
      lists.flat().flatMap(({ id, properties }) => (properties.ipAddress === undefined ? [] : [[id.toLowerCase(), properties.ipAddress]])),
    );
  }
}

/** The interfaces that machines name. */
function interfacesOf(machines: readonly Machine[]): string[] {
  return machines.flatMap(({ properties }) => properties.networkProfile?.networkInterfaces ?? []).map(({ id }) => id);
}

/** The resource groups in which resources are, each once. */
function groupsOf(ids: readonly string[]): string[] {
  return [...new Set(ids.map((id) => parseResourceID(id).resourceGroup.toLowerCase()))];
}
