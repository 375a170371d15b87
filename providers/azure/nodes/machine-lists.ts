import type { ArmClient } from '../client/arm-client';
import { type Machine, MACHINES, type NetworkInterface } from './machine';
import type { MachineStates } from './machine-states';

const NETWORK = 'Microsoft.Network';
const SETS = 'Microsoft.Compute/virtualMachineScaleSets';
const IN_SET = { query: { $expand: 'instanceView' } };

interface ScaleSet {
  id: string;
  properties: { orchestrationMode?: string };
}

interface PublicAddress {
  id: string;
  properties: { ipAddress?: string };
}

/** Everything that machines are described by, of one resource group. */
export interface MachineLists {
  machines: Machine[];
  interfaces: NetworkInterface[];
  /** Of machines that belong to no uniform scale set, by their ids in lower case. */
  views: MachineStates;
  /** By their ids in lower case. */
  publicAddresses: Map<string, string>;
}

/** Reads machines in lists, never one by one: so many as there are uniform scale sets, and four more. A list that fails fails all. */
export class MachineReads {
  /** How many reads it took so far, without those of what machines do. */
  pages = 0;

  constructor(
    private readonly arm: ArmClient,
    private readonly subscription: string,
    /** What these machines do, by their ids in lower case. */
    private readonly statesOf: (ids: readonly string[]) => Promise<MachineStates>,
  ) {}

  async of(resourceGroup: string): Promise<MachineLists> {
    const group = `/subscriptions/${this.subscription}/resourceGroups/${resourceGroup}/providers`;
    const [alone, sets, interfaces] = await Promise.all([
      this.list<Machine>(`${group}/${MACHINES}`, MACHINES),
      this.list<ScaleSet>(`${group}/${SETS}`, SETS),
      this.list<NetworkInterface>(`${group}/${NETWORK}/networkInterfaces`, `${NETWORK}/networkInterfaces`),
    ]);
    // Machines of flexible sets are listed as all others.
    const uniform = sets.filter(({ properties }) => properties.orchestrationMode !== 'Flexible').map(({ id }) => id);
    const [views, ...inSets] = await Promise.all([this.views(alone), ...uniform.map((id) => this.inSet(id))]);
    const all = [...interfaces, ...inSets.flatMap((set) => set.interfaces)];
    return {
      machines: [...alone, ...inSets.flatMap((set) => set.machines)],
      interfaces: all,
      views,
      publicAddresses: await this.publicAddresses(group, all, uniform),
    };
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
  private async publicAddresses(group: string, interfaces: NetworkInterface[], uniform: string[]): Promise<Map<string, string>> {
    const named = interfaces.flatMap(({ properties }) =>
      (properties.ipConfigurations ?? []).flatMap((one) => one.properties.publicIPAddress?.id.toLowerCase() ?? []),
    );
    const sets = uniform.filter((id) => named.some((one) => one.startsWith(`${id.toLowerCase()}/`)));
    const isAlone = named.some((one) => !uniform.some((id) => one.startsWith(`${id.toLowerCase()}/`)));
    const lists = await Promise.all([
      ...(isAlone ? [this.list<PublicAddress>(`${group}/${NETWORK}/publicIPAddresses`, `${NETWORK}/publicIPAddresses`)] : []),
      ...sets.map((id) => this.list<PublicAddress>(`${id}/publicIPAddresses`, `${SETS}/publicIPAddresses`)),
    ]);
    return new Map(
      lists.flat().flatMap(({ id, properties }) => (properties.ipAddress === undefined ? [] : [[id.toLowerCase(), properties.ipAddress]])),
    );
  }
}
