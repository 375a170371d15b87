import { CloudRegistry } from '../../../operator/cloud/providers/registry';
import { InstanceDirectory } from '../../../operator/cloud/instances/instance-directory';
import { destinationProblem, policyProblems } from '../../../operator/cloud/providers/policy';
import { stackName } from '../../../operator/cloud/stack/stack-name';
import { StackIndex } from '../../../operator/cloud/stack/stack-index';
import { cloudProviderSpec, type CloudProviderSpec, type NamingList } from '../../../crds';
import type { Cloud, Instance, ProviderModule } from '../../../providers/provider';
import { systemClock } from '../../../operator/base/clock';
import { OperatorError } from '../../../operator/base/errors';
import { FakeClock, settle } from '../kube/fake-clock';
import { fakeRegistry } from './fake-registry';

const spec = (extra: Partial<CloudProviderSpec> = {}): CloudProviderSpec =>
  cloudProviderSpec.parse({ local: { endpoint: 'http://127.0.0.1:1' }, ...extra });

function registryWith(instances: Record<string, () => Promise<Instance[]>> = {}) {
  const connected: string[] = [];
  const module: ProviderModule = {
    kind: 'local',
    providerIDScheme: 'local',
    programVersion: '1',
    compile: () => ({ block: {}, problems: [] }),
    connect: (_spec, { providerName }) => {
      connected.push(providerName);
      const list = instances[providerName];
      return Promise.resolve({
        ...(list === undefined ? {} : { instances: { list } }),
        workerSettings: () => ({}),
        close: () => Promise.resolve(),
      });
    },
  };
  const registry = new CloudRegistry({
    loadModule: () => Promise.resolve(module),
    clusterID: 'c',
    readSecret: () => Promise.resolve(['']),
  });
  return { registry, connected };
}

async function connectedParts(): Promise<{ cloud: Cloud; module: ProviderModule }> {
  const { registry } = registryWith();
  const { cloud, module } = await registry.set('any', spec());
  if (cloud === undefined) throw new Error('the fake cloud is always connected');
  return { cloud, module };
}

const instance = (name: string, extra: Partial<Instance> = {}): Instance => ({
  providerID: `local:///z/${name}`,
  id: name,
  names: [name],
  state: 'Running',
  type: 't',
  zone: 'z',
  region: 'r',
  addresses: [],
  ...extra,
});

describe('CloudRegistry', () => {
  test('fields that the CRDs of the cluster do not know yet have their defaults', async () => {
    const { sweepInterval, ...older } = spec();
    const { registry } = registryWith();
    await registry.set('a', older as CloudProviderSpec);
    expect(registry.get('a')?.spec.sweepInterval).toBe(sweepInterval);
  });

  test('listeners are told of a failure once, and of what changes it: they try again what they hear of', async () => {
    let working = false;
    const { cloud, module } = await connectedParts();
    const failing: ProviderModule = {
      ...module,
      connect: () => (working ? Promise.resolve(cloud) : Promise.reject(new Error('no token'))),
    };
    const registry = new CloudRegistry({
      loadModule: () => Promise.resolve(failing),
      clusterID: 'c',
      readSecret: () => Promise.resolve(['']),
    });
    const told: string[] = [];
    registry.onChange((name) => told.push(name));
    await registry.set('a', spec());
    await registry.set('a', spec());
    await registry.set('a', spec());
    expect(told).toEqual(['a']);
    await registry.set('a', spec({ region: 'x' }));
    expect(told).toEqual(['a', 'a']);
    working = true;
    await registry.set('a', spec({ region: 'x' }));
    expect(told).toEqual(['a', 'a', 'a']);
  });

  test('one that is not connected says why, until it is', async () => {
    let working = false;
    const { cloud, module } = await connectedParts();
    const refused = new OperatorError('Invalid', 'there is no Secret', { reason: 'SecretMissing' });
    const failing: ProviderModule = { ...module, connect: () => (working ? Promise.resolve(cloud) : Promise.reject(refused)) };
    const registry = new CloudRegistry({ loadModule: () => Promise.resolve(failing), readSecret: () => Promise.resolve(['']) });
    expect(registry.whyNotConnected('a')).toBeUndefined();
    await registry.declare('a', spec());
    expect(registry.whyNotConnected('a')).toMatchObject({ code: 'Transient', message: 'its cloud has not answered yet' });
    await registry.set('a', spec());
    expect(registry.whyNotConnected('a')).toBe(refused);
    working = true;
    await registry.set('a', spec());
    expect(registry.whyNotConnected('a')).toBeUndefined();
  });

  test('the cluster’s id that comes while a cloud is being connected holds for it too, with its newest spec', async () => {
    const { module } = await connectedParts();
    const connected: string[] = [];
    const closed: string[] = [];
    let markBegun = (): void => undefined;
    let answer = (): void => undefined;
    const begun = new Promise<void>((resolve) => (markBegun = resolve));
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const slow: ProviderModule = {
      ...module,
      connect: async ({ region }, { clusterID }) => {
        markBegun();
        if (clusterID === '') await answered;
        const connection = `${region} of ${clusterID}`;
        connected.push(connection);
        return { workerSettings: () => ({}), close: () => (closed.push(connection), Promise.resolve()) };
      },
    };
    const registry = new CloudRegistry({ loadModule: () => Promise.resolve(slow), readSecret: () => Promise.resolve(['']) });
    void registry.set('a', spec({ region: 'old' }));
    await begun;
    void registry.set('a', spec({ region: 'new' }));
    const known = registry.know('c');
    answer();
    await known;
    expect([connected, closed]).toEqual([['old of ', 'new of c'], ['old of ']]);
  });

  test('one that is removed while the cluster’s id comes stays away', async () => {
    const { registry } = registryWith();
    await registry.set('a', spec());
    void registry.remove('a');
    await registry.know('c2');
    expect(registry.providers()).toEqual([]);
  });

  test('an equal spec keeps the connection, a changed one makes a new one', async () => {
    const { registry, connected } = registryWith();
    await registry.set('a', spec());
    await registry.set('a', spec());
    await registry.set('a', spec({ region: 'x' }));
    expect(connected).toEqual(['a', 'a']);
  });

  describe('what holds a cloud is in force at once, though its connection does not come', () => {
    /** Connects whoever comes first; all others wait until they are let. */
    async function hanging() {
      const { cloud, module } = await connectedParts();
      let [first, connect] = [true, (): void => undefined];
      const later = new Promise<Cloud>((resolve) => (connect = () => resolve({ ...cloud })));
      const slow: ProviderModule = { ...module, connect: () => (first ? ((first = false), Promise.resolve(cloud)) : later) };
      const loadModule = (): Promise<ProviderModule> => Promise.resolve(slow);
      const registry = new CloudRegistry({ loadModule, clusterID: 'c', readSecret: () => Promise.resolve(['']) });
      const told: string[] = [];
      await registry.set('a', spec());
      registry.onChange((name) => told.push(name));
      return { registry, told, connect };
    }
    const held = (registry: CloudRegistry) => ({ region: 'none', frozen: registry.isFrozen('a'), ...registry.get('a')?.spec });

    test.each<[string, Partial<CloudProviderSpec>, object]>([
      ['freeze', { freeze: true }, { frozen: true, freeze: true }],
      ['managementPolicy', { managementPolicy: 'Observe' }, { frozen: true, managementPolicy: 'Observe' }],
      ['updatePolicy', { updatePolicy: { approval: 'Manual' } }, { updatePolicy: { approval: 'Manual' } }],
      ['driftPolicy', { driftPolicy: 'Report' }, { driftPolicy: 'Report' }],
      ['deletionPolicy', { deletionPolicy: 'Orphan' }, { deletionPolicy: 'Orphan' }],
    ])('%s', async (_lever, lever, expected) => {
      const { registry, told } = await hanging();
      void registry.set('a', spec({ region: 'x', ...lever }));
      expect(held(registry)).toMatchObject({ region: 'none', ...expected });
      expect([registry.get('a')?.cloud === undefined, told]).toEqual([false, ['a']]);
    });

    test('behind one that hangs', async () => {
      const { registry, connect } = await hanging();
      const slow = registry.set('a', spec({ region: 'x' }));
      void registry.set('a', spec({ region: 'y', freeze: true }));
      expect(registry.isFrozen('a')).toBe(true);
      connect();
      await slow;
      expect(registry.isFrozen('a')).toBe(true);
    });

    test('also what is seen of the object while its controller waits for the connection', async () => {
      const { registry, told } = await hanging();
      registry.hold('a', spec({ freeze: true }));
      registry.hold('a', spec({ freeze: true }));
      expect([registry.isFrozen('a'), told]).toEqual([true, ['a']]);
      registry.hold('b', spec({ freeze: true }));
      expect(registry.get('b')).toBeUndefined();
    });

    test('and goes with the connection, also where it is taken back before', async () => {
      const { registry, connect } = await hanging();
      const freezing = registry.set('a', spec({ freeze: true }));
      const again = registry.set('a', spec());
      expect(registry.isFrozen('a')).toBe(true);
      connect();
      await freezing;
      await again;
      expect(registry.isFrozen('a')).toBe(false);
    });
  });

  test('a Service goes to the provider that claims its class, else the annotated one, else the default', async () => {
    const { registry } = registryWith();
    await registry.set('a', spec({ default: true }));
    await registry.set('b', spec({ loadBalancerClasses: ['example.com/b'] }));
    expect(registry.forService({ annotations: {} })).toEqual({ kind: 'Chosen', provider: 'a' });
    expect(registry.forService({ loadBalancerClass: 'example.com/b', annotations: {} })).toEqual({ kind: 'Chosen', provider: 'b' });
    expect(registry.forService({ loadBalancerClass: 'cloud-operator.dev/a', annotations: {} })).toEqual({ kind: 'Chosen', provider: 'a' });
    expect(registry.forService({ loadBalancerClass: 'example.com/other', annotations: {} })).toEqual({ kind: 'Foreign' });
    expect(registry.forService({ loadBalancerClass: 'cloud-operator.dev/aa', annotations: {} })).toMatchObject({
      reason: 'ClassNotClaimed',
      message: expect.stringContaining('claimed are cloud-operator.dev/a, example.com/b') as string,
    });
    expect(registry.forService({ annotations: { 'cloud-operator.dev/provider': 'b' } })).toEqual({ kind: 'Chosen', provider: 'b' });
    expect(registry.forService({ annotations: { 'cloud-operator.dev/provider': 'no' } })).toMatchObject({ reason: 'ProviderNotFound' });
  });

  test('one that is being deleted is no default, and takes nothing new', async () => {
    const { registry } = registryWith();
    await registry.set('a', spec({ default: true }));
    await registry.set('b', spec({ default: true, loadBalancerClasses: ['example.com/b'] }));
    registry.retire('b');
    expect(registry.forService({ annotations: {} })).toEqual({ kind: 'Chosen', provider: 'a' });
    expect(registry.forService({ loadBalancerClass: 'example.com/b', annotations: {} })).toEqual({ kind: 'Foreign', leaving: 'b' });
    expect(registry.rivalriesOf('a')).toEqual([]);
  });

  test('of one that is being deleted it is said that it is, and not that there is none', async () => {
    const { registry } = registryWith();
    await registry.set('a', spec({ default: true }));
    await registry.set('b', spec());
    registry.retire('a');
    const asking: { loadBalancerClass?: string; annotations: Record<string, string> }[] = [
      { annotations: {} },
      { annotations: { 'cloud-operator.dev/provider': 'a' } },
      { annotations: {}, loadBalancerClass: 'cloud-operator.dev/a' },
    ];
    for (const service of asking) {
      expect(registry.forService(service)).toMatchObject({
        reason: 'ProviderDeleting',
        message: expect.stringMatching(/^CloudProvider "a" is being deleted and takes no new Service/) as string,
        leaving: 'a',
      });
    }
    await registry.remove('a');
    expect(registry.forService({ annotations: {} })).toMatchObject({ reason: 'NoDefaultProvider' });
  });

  test('a class that two claim is said on both, and nobody takes the Service', async () => {
    const { registry } = registryWith();
    await registry.set('a', spec());
    await registry.set('b', spec({ loadBalancerClasses: ['cloud-operator.dev/a'] }));
    expect(registry.forService({ loadBalancerClass: 'cloud-operator.dev/a', annotations: {} })).toMatchObject({
      kind: 'Unavailable',
      reason: 'ClassClaimedTwice',
    });
    for (const name of ['a', 'b']) expect(registry.rivalriesOf(name)).toEqual([expect.stringContaining('"cloud-operator.dev/a" (a, b)')]);
  });

  test('no default, or two of them, is said plainly', async () => {
    const { registry } = registryWith();
    expect(registry.forService({ annotations: {} })).toMatchObject({ reason: 'NoDefaultProvider' });
    await registry.set('a', spec({ default: true }));
    await registry.set('b', spec({ default: true }));
    expect(registry.forService({ annotations: {} })).toMatchObject({
      kind: 'Unavailable',
      message: expect.stringContaining('a, b') as string,
    });
  });
});

describe('InstanceDirectory', () => {
  test('many lookups within the age share one listing', async () => {
    let calls = 0;
    const { registry } = registryWith({ a: () => Promise.resolve(((calls += 1), [instance('n1'), instance('n2')])) });
    await registry.set('a', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    const found = await Promise.all(['n1', 'n2', 'n3'].map((name) => directory.lookup({ name, labels: {} }, 60_000)));
    expect(found.map(({ state }) => state)).toEqual(['Found', 'Found', 'Unclaimed']);
    expect(calls).toBe(1);
  });

  test('the owner by providerID says Missing; a failure is never taken for Missing', async () => {
    const { registry } = registryWith({ a: () => Promise.resolve([]) });
    await registry.set('a', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    expect(await directory.lookup({ name: 'n1', providerID: 'local:///z/gone', labels: {} }, 0)).toMatchObject({
      state: 'Missing',
      provider: 'a',
    });
    const broken = registryWith({ a: () => Promise.reject(new Error('login page')) });
    await broken.registry.set('a', spec());
    await expect(
      new InstanceDirectory(broken.registry, systemClock).lookup({ name: 'n1', providerID: 'local:///z/x', labels: {} }, 0),
    ).rejects.toThrow('login page');
  });

  test('a failed listing answers for everybody who asks a moment later', async () => {
    let calls = 0;
    const { registry } = registryWith({ a: () => Promise.reject(new Error(`failure ${(calls += 1)}`)) });
    await registry.set('a', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    for (const name of ['n1', 'n2', 'n3']) await expect(directory.lookup({ name, labels: {} }, 0)).rejects.toThrow('failure 1');
    expect(calls).toBe(1);
    expect(directory.problem('a')?.message).toBe('failure 1');
  });

  test('a cloud that fails holds up no Node that another one has', async () => {
    const { registry } = registryWith({ a: () => Promise.resolve([instance('n1')]), b: () => Promise.reject(new Error('refused')) });
    await registry.set('a', spec());
    await registry.set('b', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    expect(await directory.lookup({ name: 'n1', labels: {} }, 0)).toMatchObject({ state: 'Found', provider: 'a' });
    await expect(directory.lookup({ name: 'n2', labels: {} }, 0)).rejects.toThrow('refused');
    const others = { name: 'n3', providerID: instance('n3').providerID, labels: {} };
    await expect(directory.lookup(others, 0)).rejects.toThrow('refused');
    expect([registry.owners.of(others), registry.owners.candidates(others)]).toEqual(['Undecided', ['b']]);
    const known = { name: 'n1', providerID: instance('n1').providerID, labels: {} };
    expect(await directory.lookup(known, 0)).toMatchObject({ state: 'Found', provider: 'a' });
    expect(registry.forNode(known)).toBe('a');
  });

  test('a listing of before the machine was there does not deny it: another cloud that has it is asked anew', async () => {
    const machines: Instance[] = [];
    const listing = (): Promise<Instance[]> => Promise.resolve([...machines]);
    const { registry } = registryWith({ a: listing, b: listing });
    await registry.set('a', spec());
    await registry.set('b', spec());
    const clock = new FakeClock();
    const directory = new InstanceDirectory(registry, clock);
    directory.ask('b');
    await settle();
    await clock.advance(500);
    machines.push(instance('n1'));
    expect((await directory.lookup({ name: 'n1', labels: {} }, 1_000)).state).toBe('Ambiguous');
  });

  test('nobody says that a machine is gone that one may have which is not connected', async () => {
    const { registry } = registryWith({ a: () => Promise.resolve([]) });
    await registry.set('a', spec());
    await registry.declare('b', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    const node = { name: 'n1', providerID: instance('n1').providerID, labels: {} };
    await expect(directory.lookup(node, 0)).rejects.toThrow('"b" is not connected yet');
    expect(registry.owners.candidates(node)).toEqual(['b']);
    // Where nothing is gone, there is somebody to be told.
    expect((await directory.lookup({ name: 'n2', labels: {} }, 0)).state).toBe('Unclaimed');
  });

  test('a listing is its connection’s: a corrected setting counts at once, also for a listing that is under way', async () => {
    let [right, begin] = [false, (): void => undefined];
    const old = new Promise<void>((resolve) => (begin = resolve));
    const list = async (): Promise<Instance[]> => {
      if (right) return [instance('n1')];
      await old;
      return [];
    };
    const { registry } = registryWith({ a: list });
    await registry.set('a', spec({ region: 'wrong' }));
    const told: string[] = [];
    const directory = new InstanceDirectory(registry, systemClock, (provider) => told.push(provider));
    const look = () => directory.lookup({ name: 'n1', providerID: instance('n1').providerID, labels: {} }, 60_000);
    const early = look();
    right = true;
    await registry.set('a', spec({ region: 'right' }));
    begin();
    expect(await early).toMatchObject({ state: 'Found' });
    right = false;
    await registry.set('a', spec({ region: 'wrong' }));
    expect(await look()).toMatchObject({ state: 'Missing' });
    right = true;
    await registry.set('a', spec({ region: 'right' }));
    expect([(await look()).state, directory.hasAnswered('a'), told]).toEqual(['Found', true, ['a', 'a', 'a']]);
  });

  test('two claims are Ambiguous, a foreign scheme is Unclaimed, a terminated instance does not claim by name', async () => {
    const { registry } = registryWith({
      a: () => Promise.resolve([instance('n1'), instance('n2', { state: 'Terminated' })]),
      b: () => Promise.resolve([instance('n1')]),
    });
    await registry.set('a', spec());
    await registry.set('b', spec());
    const directory = new InstanceDirectory(registry, systemClock);
    expect((await directory.lookup({ name: 'n1', labels: {} }, 0)).state).toBe('Ambiguous');
    expect((await directory.lookup({ name: 'n2', labels: {} }, 0)).state).toBe('Unclaimed');
    expect((await directory.lookup({ name: 'n1', providerID: 'aws:///z/i-1', labels: {} }, 0)).state).toBe('Unclaimed');
  });
});

describe('InstanceDirectory of a cloud whose listing does not give every machine', () => {
  const identify = (providerID: string): string | undefined => /i-\d+$/.exec(providerID)?.[0];
  let listed: Instance[];
  let others: Instance[];
  let calls: string[];
  let clock: FakeClock;
  let directory: InstanceDirectory;

  beforeEach(async () => {
    [listed, others, calls, clock] = [[], [], [], new FakeClock()];
    const registry = fakeRegistry({
      instances: {
        identify,
        list: () => (calls.push('list'), Promise.resolve(listed)),
        named: (providerIDs) => {
          calls.push(`named ${providerIDs.join(' ')}`);
          return Promise.resolve(others.filter(({ providerID }) => providerIDs.some((named) => identify(named) === identify(providerID))));
        },
      },
    });
    await registry.set('a', cloudProviderSpec.parse({ custom: { kind: 'fake' } }));
    directory = new InstanceDirectory(registry, clock);
  });

  const look = (providerID: string, maxAgeMs = 60_000) => directory.lookup({ name: 'n', providerID, labels: {} }, maxAgeMs);
  const machine = (providerID: string): Instance => instance('n1', { providerID });

  test('every form of a providerID finds its machine, in one listing', async () => {
    listed = [machine('fake:///zone/i-1')];
    for (const form of ['fake:///zone/i-1', 'fake:////i-1', 'fake://i-1']) expect((await look(form)).state).toBe('Found');
    expect(calls).toEqual(['list']);
  });

  test('a machine that the listing does not give is asked for by name before it counts as gone, and from then on with every listing', async () => {
    others = [machine('fake:///zone/i-2')];
    expect((await look('fake:///zone/i-2')).state).toBe('Found');
    expect(calls).toEqual(['list', 'list', 'named fake:///zone/i-2']);
    expect((await look('fake:///zone/i-2')).state).toBe('Found');
    await clock.advance(100_000);
    expect((await look('fake:///zone/i-2')).state).toBe('Found');
    expect(calls.slice(3)).toEqual(['list', 'named fake:///zone/i-2']);
    others = [];
    await clock.advance(100_000);
    expect((await look('fake:///zone/i-2')).state).toBe('Missing');
    await clock.advance(1_000_000);
    expect((await look('fake:///zone/i-1')).state).toBe('Missing');
    expect(calls.at(-1)).toBe('named fake:///zone/i-1');
  });

  test('machines that are asked for at the same time share the calls', async () => {
    others = [machine('fake:///zone/i-2'), machine('fake:///zone/i-3')];
    const found = await Promise.all(['i-2', 'i-3', 'i-4'].map((id) => look(`fake:///zone/${id}`)));
    expect(found.map(({ state }) => state)).toEqual(['Found', 'Found', 'Missing']);
    expect(calls.slice(3)).toEqual(['list', 'named fake:///zone/i-2 fake:///zone/i-3 fake:///zone/i-4']);
  });

  test('of what the cloud can’t know nobody says that it is gone', async () => {
    expect(await look('fake:///elsewhere')).toMatchObject({
      state: 'Unclaimed',
      message: expect.stringContaining('fake:///elsewhere') as string,
    });
    expect(calls).toEqual([]);
  });
});

describe('InstanceDirectory of a cloud with machines in several places', () => {
  const group = (providerID: string): string | undefined => /^fake:\/\/\/(\w+)\//.exec(providerID)?.[1];
  let calls: string[];
  let clock: FakeClock;
  let restMs: number;
  let isBroken: boolean;
  let directory: InstanceDirectory;

  beforeEach(async () => {
    [calls, clock, restMs, isBroken] = [[], new FakeClock(), 0, false];
    const machines: Record<string, Instance[]> = {
      main: [instance('n1', { providerID: 'fake:///main/i-1' })],
      other: [instance('n2', { providerID: 'fake:///other/i-2' })],
    };
    const registry = fakeRegistry({
      instances: {
        lateMs: 5_000,
        restMs: (place) => (place === undefined ? restMs : 4 * restMs),
        unmanaged: ({ managed }) => (managed === 'no' ? 'somebody else has it' : undefined),
        placeOf: ({ providerID = '', labels }) => [group(providerID) ?? labels['group']].find((one) => one !== undefined && one !== 'main'),
        list: (place = 'main') => {
          calls.push(place);
          return place === 'other' && isBroken ? Promise.reject(new Error('not allowed')) : Promise.resolve(machines[place] ?? []);
        },
      },
    });
    await registry.set('a', cloudProviderSpec.parse({ custom: { kind: 'fake' }, nodeSelector: { cloud: 'a' } }));
    directory = new InstanceDirectory(registry, clock);
  });

  const look = (name: string, providerID?: string, labels: Record<string, string> = {}) =>
    directory.lookup({ name, labels: { cloud: 'a', ...labels }, ...(providerID !== undefined && { providerID }) }, 0);

  test('a Node of another place is found there, by its providerID or its label', async () => {
    expect(await look('n2', 'fake:///other/i-2')).toMatchObject({ state: 'Found' });
    expect(await look('n2', undefined, { group: 'other' })).toMatchObject({
      state: 'Found',
      metadata: { providerID: 'fake:///other/i-2' },
    });
    expect(await look('n3', 'fake:///other/i-3')).toMatchObject({ state: 'Missing', lateMs: 5_000 });
    expect(calls).toEqual(['other']);
  });

  test('a place that can’t be read holds up its own Nodes only', async () => {
    isBroken = true;
    await expect(look('n2', 'fake:///other/i-2')).rejects.toThrow('not allowed');
    expect(await look('n1', 'fake:///main/i-1')).toMatchObject({ state: 'Found' });
    expect(directory.problem('a')).toBeUndefined();
    isBroken = false;
    await clock.advance(1_000);
    expect(await look('n2', 'fake:///other/i-2')).toMatchObject({ state: 'Found' });
  });

  test('a place that can’t be read is asked no more often than one that can', async () => {
    [isBroken, restMs] = [true, 1_000];
    for (let pass = 0; pass < 5; pass++) {
      await expect(look('n2', 'fake:///other/i-2')).rejects.toThrow('not allowed');
      await clock.advance(1_000);
    }
    expect(calls).toEqual(['other', 'other']);
  });

  test('a Node that is no machine of the cloud is let alone, and costs no call', async () => {
    expect(await look('n9', 'fake:///main/i-9', { managed: 'no' })).toEqual({ state: 'Unmanaged', message: 'somebody else has it' });
    expect(await look('n9', undefined, { managed: 'no' })).toMatchObject({ state: 'Unmanaged' });
    expect(calls).toEqual([]);
  });

  test('a listing is good for as long as the cloud needs between two', async () => {
    restMs = 20_000;
    for (let pass = 0; pass < 4; pass++) {
      await look('n1', 'fake:///main/i-1');
      await clock.advance(5_000);
    }
    expect(calls).toEqual(['main']);
    await clock.advance(1);
    await look('n1', 'fake:///main/i-1');
    expect(calls).toEqual(['main', 'main']);
  });

  test('that of each place as long as it says of that', async () => {
    restMs = 5_000;
    for (let pass = 0; pass < 3; pass++) {
      await look('n1', 'fake:///main/i-1');
      await look('n2', 'fake:///other/i-2');
      await clock.advance(6_000);
    }
    expect(calls).toEqual(['main', 'other', 'main', 'main']);
  });
});

describe('policy', () => {
  const subject = { namespace: 'demo', spec: { scheme: 'Public' as const }, named: [] };
  test('absent policy allows everything but foreign placements', () => {
    expect(policyProblems(undefined, subject)).toEqual([]);
    expect(policyProblems(undefined, { ...subject, spec: { scheme: 'Public', placement: { name: 'x' } } })).toEqual([]);
    expect(
      policyProblems(undefined, { ...subject, spec: { scheme: 'Public', placement: { name: 'x', namespace: 'other' } } }),
    ).toHaveLength(1);
  });
  test('namespaces, schemes and sharing are enforced with the field named', () => {
    const policy = { namespaces: ['prod'], schemes: ['Internal' as const], sharing: 'None' as const };
    const problems = policyProblems(policy, { ...subject, spec: { scheme: 'Public', placement: { name: 'x' } } });
    expect(problems.map(({ field }) => field)).toEqual(['metadata.namespace', 'spec.scheme', 'spec.placement']);
  });
  test('Namespaces shares with the named ones', () => {
    const policy = { sharing: 'Namespaces' as const, sharingNamespaces: ['demo'] };
    const placed = (namespace: string) => ({
      ...{ namespace, named: [] },
      spec: { scheme: 'Public' as const, placement: { name: 'x', namespace: 'home' } },
    });
    expect(policyProblems(policy, placed('demo'))).toEqual([]);
    expect(policyProblems(policy, placed('evil'))).toHaveLength(1);
  });

  test.each<[patterns: string[], value: string, allowed: boolean]>([
    [['subnet-0a'], 'subnet-0a', true],
    [['subnet-0a'], 'subnet-0ab', false],
    [['subnet-0a', 'team-*'], 'team-b-public', true],
    [['team-*'], 'other-team-', false],
    [['*'], 'anything', true],
    [['*'], '', true],
    [['*-public-*'], 'eu-public-1', true],
    [['*-public-*'], 'eu-public', false],
    [['a*a'], 'a', false],
    [['a*a'], 'aa', true],
    [['a*b*b'], 'ab', false],
    [['a*b*b'], 'a.b.b', true],
    [['arn:aws:acm:*:1111:certificate/*'], 'arn:aws:acm:eu-west-1:1111:certificate/1', true],
    [['arn:aws:acm:*:1111:certificate/*'], 'arn:aws:acm:eu-west-1:2222:certificate/1', false],
    [['team.'], 'teams', false],
    [[], 'subnet-0a', false],
  ])('of %j, "%s" is allowed: %s; as reserved keys of tags the other way round', (patterns, value, allowed) => {
    const problemsOf = (list: NamingList) =>
      policyProblems({ sharing: 'None', [list]: patterns }, { ...subject, named: [{ list, field: 'spec.aws.x', value }] });
    expect(problemsOf('subnets')).toHaveLength(allowed ? 0 : 1);
    expect(problemsOf('reservedTagKeys')).toHaveLength(allowed ? 1 : 0);
  });

  test.each<[destination: string, clusterCIDRs: string[], allowed: boolean]>([
    ['10.99.0.0/24', [], true],
    ['10.244.7.0/24', ['10.244.0.0/16'], true],
    ['10.244.0.0/16', ['10.244.0.0/16'], true],
    ['10.0.0.0/8', ['10.244.0.0/16'], false],
    ['0.0.0.0/0', ['10.244.0.0/16'], false],
    ['10.99.0.0/24', ['10.244.0.0/16'], false],
    ['fd00:1::/64', ['10.244.0.0/16'], false],
    ['fd00:1::/64', ['10.244.0.0/16', 'fd00::/16'], true],
  ])('a route to %s in a cluster of %j: allowed %s', (destination, clusterCIDRs, allowed) => {
    expect(destinationProblem(destination, clusterCIDRs)).toEqual(
      allowed ? undefined : expect.objectContaining({ severity: 'Error', field: 'spec.destinationCIDR', value: destination }),
    );
  });

  test('what is named and not allowed is said with its field, and what is', () => {
    const named = [
      { list: 'certificates' as const, field: 'spec.aws.tls.certificateARNs', value: 'arn:1' },
      { list: 'reservedTagKeys' as const, field: 'spec.aws.tags', value: 'cost-center' },
    ];
    const policy = { sharing: 'None' as const, certificates: ['arn:2', 'arn:3*'], reservedTagKeys: ['cost-*'] };
    expect(policyProblems(policy, { ...subject, named }).map(({ field, message }) => [field, message])).toEqual([
      [
        'spec.aws.tls.certificateARNs',
        expect.stringContaining('"arn:1" is not allowed by the CloudProvider\'s policy (allowed are arn:2, arn:3*)'),
      ],
      ['spec.aws.tags', expect.stringContaining('"cost-center" is not allowed by the CloudProvider\'s policy (reserved are cost-*)')],
    ]);
    expect(policyProblems(undefined, { ...subject, named })).toEqual([]);
  });
});

describe('stack names and index', () => {
  test('readable, unique, and short enough for Kubernetes and Pulumi', () => {
    const name = stackName('lb', `${'n'.repeat(63)}/${'s'.repeat(63)}`, ['p', 'x']);
    expect(name).toMatch(/^lb-[a-z0-9-]+-[0-9a-f]{10}$/);
    expect(name.length).toBeLessThanOrEqual(100);
    expect(stackName('lb', 'demo/web', ['p', 'x'])).not.toBe(stackName('lb', 'demo/web', ['p', 'y']));
  });
  test('an object is in one stack at a time, and a move touches both', () => {
    const index = new StackIndex();
    expect(index.assign('a', 's1')).toEqual(['s1']);
    expect(index.assign('a', 's2')).toEqual(['s1', 's2']);
    expect(index.keys('s1')).toEqual([]);
    expect([index.formersIn('s1'), index.formersOf('a'), index.stacks()]).toEqual([['a'], ['s1'], ['s1', 's2']]);
    index.release('a', 's1');
    expect(index.stacks()).toEqual(['s2']);
    expect(index.forget('a')).toEqual(['s2']);
    expect(index.stacks()).toEqual([]);
  });

  test('what records name is a former stack only until the object asks for it', () => {
    const index = new StackIndex();
    index.remember('a', 's1');
    index.remember('a', 's2');
    expect(index.assign('a', 's2')).toEqual(['s2']);
    expect(index.formersOf('a')).toEqual(['s1']);
    index.remember('a', 's2');
    expect(index.formersOf('a')).toEqual(['s1']);
    expect(index.assign('a', 's1')).toEqual(['s2', 's1']);
    expect(index.formersOf('a')).toEqual(['s2']);
    expect(index.forget('a')).toEqual(['s1', 's2']);
    expect(index.has('s1') || index.has('s2')).toBe(false);
  });
});
