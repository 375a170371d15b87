import type { ArmClient } from '../../../providers/azure/client/arm-client';
import { AzureInstances } from '../../../providers/azure/nodes/instances';
import type { ArmServer } from '../../harness/arm/arm-server';
import { clientOf, computeID, GROUP, LOCATION, networkID, startScene, SUBSCRIPTION } from '../../harness/arm/scene';
import { waitFor } from '../../harness/wait-for';
import { FakeClock } from '../../unit/kube/fake-clock';

const MS_PER_READ = (4 * 3_600_000) / 12_000;
const STATES = `/subscriptions/${SUBSCRIPTION}/providers/Microsoft.Compute/virtualMachines`;
const running = { statuses: [{ code: 'PowerState/running' }] };

describe('AzureInstances', () => {
  let server: ArmServer;
  let client: ArmClient;
  let instances: AzureInstances;

  beforeAll(async () => {
    server = await startScene({ pageSize: 3, resourceGroups: [GROUP, 'other', 'third'] });
    client = clientOf(server);
    instances = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP] });
    const { cloud } = server;
    for (const number of [1, 2, 3, 4]) alone(computeID('virtualMachines', `vm-${number}`), `vm-${number}`, `10.0.0.${number}`);
    alone(computeID('virtualMachines', 'elsewhere').replace('/cluster/', '/other/'), 'elsewhere', '10.9.0.1');
    alone(computeID('virtualMachines', 'far').replace('/cluster/', '/third/'), 'far', '10.9.1.1');
    cloud.seed(computeID('virtualMachineScaleSets', 'flex'), { location: LOCATION, properties: { orchestrationMode: 'Flexible' } });
    cloud.seed(computeID('virtualMachineScaleSets', 'pool'), { location: LOCATION, properties: { orchestrationMode: 'Uniform' } });
    for (const number of [0, 1]) inSet(number);
    inFlexibleSet();
  });

  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  test('are those of the group, by themselves and in scale sets, with states and addresses', async () => {
    const found = await instances.list();
    expect(found.map(({ names, state, addresses }) => [names[0], state, addresses.map(({ address }) => address).slice(1)])).toEqual([
      ['vm-1', 'Running', ['10.0.0.1']],
      ['vm-2', 'Running', ['10.0.0.2']],
      ['vm-3', 'Running', ['10.0.0.3']],
      ['vm-4', 'Stopped', ['10.0.0.4']],
      ['flex0a1b2', 'Running', ['10.0.0.50']],
      ['pool000000', 'Running', ['10.0.0.100', '20.9.0.1']],
      ['pool000001', 'Running', ['10.0.0.101']],
    ]);
  });

  test('each is found again by its providerID', async () => {
    const found = await instances.list();
    expect(new Set(found.map(({ providerID }) => instances.identify(providerID))).size).toBe(7);
    expect(found.every(({ providerID }) => instances.identify(providerID) !== undefined)).toBe(true);
  });

  test('one of a flexible scale set is listed as all others, by its own id; where it is in no zone its fault domain says where', async () => {
    server.calls.length = 0;
    const [flexible] = (await instances.list()).filter(({ names }) => names.includes('flex_0a1b2'));
    expect(flexible).toEqual({
      providerID: `azure://${computeID('virtualMachines', 'flex_0a1b2')}`,
      id: 'flex_0a1b2',
      names: ['flex0a1b2', 'flex_0a1b2'],
      state: 'Running',
      type: 'Standard_D2s_v5',
      zone: '2',
      region: LOCATION,
      addresses: [
        { type: 'Hostname', address: 'flex0a1b2' },
        { type: 'InternalIP', address: '10.0.0.50' },
      ],
    });
    // Azure has no list of the machines in such a set.
    expect(server.calls.filter(({ path }) => path.includes('/virtualMachineScaleSets/flex/'))).toEqual([]);
    server.cloud.tamper(computeID('virtualMachines', 'flex_0a1b2'), ({ properties }) => {
      properties.instanceView = { platformFaultDomain: 2, statuses: [{ code: 'PowerState/deallocated' }] };
    });
    expect((await instances.list()).find(({ id }) => id === 'flex_0a1b2')).toMatchObject({ state: 'Stopped', zone: '2' });
    server.cloud.tamper(computeID('virtualMachines', 'flex_0a1b2'), ({ properties }) => {
      properties.instanceView = { platformFaultDomain: 2, ...running };
    });
  });

  test('are read in lists: more machines cost more pages, and no call each', async () => {
    server.calls.length = 0;
    await instances.list();
    expect(server.calls.every(({ verb }) => verb === 'list')).toBe(true);
    const paths = new Set(server.calls.map(({ path }) => path));
    // machines, sets, interfaces, states of machines; of the uniform set its machines, interfaces and addresses
    expect(paths.size).toBe(7);
  });

  test('of several groups, where the settings name them', async () => {
    const both = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP, 'other'] });
    server.calls.length = 0;
    const [elsewhere] = (await both.list()).filter(({ names }) => names[0] === 'elsewhere');
    expect(readings()).toBe(1);
    expect(both.restMs()).toBe(server.calls.length * MS_PER_READ);
    expect(both.placeOf({ providerID: elsewhere?.providerID ?? '', labels: {} })).toBeUndefined();
  });

  describe('whose interface is in another resource group', () => {
    const inOther = (id: string): string => id.replace('/cluster/', '/other/');
    const id = computeID('virtualMachines', 'apart');
    const addressesIn = async (some: AzureInstances): Promise<string[]> => {
      const found = await some.list();
      expect(found.find(({ names }) => names[0] === 'vm-1')?.addresses).toHaveLength(2);
      return found.find(({ names }) => names[0] === 'apart')!.addresses.map(({ address }) => address);
    };

    beforeAll(() => {
      const publicIPAddress = { id: inOther(networkID('publicIPAddresses', 'apart')) };
      const networkInterfaces = [{ id: inOther(networkID('networkInterfaces', 'apart-nic')) }];
      const properties = { osProfile: { computerName: 'apart' }, networkProfile: { networkInterfaces }, instanceView: running };
      server.cloud.seed(id, { location: LOCATION, zones: ['1'], properties });
      const ipConfigurations = [{ name: 'one', properties: { primary: true, privateIPAddress: '10.9.2.1', publicIPAddress } }];
      const nic = { primary: true, virtualMachine: { id }, ipConfigurations };
      server.cloud.seed(networkInterfaces[0]!.id, { location: LOCATION, properties: nic });
      server.cloud.seed(publicIPAddress.id, { location: LOCATION, properties: { ipAddress: '20.9.2.1' } });
    });

    afterAll(() => {
      server.unreadable.clear();
      for (const gone of [id, inOther(networkID('networkInterfaces', 'apart-nic')), inOther(networkID('publicIPAddresses', 'apart'))]) {
        server.cloud.vanish(gone);
      }
    });

    test.each([
      ['of one that the settings name too', [GROUP, 'other']],
      ['of one that the machine alone names', [GROUP]],
    ])('have its addresses, %s', async (_which, resourceGroups) => {
      const some = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups });
      server.calls.length = 0;
      expect(await addressesIn(some)).toEqual(['apart', '10.9.2.1', '20.9.2.1']);
      expect(server.calls.every(({ verb }) => verb === 'list')).toBe(true);
      expect(some.restMs()).toBe(server.calls.length * MS_PER_READ);
    });

    test('nothing is said of the addresses where that group can’t be read, and the others have theirs', async () => {
      server.unreadable.add('other');
      expect(await addressesIn(instances)).toEqual([]);
      const both = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP, 'other'] });
      await expect(both.list()).rejects.toMatchObject({ code: 'Credentials' });
    });
  });

  test('of a group that only Nodes name, by their providerID or upstream’s label', async () => {
    const providerID = `azure://${computeID('virtualMachines', 'elsewhere').replace('/cluster/', '/Other/')}`;
    const labels = { 'kubernetes.azure.com/resource-group': 'OTHER' };
    expect([instances.placeOf({ providerID, labels: {} }), instances.placeOf({ labels })]).toEqual(['other', 'other']);
    expect(instances.placeOf({ labels: { 'kubernetes.azure.com/resource-group': GROUP.toUpperCase() } })).toBeUndefined();
    const found = await instances.list('other');
    expect(found.map(({ names }) => names[0])).toEqual(['elsewhere']);
    expect(instances.identify(found[0]?.providerID ?? '')).toBe(instances.identify(providerID));
  });

  test('with a group that is gone its machines are; one that can’t be read says nothing of them', async () => {
    expect(await instances.list('gone')).toEqual([]);
    const some = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP] });
    server.failsLists = true;
    await expect(some.list('other')).rejects.toMatchObject({ code: 'Credentials' });
    server.failsLists = false;
    const isCounted = (): boolean => some.restMs('other') === 2 * 2 * MS_PER_READ;
    await waitFor(isCounted, { timeoutMs: 5_000, what: 'what was refused to count as read' });
  });

  test('Nodes that upstream calls unmanaged are let alone', () => {
    expect(instances.unmanaged({ 'kubernetes.azure.com/managed': 'False' })).toMatch(/no machine of Azure's/);
    expect(instances.unmanaged({ 'kubernetes.azure.com/managed': 'true' })).toBeUndefined();
    expect(instances.unmanaged({})).toBeUndefined();
  });

  test('a listing rests so long that all of them together take a quarter of the subscription’s reads', async () => {
    const own = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP] });
    server.calls.length = 0;
    await own.list();
    expect(own.restMs()).toBe(server.calls.length * MS_PER_READ);
  });

  test('what machines do is read once for all groups that only Nodes name; those have half of the quarter together, as long as they are named', async () => {
    const clock = new FakeClock();
    const timed = clientOf(server, { clock });
    const some = new AzureInstances(timed, { subscriptionID: SUBSCRIPTION, resourceGroups: [GROUP] });
    server.calls.length = 0;
    const both = () => Promise.all([some.list('other'), some.list('third')]);
    expect((await both()).flat().map(({ names, state }) => [names[0], state])).toEqual([
      ['elsewhere', 'Running'],
      ['far', 'Running'],
    ]);
    expect(readings()).toBe(1);
    const elsewhere = server.calls.length;
    expect(some.restMs('other')).toBe(elsewhere * 2 * MS_PER_READ);
    server.calls.length = 0;
    await some.list();
    expect(readings()).toBe(1);
    expect(some.restMs()).toBe(server.calls.length * 2 * MS_PER_READ);
    await clock.advance(some.restMs('other'));
    server.calls.length = 0;
    await both();
    expect(readings()).toBe(0);
    await clock.advance(1);
    await both();
    expect(readings()).toBe(1);

    alone(computeID('virtualMachines', 'young').replace('/cluster/', '/third/'), 'young', '10.9.1.2');
    server.calls.length = 0;
    await some.list('third');
    expect(readings()).toBe(1);
    server.cloud.vanish(computeID('virtualMachines', 'young').replace('/cluster/', '/third/'));
    await clock.advance(15 * 60_000 + 1);
    server.calls.length = 0;
    await some.list();
    expect(some.restMs()).toBe(server.calls.length * MS_PER_READ);
    await timed.close();
  });

  test('a list that fails is an error, never a short list', async () => {
    server.failsLists = true;
    await expect(instances.list()).rejects.toMatchObject({ code: 'Credentials' });
    server.failsLists = false;
    const gone = new AzureInstances(client, { subscriptionID: SUBSCRIPTION, resourceGroups: ['gone'] });
    await expect(gone.list()).rejects.toMatchObject({ code: 'Invalid' });
  });

  /** How often what machines do was read, in as many pages as there are. */
  function readings(): number {
    const all = server.calls.filter(({ path }) => path === STATES).length;
    return all / Math.ceil(server.cloud.all().filter(({ type }) => type === 'Microsoft.Compute/virtualMachines').length / 3);
  }

  function alone(id: string, name: string, privateIPAddress: string): void {
    const instanceView = name === 'vm-4' ? { statuses: [{ code: 'PowerState/deallocated' }] } : running;
    const properties = { provisioningState: 'Succeeded', osProfile: { computerName: name }, instanceView };
    server.cloud.seed(id, { location: LOCATION, zones: ['1'], properties });
    const group = ['/other/', '/third/'].find((one) => id.includes(one)) ?? '/cluster/';
    const ipConfigurations = [{ name: 'one', properties: { primary: true, privateIPAddress } }];
    const nic = networkID('networkInterfaces', `${name}-nic`).replace('/cluster/', group);
    server.cloud.seed(nic, {
      location: LOCATION,
      properties: { primary: true, virtualMachine: { id: id.toUpperCase() }, ipConfigurations },
    });
  }

  /** As Azure has it: a machine by its own id, which names its set, spread over fault domains. */
  function inFlexibleSet(): void {
    const id = computeID('virtualMachines', 'flex_0a1b2');
    const properties = {
      provisioningState: 'Succeeded',
      hardwareProfile: { vmSize: 'Standard_D2s_v5' },
      osProfile: { computerName: 'flex0a1b2' },
      virtualMachineScaleSet: { id: computeID('virtualMachineScaleSets', 'flex') },
      platformFaultDomain: 2,
      instanceView: { platformFaultDomain: 2, ...running },
    };
    server.cloud.seed(id, { location: LOCATION, properties });
    const ipConfigurations = [{ name: 'one', properties: { primary: true, privateIPAddress: '10.0.0.50' } }];
    const nic = { primary: true, virtualMachine: { id }, ipConfigurations };
    server.cloud.seed(networkID('networkInterfaces', 'flex_0a1b2-nic'), { location: LOCATION, properties: nic });
  }

  function inSet(number: number): void {
    const id = computeID('virtualMachineScaleSets', 'pool', 'virtualMachines', String(number));
    const properties = { osProfile: { computerName: `pool00000${number}` }, instanceView: running };
    server.cloud.seed(id, { location: LOCATION, properties });
    const address = `${id}/networkInterfaces/nic/ipConfigurations/one/publicIPAddresses/p`;
    const publicIPAddress = number === 0 ? { publicIPAddress: { id: address } } : {};
    const ipConfigurations = [{ name: 'one', properties: { primary: true, privateIPAddress: `10.0.0.10${number}`, ...publicIPAddress } }];
    server.cloud.seed(`${id}/networkInterfaces/nic`, { properties: { primary: true, virtualMachine: { id }, ipConfigurations } });
    if (number === 0) server.cloud.seed(address, { properties: { ipAddress: '20.9.0.1' } });
  }
});
