import type { IPFamily } from '../../../crds';
import type { Instance, NodeAddress } from '../../provider';
import { nameInID } from '../client/resource-id';
import { familyOf } from '../security-groups/security-rule';
import { providerIDOf } from './provider-id';

/** Azure's own name of the type of machines. */
export const MACHINES = 'Microsoft.Compute/virtualMachines';

/** A machine as the compute API gives it, of a scale set or by itself. */
export interface Machine {
  id: string;
  name: string;
  location: string;
  zones?: string[];
  /** Of a scale set's machine; others have properties.hardwareProfile. */
  sku?: { name?: string };
  properties: {
    hardwareProfile?: { vmSize?: string };
    osProfile?: { computerName?: string };
    networkProfile?: { networkInterfaces?: { id: string }[] };
    provisioningState?: string;
    instanceView?: InstanceView;
  };
}

/** What a machine does at this moment. */
export interface InstanceView {
  platformFaultDomain?: number;
  statuses?: { code?: string }[];
}

/** A network interface of a machine. */
export interface NetworkInterface {
  id: string;
  properties: { virtualMachine?: { id: string }; primary?: boolean; ipConfigurations?: IpConfiguration[] };
}

export interface IpConfiguration {
  properties: { primary?: boolean; privateIPAddress?: string; publicIPAddress?: { id: string } };
}

/** What is beside a machine in other lists. */
export interface MachineParts {
  interfaces: NetworkInterface[];
  /** Absent = the machine's own. */
  instanceView?: InstanceView;
  /** Public addresses by the id of their resource, in lower case. */
  publicAddresses: ReadonlyMap<string, string>;
}

/** Power states that mean shut down, where the machine was provisioned (providers 2.2); `stopping` is none. */
const SHUT_DOWN = ['stopped', 'deallocated', 'deallocating'];

const FAMILIES: readonly IPFamily[] = ['IPv4', 'IPv6'];

/** A machine in the terms of all clouds. Pure. */
export function instanceOf(machine: Machine, { interfaces, instanceView, publicAddresses }: MachineParts): Instance {
  const { id, properties } = machine;
  const view = instanceView ?? properties.instanceView ?? {};
  const names = [properties.osProfile?.computerName, machine.name].filter((name) => name !== undefined).map((name) => name.toLowerCase());
  const region = machine.location.toLowerCase();
  return {
    providerID: providerIDOf(id),
    id: nameInID(id),
    names: [...new Set(names)],
    state: stateOf(view, properties.provisioningState),
    type: machine.sku?.name ?? properties.hardwareProfile?.vmSize ?? '',
    zone: zoneOf(machine, region, view),
    region,
    addresses: addressesOf(names[0] ?? machine.name, interfaces, publicAddresses),
  };
}

/** A machine that is being deleted counts as gone, as upstream has it. */
function stateOf({ statuses = [] }: InstanceView, provisioning = ''): Instance['state'] {
  if (provisioning.toLowerCase() === 'deleting') return 'Terminated';
  const power = statuses.map(({ code = '' }) => /^PowerState\/(.+)$/i.exec(code)?.[1]?.toLowerCase()).find((one) => one !== undefined);
  return power !== undefined && SHUT_DOWN.includes(power) && provisioning.toLowerCase() === 'succeeded' ? 'Stopped' : 'Running';
}

/** `westeurope-1`; where a machine has no zone its fault domain, which upstream writes as a number alone. */
function zoneOf({ zones = [] }: Machine, region: string, { platformFaultDomain = 0 }: InstanceView): string {
  return zones[0] === undefined ? String(platformFaultDomain) : `${region}-${zones[0]}`;
}

/**
 * As upstream: of the main interface, and of each family there the main configuration's. The others are Pods' with Azure CNI (kubernetes/kubernetes#71736).
 * Without any the interface was not found, and nothing is known: what the Node has stays then (contract 3.4), and a hostname alone would take its place.
 */
function addressesOf(name: string, interfaces: NetworkInterface[], publicAddresses: MachineParts['publicAddresses']): NodeAddress[] {
  const main = mainFirst(interfaces).find(({ properties }) => properties.primary !== false);
  const configurations = mainFirst(main?.properties.ipConfigurations ?? []);
  const found = FAMILIES.flatMap((family) => configurations.find((one) => isOf(family, one)) ?? []).flatMap(
    ({ properties }): NodeAddress[] => {
      const { privateIPAddress = '', publicIPAddress } = properties;
      const external = publicIPAddress === undefined ? undefined : publicAddresses.get(publicIPAddress.id.toLowerCase());
      const internal = { type: 'InternalIP' as const, address: privateIPAddress };
      return external === undefined ? [internal] : [internal, { type: 'ExternalIP', address: external }];
    },
  );
  return found.length === 0 ? [] : [{ type: 'Hostname', address: name }, ...found];
}

function isOf(family: IPFamily, { properties: { privateIPAddress } }: IpConfiguration): boolean {
  return privateIPAddress !== undefined && familyOf(privateIPAddress) === family;
}

/** The main one first; the others in the order in which Azure gives them. */
function mainFirst<T extends { properties: { primary?: boolean } }>(all: readonly T[]): T[] {
  return [...all.filter(({ properties }) => properties.primary === true), ...all.filter(({ properties }) => properties.primary !== true)];
}
