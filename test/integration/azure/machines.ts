import type { ArmServer } from '../../harness/arm/arm-server';
import { computeID, GROUP, LOCATION, networkID } from '../../harness/arm/scene';

/** A machine by itself that runs, with one interface. @returns its id */
export function seedMachine({ cloud }: ArmServer, { name, address }: { name: string; address: string }, group: string = GROUP): string {
  const inGroup = (id: string): string => id.replace(`/${GROUP}/`, `/${group}/`);
  const id = inGroup(computeID('virtualMachines', name));
  const instanceView = { statuses: [{ code: 'PowerState/running' }] };
  cloud.seed(id, {
    location: LOCATION,
    zones: ['1'],
    properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, osProfile: { computerName: name }, instanceView },
  });
  const subnet = { id: networkID('virtualNetworks', 'net', 'subnets', 'nodes') };
  const ipConfigurations = [{ name: 'one', properties: { primary: true, privateIPAddress: address, subnet } }];
  const properties = { virtualMachine: { id }, primary: true, ipConfigurations };
  cloud.seed(inGroup(networkID('networkInterfaces', name)), { location: LOCATION, properties });
  return id;
}
