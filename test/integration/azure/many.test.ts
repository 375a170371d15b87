import type { JsonObject } from '../../../operator/base/json';
import type { StackRecord } from '../../../operator/updates/state/stack-record';
import { azureProvider } from '../../../providers/azure';
import { TAG } from '../../../providers/azure/tags';
import { type Part, partsIn } from '../../harness/arm/resource';
import { LOCATION, networkID } from '../../harness/arm/scene';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { addressOf, serviceOf } from '../operator/scene';
import { older, rewriteState, stateStore, withProperties } from '../operator/stored-state';
import { AzureScene, SECURITY_GROUP } from './operator-scene';
import { bodiesOf, letsIn, partsWritten, serves } from './written';

const BALANCER = networkID('loadBalancers', 'kubernetes');
const PREFIX = 'service.beta.kubernetes.io/azure-';
/** Of the public load balancer, as Azure takes for a write of it. */
const OPERATION_MS = 1_000;
const MINUTE = 60_000;

describe('one load balancer of Azure for many Services', () => {
  let azure: AzureScene;

  beforeAll(async () => {
    azure = await AzureScene.start(
      { operationMs: OPERATION_MS },
      { azureJson: { tags: 'service=billing,team=net,k8s-azure-service=mine' }, flags: ['--concurrent-service-syncs=10'] },
    );
    await azure.addNode();
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => azure.stop());
  afterEach(async () => {
    azure.arm.meanwhile = undefined;
    azure.arm.cloud.operations.takesMs = OPERATION_MS;
    const services = (await azure.cluster.kubectl(['get', 'services', '-o', 'name']))
      .split('\n')
      .filter((name) => !/kubernetes$/.test(name));
    const names = services.filter(Boolean).map((name) => name.replace('service/', ''));
    if (names.length > 0) await azure.scene.deleteServices(...names);
    await azure.scene.until('nothing to be left', () =>
      Promise.resolve(azure.balancer() === undefined && azure.publicAddresses().length === 0),
    );
  }, 2 * MINUTE);

  const apply = (names: string[], options: Parameters<typeof serviceOf>[1] = {}): Promise<unknown> =>
    Promise.all(names.map((name) => azure.cluster.apply(serviceOf(name, options))));
  const ready = (...names: string[]): Promise<unknown> => Promise.all(names.map((name) => azure.scene.ready(name, { timeoutMs: MINUTE })));
  /** A Service is told of its address after its load balancer is Ready. */
  const addressesOf = (names: string[]): Promise<string[]> =>
    Promise.all(names.map((name) => azure.scene.until(`an address of ${name}`, async () => addressOf(await azure.scene.service(name)))));
  /** Calls from here on are those of a new operator. */
  const restarted = async (): Promise<void> => {
    await azure.cluster.stopOperator();
    azure.forgetCalls();
    await azure.cluster.startOperator();
    await azure.scene.settled(3_000);
  };
  /** The same, where an earlier one had made the stack with an older program. */
  const restartedAfter = async (change: (record: StackRecord) => StackRecord): Promise<void> => {
    await azure.cluster.stopOperator();
    await rewriteState(azure.scene, 'up-0', (record) => change(older(record)));
    azure.forgetCalls();
    await azure.cluster.startOperator();
  };
  const isOfToday = async (service = 'up-0'): Promise<boolean> => {
    const stored = await stateStore(azure.cluster).read((await azure.scene.stackOf(service)).metadata.name);
    return stored?.record.programVersion === azureProvider.programVersion;
  };
  /** Which of the cloud's plugins made what the state of a Service's stack has. */
  const pluginsOf = async (service: string): Promise<string[]> => {
    const stored = await stateStore(azure.cluster).read((await azure.scene.stackOf(service)).metadata.name);
    const all = JSON.stringify(stored?.record.checkpoint).matchAll(/providers:azure-native::(default\w*)/g);
    return [...new Set([...all].map(([, name = '']) => name))];
  };
  /** Names of the frontends in each write of the public load balancer that Azure has taken. */
  const frontendsWritten = (): string[][] =>
    bodiesOf(azure.arm.calls, BALANCER).map((body) => partsWritten(body, 'frontendIPConfigurations').map(({ name }) => name));
  /** Each write of the load balancer takes so long, and before one of what is there somebody else writes it. */
  const slowAndRaced = (takesMs: number): void => {
    const { cloud } = azure.arm;
    let raced = false;
    azure.arm.meanwhile = ({ method, path }) => {
      const isWrite = method === 'PUT' && path === BALANCER;
      cloud.operations.takesMs = isWrite ? takesMs : 0;
      if (raced || !isWrite || azure.balancer() === undefined) return;
      raced = true;
      cloud.tamper(BALANCER, (resource) => void (resource.tags = { ...resource.tags, theirs: 'too' }));
    };
  };

  test(
    'R-34: Services that come and go at the same time, and a killed operator, are few writes; no living one loses its frontend',
    async () => {
      const names = Array.from({ length: 10 }, (_, index) => `burst-${index}`);
      azure.forgetCalls();
      slowAndRaced(3_000);
      await apply(names);
      await azure.scene.until('the first write', () => Promise.resolve(frontendsWritten().length > 0), MINUTE);
      await azure.cluster.kubectl(['delete', 'service', '--wait=false', 'burst-0', 'burst-1']);
      await apply(['burst-10', 'burst-11']);
      await azure.cluster.killOperator();
      await azure.cluster.startOperator();
      const living = [...names.slice(2), 'burst-10', 'burst-11'];
      await ready(...living);
      await azure.scene.until('those that went to be gone', async () => (await azure.scene.loadBalancer('burst-0')) === undefined, MINUTE);
      const addresses = await addressesOf(living);
      expect(new Set(addresses).size).toBe(living.length);
      expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(living.length);
      expect(azure.publicAddresses()).toHaveLength(living.length);
      const uids = await Promise.all(
        living.map(async (name) => (await azure.scene.service(name))?.metadata.uid.replaceAll('-', '').slice(0, 31)),
      );
      // Each is told of the address of its own frontend, from which its own rule leads.
      const bases = uids.map((uid) => `a${uid}`);
      expect(bases.map((base) => addressAt(azure, base))).toEqual(addresses);
      const rules = partsIn(azure.balancer(), 'loadBalancingRules').map(
        ({ name, properties }) => `${name} ${nameIn(properties.frontendIPConfiguration)} ${String(properties.frontendPort as number)}`,
      );
      expect(rules.sort()).toEqual(bases.map((base) => `${base}-TCP-80 ${base} 80`).sort());
      const writes = frontendsWritten();
      for (const uid of uids) {
        const having = writes.map((all) => all.includes(`a${uid}`));
        expect(having.indexOf(false, having.indexOf(true))).toBe(-1);
      }
      expect(writes.length).toBeLessThanOrEqual(4);
      // Who is refused for what somebody else has written reads it again, and writes over nothing of theirs.
      expect(azure.arm.calls.some(({ method, path, status }) => method === 'PUT' && path === BALANCER && status === 412)).toBe(true);
      expect(azure.balancer()?.tags).toMatchObject({ theirs: 'too' });
      const balancerCalls = azure.arm.calls.filter(({ method, path }) => method !== 'GET' && /loadBalancers/.test(path));
      expect([...new Set(balancerCalls.map(({ method, path }) => `${method} ${path}`))]).toEqual([`PUT ${BALANCER}`]);
      expect(azure.arm.cloud.all().flatMap(({ type, name }) => (/loadBalancers$/.test(type) ? [name] : []))).toEqual(['kubernetes']);
    },
    4 * MINUTE,
  );

  test(
    'R-48: one more, one less and one that changes are updates in place, which leave the others as they are; a restart writes nothing',
    async () => {
      const names = ['s1', 's2', 's3', 's4', 's5'];
      await apply(names);
      await ready(...names);
      const before = await addressesOf(['s1', 's3', 's5']);
      const staying = await Promise.all(
        ['s1', 's3', 's5'].map(async (name) => (await azure.scene.service(name))?.metadata.uid.replaceAll('-', '').slice(0, 31)),
      );
      const LISTS = ['frontendIPConfigurations', 'loadBalancingRules'];
      const theirs = (parts: Part[]): Part[] => parts.filter(({ name }) => staying.some((uid) => name.startsWith(`a${uid}`)));
      const kept = (): unknown =>
        LISTS.map((list) => theirs(partsIn(azure.balancer(), list)).map(({ name, properties }) => [name, properties]));
      /** Of those that stay, what a write of the load balancer says. */
      const written = (body: JsonObject): unknown =>
        LISTS.map((list) =>
          theirs(partsWritten(body, list))
            .map(({ name, properties: { publicIPAddress, frontendIPConfiguration, frontendPort, probe } }) =>
              JSON.stringify([name, publicIPAddress, frontendIPConfiguration, frontendPort, probe]),
            )
            .sort(),
        );
      const first = kept();
      const asBefore = written(bodiesOf(azure.arm.calls, BALANCER).at(-1) ?? {});
      azure.forgetCalls();
      await apply(['s6']);
      await ready('s6');
      await azure.scene.deleteServices('s2');
      await apply(['s4'], { annotations: { [`${PREFIX}load-balancer-tcp-idle-timeout`]: '30' } });
      const s4 = (await azure.scene.service('s4'))?.metadata.uid.replaceAll('-', '').slice(0, 31);
      const idle = (): unknown =>
        partsIn(azure.balancer(), 'loadBalancingRules').find(({ name }) => name.startsWith(`a${s4}`))?.properties.idleTimeoutInMinutes;
      await azure.scene.until('the fourth one’s change', () => Promise.resolve(idle() === 30), MINUTE);
      await ready('s4');
      expect(azure.arm.calls.filter(({ method, path }) => method === 'DELETE' && /loadBalancers/.test(path))).toEqual([]);
      expect(kept()).toEqual(first);
      const writes = bodiesOf(azure.arm.calls, BALANCER);
      expect(writes.map(written)).toEqual(Array.from({ length: 3 }, () => asBefore));
      expect(await addressesOf(['s1', 's3', 's5'])).toEqual(before);

      await restarted();
      expect(azure.writes()).toEqual([]);
      expect(azure.arm.calls.length).toBeLessThanOrEqual(12);

      // A state by an earlier version of the plugin; then with an earlier program, too, so that there is an update.
      const stood = standing(azure);
      for (const change of [byOlderPlugin, (record: StackRecord) => older(byOlderPlugin(record))]) {
        await azure.cluster.stopOperator();
        await rewriteState(azure.scene, 's1', change);
        expect(await pluginsOf('s1')).toEqual(['default_3_0_0']);
        azure.forgetCalls();
        await azure.cluster.startOperator();
        await azure.scene.until('today’s program', () => isOfToday('s1'), MINUTE);
        await azure.scene.settled(3_000);
        expect([azure.writes(), standing(azure)]).toEqual([[], stood]);
      }
      expect(await pluginsOf('s1')).toEqual([expect.not.stringMatching(/^default_3_0_0$/)]);
    },
    4 * MINUTE,
  );

  test(
    'R-48: a newer program changes in place what it makes otherwise, in whatever spelling and order; where it would replace the load balancer, all on it are asked',
    async () => {
      const names = Array.from({ length: 6 }, (_, index) => `up-${index}`);
      await apply(names);
      await ready(...names);
      const addresses = await addressesOf(names);
      const before = standing(azure);

      azure.arm.cloud.tamper(BALANCER, ({ properties }) => {
        for (const { properties: rule } of properties.loadBalancingRules as { properties: JsonObject }[]) rule.idleTimeoutInMinutes = 10;
      });
      await restartedAfter(spelledOtherwise);
      await azure.scene.until('the update', () => isOfToday(), MINUTE);
      expect(azure.writes()).toEqual(['PUT loadBalancers']);
      expect(standing(azure)).toEqual(before);

      await restartedAfter(madeElsewhere);
      const listed = names.map((name) => `default/${name}`).join(', ');
      const why = `a newer version of the operator makes it otherwise: the update replaces LoadBalancer kubernetes, which cuts ${listed}`;
      const said = await Promise.all(names.map((name) => azure.scene.condition(name, 'Reconciling', 'AwaitingApproval')));
      expect(said.filter(({ message }) => message?.includes(why) !== true)).toEqual([]);
      expect(azure.writes()).toEqual([]);
      const hash = / cloud-operator\.dev\/approve=([0-9a-f]+)/.exec(said[0]?.message ?? '')?.[1] ?? '';
      await azure.cluster.kubectl(['annotate', 'clb', ...names, `cloud-operator.dev/approve=${hash}`]);
      await azure.scene.until('the update with consent', () => isOfToday(), MINUTE);
      expect(azure.writes()).toEqual(['DELETE loadBalancers', 'PUT loadBalancers']);
      expect([standing(azure), await addressesOf(names)]).toEqual([before, addresses]);
      await ready(...names);
    },
    4 * MINUTE,
  );

  test(
    'a restart reads the same whether there are two Services or a dozen, and writes nothing',
    async () => {
      const names = Array.from({ length: 12 }, (_, index) => `many-${index}`);
      for (const some of [names.slice(0, 2), names]) {
        await apply(some);
        await ready(...some);
        await addressesOf(some);
        await restarted();
        expect(azure.writes()).toEqual([]);
        // Lists, and what all of them share: nothing that is of one Service.
        expect(azure.arm.calls.length).toBeLessThanOrEqual(12);
        expect(azure.arm.calls.filter(({ path }) => /publicIPAddresses\/./.test(path))).toEqual([]);
      }
    },
    4 * MINUTE,
  );

  test(
    'R-36: a user’s tags are on everything that is made, and none of them decides whose it is; one that would is named',
    async () => {
      const warning = (await azure.scene.provider('azure'))?.status?.conditions?.find(({ type }) => type === 'Warning');
      expect(warning).toMatchObject({ status: 'True', reason: 'NotSupported' });
      expect(warning?.message).toContain('spec.azure.tags: the key k8s-azure-service is without effect');
      expect(azure.cluster.operatorLog()).toContain('--cloud-config: tags: the key k8s-azure-service is without effect');
      await apply(['web']);
      await ready('web');
      const [address = ''] = azure.publicAddresses();
      const tags = { service: 'billing', team: 'net', 'k8s-azure-service': 'default/web' };
      expect(azure.arm.cloud.find(networkID('publicIPAddresses', address))?.tags).toMatchObject(tags);
      const theirs = networkID('publicIPAddresses', 'theirs');
      azure.arm.cloud.seed(theirs, { location: LOCATION, sku: { name: 'Standard' }, tags: { service: 'default/web' }, properties: {} });
      await azure.scene.deleteServices('web');
      expect(azure.publicAddresses()).toEqual(['theirs']);
      azure.arm.cloud.vanish(theirs);
    },
    2 * MINUTE,
  );

  test(
    'one that Azure refuses says so and keeps what it has, the others’ changes are made; all is well once it can be',
    async () => {
      await apply(['good', 'bad']);
      await ready('good', 'bad');
      const [good, bad] = await addressesOf(['good', 'bad']);
      await apply(['bad'], { annotations: { [`${PREFIX}pip-name`]: 'absent' } });
      await azure.cluster.kubectl([
        'patch',
        'cloudloadbalancer',
        'bad',
        '--type=merge',
        '-p',
        '{"spec":{"updatePolicy":{"replace":"Allow"}}}',
      ]);
      const stalled = await azure.scene.condition('bad', 'Stalled', 'Invalid');
      expect(stalled.message).toContain('public IP address absent is not in resource group cluster');
      await apply(['good'], { ports: [{ name: 'https', port: 443 }] });
      await apply(['more']);
      await ready('good', 'more');
      expect(await addressesOf(['good', 'bad'])).toEqual([good, bad]);
      expect(azure.letInTo()).toContain(bad);

      azure.arm.cloud.seed(networkID('publicIPAddresses', 'absent'), {
        location: LOCATION,
        sku: { name: 'Standard' },
        properties: { ipAddress: '20.9.9.9', publicIPAddressVersion: 'IPv4' },
      });
      await azure.scene.askFor('bad');
      await azure.scene.until('the address that it asked for', async () => (await addressesOf(['bad']))[0] === '20.9.9.9', MINUTE);
      await azure.scene.deleteServices('bad');
      expect(azure.publicAddresses()).toContain('absent');
      azure.arm.cloud.vanish(networkID('publicIPAddresses', 'absent'));
    },
    4 * MINUTE,
  );

  test(
    'an address that is made anew under a DNS label that stays takes the place of the old one, which goes',
    async () => {
      const prefix = networkID('publicIPPrefixes', 'range');
      azure.arm.cloud.seed(prefix, { location: LOCATION, sku: { name: 'Standard' }, properties: { ipPrefix: '20.8.0.0/28' } });
      await apply(['web'], { annotations: { [`${PREFIX}dns-label-name`]: 'web' } });
      await ready('web');
      await azure.cluster.kubectl(['patch', 'clb', 'web', '--type=merge', '-p', '{"spec":{"updatePolicy":{"replace":"Allow"}}}']);
      let [address] = await addressesOf(['web']);
      for (const annotation of ['pip-ip-tags=RoutingPreference=Internet', `pip-prefix-id=${prefix}`]) {
        await azure.cluster.kubectl(['annotate', 'service', 'web', `${PREFIX}${annotation}`]);
        const isAnother = async (): Promise<boolean> => (await addressesOf(['web']))[0] !== address;
        await azure.scene.until(`another address with ${annotation}`, isAnother, MINUTE);
        await ready('web');
        [address] = await addressesOf(['web']);
        const [made = '', ...others] = azure.publicAddresses();
        expect(others).toEqual([]);
        const { properties } = azure.arm.cloud.find(networkID('publicIPAddresses', made)) ?? {};
        expect(properties).toMatchObject({ ipAddress: address, dnsSettings: { domainNameLabel: 'web' } });
        expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(1);
      }
      await azure.scene.deleteServices('web');
      azure.arm.cloud.vanish(prefix);
    },
    2 * MINUTE,
  );

  test(
    'R-30: an address that was made for one and is used by another stays until that one goes too, whoever goes first',
    async () => {
      await azure.cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type=merge', '-p', '{"spec":{"retireAfter":"1s"}}']);
      const theirs = networkID('publicIPAddresses', 'pip-u');
      const properties = { ipAddress: '20.9.9.50', publicIPAddressVersion: 'IPv4' };
      azure.arm.cloud.seed(theirs, { location: LOCATION, sku: { name: 'Standard' }, tags: { team: 'net' }, properties });
      await apply(['first']);
      await ready('first');
      const [shared = ''] = await addressesOf(['first']);
      const [made = ''] = azure.publicAddresses().filter((name) => name !== 'pip-u');
      await apply(['second'], { annotations: { [`${PREFIX}load-balancer-ipv4`]: shared }, ports: [{ name: 'https', port: 443 }] });
      await ready('second');
      expect(await addressesOf(['second'])).toEqual([shared]);
      expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(1);
      expect(azure.arm.cloud.find(networkID('publicIPAddresses', made))?.tags).toMatchObject({ [TAG.users]: 'default/second' });

      azure.forgetCalls();
      await azure.cluster.kubectl(['annotate', 'service', 'first', `${PREFIX}pip-name=pip-u`]);
      await azure.cluster.kubectl([
        'patch',
        'cloudloadbalancer',
        'first',
        '--type=merge',
        '-p',
        '{"spec":{"updatePolicy":{"replace":"Allow"}}}',
      ]);
      await azure.scene.until('the named address', async () => (await addressesOf(['first']))[0] === '20.9.9.50', MINUTE);
      const rules = (): number => partsIn(azure.balancer(), 'loadBalancingRules').length;
      await azure.scene.until('the old frontend to go', () => Promise.resolve(rules() === 2), MINUTE);
      await ready('second');
      expect(await addressesOf(['second'])).toEqual([shared]);
      const isShut = (): boolean => azure.letInTo().join() === [shared, '20.9.9.50'].sort().join();
      await azure.scene.until('what led to the old frontend to be shut', () => Promise.resolve(isShut()), MINUTE);
      const frontendsOf = (publicAddress: string): string[] =>
        partsIn(azure.balancer(), 'frontendIPConfigurations')
          .filter(({ properties }) => nameIn(properties.publicIPAddress) === publicAddress)
          .map(({ name }) => name);
      const keeps = (): unknown => azure.arm.cloud.find(networkID('publicIPAddresses', made))?.tags?.['k8s-azure-service'];
      await azure.scene.until('the address to be the other one’s', () => Promise.resolve(keeps() === 'default/second'));
      expect(azure.arm.cloud.find(networkID('publicIPAddresses', made))?.tags).toMatchObject({ [TAG.users]: 'default/second' });
      expect(frontendsOf('pip-u')).toHaveLength(1);

      await azure.scene.deleteServices('first');
      expect([frontendsOf('pip-u'), frontendsOf(made), partsIn(azure.balancer(), 'frontendIPConfigurations').length]).toEqual([
        [],
        [expect.any(String)],
        1,
      ]);
      expect(partsIn(azure.balancer(), 'loadBalancingRules').map(({ properties }) => properties.frontendPort)).toEqual([443]);
      // Without a gap for who stays: in every write there is all that it needs.
      const [balancers, groups] = [BALANCER, SECURITY_GROUP].map((id) => bodiesOf(azure.arm.calls, id));
      expect([balancers?.length, groups?.length].every((count) => Number(count) >= 2)).toBe(true);
      expect(balancers?.filter((body) => !serves(body, { publicAddress: made, port: 443 }))).toEqual([]);
      expect(groups?.filter((body) => !letsIn(body, { address: shared, port: 443 }))).toEqual([]);
      expect(azure.publicAddresses()).toEqual([made, 'pip-u'].sort());
      expect(azure.letInTo()).toEqual([shared]);
      await azure.scene.deleteServices('second');
      expect(azure.publicAddresses()).toEqual(['pip-u']);
      expect(azure.arm.cloud.find(theirs)?.tags).toEqual({ team: 'net' });
      azure.arm.cloud.vanish(theirs);
    },
    4 * 60_000,
  );

  test(
    'parts of others on the load balancer, and what somebody changes of ours, are kept and healed',
    async () => {
      await apply(['web']);
      await ready('web');
      const id = BALANCER;
      azure.arm.cloud.tamper(id, ({ properties }) => {
        const theirs = { name: 'outbound', id: `${id}/backendAddressPools/outbound`, properties: {} };
        properties.backendAddressPools = [...(properties.backendAddressPools as JsonObject[]), theirs];
        for (const { properties: rule } of properties.loadBalancingRules as { properties: JsonObject }[]) rule.idleTimeoutInMinutes = 99;
      });
      await azure.cluster.kubectl(['annotate', 'cloudprovider', 'azure', '--overwrite', 'cloud-operator.dev/reconcile=now']);
      const idle = (): unknown => partsIn(azure.balancer(), 'loadBalancingRules')[0]?.properties.idleTimeoutInMinutes;
      await azure.scene.until('the rule to be healed', () => Promise.resolve(idle() === 4), MINUTE);

      const [address = ''] = azure.letInTo();
      const ssh = { priority: 100, direction: 'Inbound', access: 'Allow', protocol: 'Tcp', destinationPortRange: '22' };
      azure.arm.cloud.tamper(SECURITY_GROUP, ({ properties }) => {
        const theirs = {
          name: 'ssh',
          properties: { ...ssh, sourcePortRange: '*', sourceAddressPrefix: '*', destinationAddressPrefix: address },
        };
        properties.securityRules = [{ id: `${SECURITY_GROUP}/securityRules/ssh`, etag: 'x', ...theirs }] as never;
      });
      await azure.cluster.kubectl(['annotate', 'cloudprovider', 'azure', '--overwrite', 'cloud-operator.dev/reconcile=again']);
      await azure.scene.until('the rule to be there again', () => Promise.resolve(azure.letInTo().length === 2), MINUTE);
      await azure.scene.deleteServices('web');
      expect(partsIn(azure.arm.cloud.find(SECURITY_GROUP), 'securityRules').map(({ name }) => name)).toEqual(['ssh']);
      expect(partsIn(azure.balancer(), 'backendAddressPools').map(({ name }) => name)).toEqual(['outbound']);
      azure.arm.cloud.vanish(id);
    },
    2 * MINUTE,
  );
});

/** The last word of the id that a reference has. */
function nameIn(reference: unknown): string | undefined {
  return (reference as { id?: string } | undefined)?.id?.split('/').at(-1);
}

/** The public address at a frontend. */
function addressAt(azure: AzureScene, frontend: string): unknown {
  const found = partsIn(azure.balancer(), 'frontendIPConfigurations').find(({ name }) => name === frontend);
  const name = nameIn(found?.properties.publicIPAddress);
  return name === undefined ? undefined : azure.arm.cloud.find(networkID('publicIPAddresses', name))?.properties.ipAddress;
}

/** What clients depend on: addresses of frontends, what is forwarded from them, and who is let in. */
function standing(azure: AzureScene): unknown {
  const parts = (list: string, ...keys: string[]): unknown[] =>
    partsIn(azure.balancer(), list)
      .map(({ name, properties }) => [name, ...keys.map((key) => properties[key])])
      .sort();
  return {
    frontends: parts('frontendIPConfigurations', 'publicIPAddress'),
    rules: parts('loadBalancingRules', 'frontendPort', 'backendPort', 'idleTimeoutInMinutes'),
    access: azure.securityRules(),
  };
}

/** Ids in other letters, lists in another order, and a timeout that was another one. */
function spelledOtherwise(record: StackRecord): StackRecord {
  const loud = (key: string) => (properties: JsonObject) => ({ ...properties, [key]: (properties[key] as string).toUpperCase() });
  const balancer = ({ loadBalancingRules: rules, frontendIPConfigurations: frontends, ...properties }: JsonObject): JsonObject => ({
    ...loud('resourceGroupName')(properties),
    frontendIPConfigurations: (frontends as JsonObject[]).toReversed(),
    ...(rules !== undefined && { loadBalancingRules: (rules as JsonObject[]).map((rule) => ({ ...rule, idleTimeoutInMinutes: 10 })) }),
  });
  const changes: [string, (properties: JsonObject) => JsonObject][] = [
    ['LoadBalancer', balancer],
    ['PublicIPAddress', loud('resourceGroupName')],
    ['SecurityRules', loud('networkSecurityGroupId')],
    ['AzureNarrowedRules', loud('networkSecurityGroupId')],
  ];
  return changes.reduce((changed, [type, change]) => withProperties(changed, type, change), record);
}

/** As a worker with an earlier version of the cloud's plugin has written it: its default provider bears the version. */
function byOlderPlugin(record: StackRecord): StackRecord {
  const text = JSON.stringify(record.checkpoint).replaceAll(/(providers:azure-native::default)\w*/g, '$1_3_0_0');
  const renamed = { ...record, checkpoint: JSON.parse(text) as StackRecord['checkpoint'] };
  return withProperties(renamed, 'azure-native', (properties) => ({ ...properties, version: '3.0.0' }));
}

/** In another region, with another name for our part of the security group. */
function madeElsewhere(record: StackRecord): StackRecord {
  const named = JSON.stringify(record.checkpoint).replaceAll('::kubernetes-access', '::kubernetes-rules');
  const renamed = { ...record, checkpoint: JSON.parse(named) as StackRecord['checkpoint'] };
  return withProperties(renamed, 'LoadBalancer', (properties) => ({ ...properties, location: 'northeurope' }));
}
