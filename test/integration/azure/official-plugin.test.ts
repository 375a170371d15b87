import type { CloudStack } from '../../../crds';
import { LOCATION, networkID } from '../../harness/arm/scene';
import { partsIn } from '../../harness/arm/resource';
import { OPERATOR_CLUSTER_START_MS } from '../../harness/operator-cluster';
import { PluginFolder } from '../extensions/plugin-folder';
import { serviceOf } from '../operator/scene';
import { secretsWith } from '../state/planted';
import { AzureScene, SECRET } from './operator-scene';

const plugins = new PluginFolder();

/** docs/clouds/azure.md, "The official plugin": the same programs, with another process behind the types of the package `azure-native`. */
describe('A CloudProvider of Azure with plugin: Official', () => {
  let azure: AzureScene;

  plugins.installModule('azure-native', 'test/integration/azure/official-plugin.ts');
  beforeAll(async () => {
    azure = await AzureScene.start({}, { pulumi: plugins.pulumi() });
    await azure.addNode();
    await choose('Official');
    azure.arm.respells = true;
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(async () => {
    await azure.stop();
    plugins.remove();
  });

  const choose = (plugin: string): Promise<string> =>
    azure.cluster.kubectl(['patch', 'cloudprovider', 'azure', '--type=merge', '-p', JSON.stringify({ spec: { plugin } })]);
  const stackOf = async (name: string): Promise<CloudStack['status']> => (await azure.scene.stackOf(name)).status;
  const rules = (): number[] => partsIn(azure.balancer(), 'loadBalancingRules').map(({ properties }) => properties.frontendPort as number);

  test('Services are served by it, changed and deleted; the plugin gets the update’s token, and nothing of it is written down', async () => {
    const { scene, cluster } = azure;
    await cluster.apply(serviceOf('web'));
    await scene.ready('web', { timeoutMs: 90_000 });
    const [address] = await Promise.all([scene.published('web')]);
    expect(await stackOf('web')).toMatchObject({ plugin: 'Official' });
    expect(azure.poolOf()).toEqual(['10.0.3.1']);
    expect(azure.letInTo()).toEqual([address]);
    await cluster.apply(serviceOf('web', { ports: [{ name: 'https', port: 443 }] }));
    await scene.until('the other port', () => Promise.resolve(rules().includes(443)), 60_000);
    await scene.ready('web', { timeoutMs: 60_000 });
    expect(await scene.published('web')).toBe(address);

    await choose('BuiltIn');
    await cluster.apply(serviceOf('api'));
    await scene.ready('api', { timeoutMs: 90_000 });
    expect(await stackOf('api')).toMatchObject({ plugin: 'Official' });
    expect((await stackOf('api'))?.drift ?? []).toEqual([]);
    await choose('Official');
    const said = [SECRET, ...azure.arm.identity.tokens];
    for (const secret of said) expect(await secretsWith(cluster.kube, secret)).toEqual([]);
    expect(said.filter((secret) => cluster.operatorLog().includes(secret))).toEqual([]);
    await scene.deleteServices('web', 'api');
    expect([azure.balancer(), azure.publicAddresses(), azure.letInTo()]).toEqual([undefined, [], []]);
    expect(plugins.running('azure-native')).toEqual([]);
  }, 240_000);

  test.each(['publicIPAddresses', 'loadBalancers'])(
    'a plugin that is killed when it has made %s: that is found by its tags, and nothing is made twice',
    async (type) => {
      const name = `killed-${type.toLowerCase()}`;
      let kills = true;
      azure.arm.beforeAnswer = async ({ verb, path }) => {
        if (!kills || verb !== 'create' || !path.includes(`/${type}/`)) return;
        kills = false;
        await plugins.kill('azure-native');
      };
      await azure.cluster.apply(serviceOf(name));
      await azure.scene.until('the plugin to be killed', () => Promise.resolve(!kills), 60_000);
      await azure.scene.ready(name, { timeoutMs: 120_000 });
      expect(azure.publicAddresses()).toHaveLength(1);
      expect(partsIn(azure.balancer(), 'frontendIPConfigurations')).toHaveLength(1);
      await azure.scene.deleteServices(name);
      expect([azure.balancer(), azure.publicAddresses(), azure.letInTo()]).toEqual([undefined, [], []]);
    },
    240_000,
  );

  test('what somebody takes out is healed by it; a load balancer that is there before is refused with what to do', async () => {
    const { scene, cluster, arm } = azure;
    await cluster.apply(serviceOf('kept'));
    await scene.ready('kept', { timeoutMs: 90_000 });
    arm.cloud.tamper(networkID('loadBalancers', 'kubernetes'), ({ properties }) => (properties.loadBalancingRules = []));
    await cluster.kubectl(['annotate', 'cloudloadbalancer', 'kept', 'cloud-operator.dev/reconcile=lost']);
    await scene.until('the rule to be back', () => Promise.resolve(rules().length === 1), 90_000);
    await scene.ready('kept', { timeoutMs: 90_000 });
    await scene.until('nothing to differ any more', async () => ((await stackOf('kept'))?.drift ?? []).length === 0);

    arm.cloud.seed(networkID('loadBalancers', 'kubernetes-internal'), { location: LOCATION, sku: { name: 'Standard' }, properties: {} });
    await cluster.apply(serviceOf('inner', { annotations: { 'service.beta.kubernetes.io/azure-load-balancer-internal': 'true' } }));
    const refused = await scene.until('it to be refused', async () => {
      const conditions = (await scene.loadBalancer('inner'))?.status?.conditions ?? [];
      return conditions.find(({ message }) => message.includes('already existing'))?.message;
    });
    expect(refused).toContain('spec.plugin: BuiltIn');
    await scene.deleteServices('inner', 'kept');
    expect(azure.balancer()).toBeUndefined();
    expect(azure.balancer('kubernetes-internal')).toBeDefined();
  }, 240_000);
});
