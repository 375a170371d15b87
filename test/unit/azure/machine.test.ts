import { instanceOf, type Machine, type MachineParts } from '../../../providers/azure/nodes/machine';
import { machineIn, providerIDOf } from '../../../providers/azure/nodes/provider-id';

const BELOW = '/subscriptions/s/resourceGroups/Cluster/providers/Microsoft.Compute';
const ALONE = `${BELOW}/virtualMachines/Node-1`;
const IN_SET = `${BELOW}/virtualMachineScaleSets/pool/virtualMachines/3`;

const machine: Machine = {
  id: ALONE,
  name: 'Node-1',
  location: 'WestEurope',
  zones: ['2'],
  properties: { hardwareProfile: { vmSize: 'Standard_D2s_v5' }, osProfile: { computerName: 'node-1' }, provisioningState: 'Succeeded' },
};
const parts: MachineParts = { interfaces: [], publicAddresses: new Map() };
const power = (state: string): MachineParts => ({
  ...parts,
  instanceView: { statuses: [{ code: 'ProvisioningState/succeeded' }, { code: `PowerState/${state}` }] },
});

describe('a machine of Azure', () => {
  test('in the terms of all clouds', () => {
    expect(instanceOf(machine, parts)).toEqual({
      providerID: 'azure:///subscriptions/s/resourceGroups/cluster/providers/Microsoft.Compute/virtualMachines/Node-1',
      id: 'Node-1',
      names: ['node-1'],
      state: 'Running',
      type: 'Standard_D2s_v5',
      zone: 'westeurope-2',
      region: 'westeurope',
      addresses: [],
    });
  });

  test('of a uniform scale set: its own name, and the set’s size', () => {
    const inSet: Machine = {
      ...machine,
      id: IN_SET,
      name: 'pool_3',
      sku: { name: 'Standard_D4s_v5' },
      properties: { osProfile: { computerName: 'pool000003' } },
    };
    expect(instanceOf(inSet, parts)).toMatchObject({ names: ['pool000003', 'pool_3'], type: 'Standard_D4s_v5', id: '3' });
  });

  test.each([
    ['stopped', 'Succeeded', 'Stopped'],
    ['deallocated', 'Succeeded', 'Stopped'],
    ['deallocating', 'Succeeded', 'Stopped'],
    ['stopping', 'Succeeded', 'Running'],
    ['running', 'Succeeded', 'Running'],
    ['starting', 'Succeeded', 'Running'],
    ['stopped', 'Updating', 'Running'],
    ['deallocated', 'Failed', 'Running'],
    ['running', 'Deleting', 'Terminated'],
    ['deallocated', 'deleting', 'Terminated'],
  ])('power state %s, %s: %s', (state, provisioningState, expected) => {
    const properties = { ...machine.properties, provisioningState };
    expect(instanceOf({ ...machine, properties }, power(state)).state).toBe(expected);
  });

  test.each([
    [{ zones: ['1'] }, 3, 'westeurope-1'],
    [{ zones: [] }, 3, '3'],
    [{}, undefined, '0'],
  ])('zones %j, fault domain %s: %s', (fields, platformFaultDomain, zone) => {
    const { id, name, location, properties } = machine;
    const instanceView = platformFaultDomain === undefined ? {} : { platformFaultDomain };
    expect(instanceOf({ id, name, location, properties, ...fields }, { ...parts, instanceView }).zone).toBe(zone);
  });

  describe('addresses are the main interface’s', () => {
    const publicID = (name: string): string =>
      `/subscriptions/s/resourceGroups/Cluster/providers/Microsoft.Network/publicIPAddresses/${name}`;
    const publicAddresses = new Map(['a', 'b', 'c'].map((name, index) => [publicID(name).toLowerCase(), `20.1.0.${index + 1}`]));
    const at = (privateIPAddress: string, more: object = {}) => ({ properties: { privateIPAddress, ...more } });
    const known = (name: string): object => ({ publicIPAddress: { id: publicID(name) } });
    const isMain = { primary: true };
    const second = { id: 'b', properties: { primary: false, ipConfigurations: [at('10.0.1.4', { ...isMain, ...known('c') })] } };
    const main = (...ipConfigurations: ReturnType<typeof at>[]) => ({ id: 'a', properties: { ...isMain, ipConfigurations } });

    test.each<[string, MachineParts['interfaces'], [string, string][]]>([
      [
        'of each family the main configuration’s, with its public one; the others are Pods’',
        [second, main(at('fd00::4'), at('10.0.0.5', known('b')), at('10.0.0.4', { ...isMain, ...known('a') }), at('fd00::5'))],
        [
          ['InternalIP', '10.0.0.4'],
          ['ExternalIP', '20.1.0.1'],
          ['InternalIP', 'fd00::4'],
        ],
      ],
      ['the first one’s where none is said to be the main one', [main(at('10.0.0.4'), at('10.0.0.5'))], [['InternalIP', '10.0.0.4']]],
      [
        'which the only one is where nothing is said',
        [{ id: 'a', properties: { ipConfigurations: [at('10.0.0.4')] } }],
        [['InternalIP', '10.0.0.4']],
      ],
      ['and nobody knows them where that one is not found', [second], []],
      ['or has none yet', [main()], []],
    ])('%s', (_name, interfaces, expected) => {
      const addresses = expected.map(([type, address]) => ({ type, address }));
      const hostname = expected.length === 0 ? [] : [{ type: 'Hostname', address: 'node-1' }];
      expect(instanceOf(machine, { interfaces, publicAddresses }).addresses).toEqual([...hostname, ...addresses]);
    });
  });
});

describe('a providerID of Azure', () => {
  test('has the resource group in lower case, and the rest as it is', () => {
    expect(providerIDOf(IN_SET)).toBe(
      'azure:///subscriptions/s/resourceGroups/cluster/providers/Microsoft.Compute/virtualMachineScaleSets/pool/virtualMachines/3',
    );
  });

  test.each([
    [`azure://${ALONE}`, ALONE.toLowerCase()],
    [`azure://${IN_SET}`, IN_SET.toLowerCase()],
    [`azure://${ALONE.replace('Cluster', 'OTHER')}`, ALONE.replace('Cluster', 'other').toLowerCase()],
    [`azure://${ALONE.replace('/subscriptions/s/', '/subscriptions/foreign/')}`, undefined],
    ['azure:///subscriptions/s/resourceGroups/cluster/providers/Microsoft.Network/virtualMachines/n', undefined],
    ['aws:///eu-west-1a/i-0a1b', undefined],
    ['', undefined],
  ])('%s names %s', (providerID, machineID) => {
    expect(machineIn(providerID, 'S')?.id).toBe(machineID);
  });
});
