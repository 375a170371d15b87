import type { CloudStack } from '../../../crds';
import { describeWithMoto } from '../../harness/moto';
import type { Rule } from '../../harness/aws-model/rule';
import { PluginFolder } from '../extensions/plugin-folder';
import { type Scene, serviceOf } from '../operator/scene';
import { secretsWith } from '../state/planted';
import type { MotoAccount } from './moto-account';
import { type AwsOperatorScene, NETWORK, SECRET_KEY, withAwsScene } from './operator-scene';

const plugins = new PluginFolder();

/** docs/clouds/aws.md, "The official plugin": the same programs, with another process behind the types of the package `aws`. */
describeWithMoto('A CloudProvider of AWS with plugin: Official', () => {
  let aws: AwsOperatorScene;
  let account: MotoAccount;
  let scene: Scene;
  /** AWS does this action, and the plugin is dead before it has the answer. */
  let killsAt: string | undefined;
  const killing: Rule = {
    async after({ action }, answer) {
      if (action !== killsAt) return answer;
      killsAt = undefined;
      await plugins.kill('aws');
      return answer;
    },
  };

  plugins.installModule('aws', 'test/integration/aws/official-plugin.ts');
  afterAll(() => plugins.remove());
  withAwsScene(
    async (made) => {
      aws = made;
      ({ account, scene } = made);
      await choose('Official');
    },
    [killing],
    plugins.pulumi(),
  );

  const choose = (plugin: string): Promise<string> =>
    aws.cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type=merge', '-p', JSON.stringify({ spec: { plugin } })]);
  const apply = (name: string, port = 80, annotations = {}): Promise<void> =>
    aws.cluster.apply(serviceOf(name, { annotations: { ...NETWORK, ...annotations }, ports: [{ name: 'http', port }] }));
  const stackOf = async (name: string): Promise<CloudStack['status']> => (await scene.stackOf(name)).status;
  const portsOf = async (): Promise<number[]> => {
    const [balancer] = await account.loadBalancers();
    return Object.keys(await account.targetsOf(balancer?.LoadBalancerArn ?? '')).map(Number);
  };

  test('a Service is served by it, changed and deleted; credentials stand nowhere', async () => {
    await apply('web');
    await scene.ready('web', { timeoutMs: 90_000 });
    expect(await stackOf('web')).toMatchObject({ plugin: 'Official' });
    expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: 1 });
    await apply('web', 81, {
      'service.beta.kubernetes.io/aws-load-balancer-target-group-attributes': 'deregistration_delay.timeout_seconds=20',
    });
    await scene.until('the other port', async () => (await portsOf()).includes(81), 90_000);
    await scene.ready('web', { timeoutMs: 90_000 });
    expect(await portsOf()).toEqual([81]);
    expect(await secretsWith(aws.cluster.kube, SECRET_KEY)).toEqual([]);
    expect(aws.cluster.operatorLog()).not.toContain(SECRET_KEY);
    await scene.deleteServices('web');
    expect(await account.content()).toMatchObject({ loadBalancers: 0, targetGroups: 0 });
    expect(plugins.running('aws')).toEqual([]);
  }, 240_000);

  test.each(['CreateTargetGroup', 'CreateLoadBalancer', 'CreateListener'])(
    'a plugin that is killed after %s: what it has made is found by its tags, and nothing is made twice',
    async (action) => {
      const name = `killed-${action.toLowerCase()}`;
      killsAt = action;
      await apply(name);
      await scene.until('the plugin to be killed', () => Promise.resolve(killsAt === undefined), 60_000);
      await scene.ready(name, { timeoutMs: 120_000 });
      expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: 1 });
      await scene.deleteServices(name);
      expect(await account.content()).toMatchObject({ loadBalancers: 0, targetGroups: 0 });
    },
    240_000,
  );

  test('what somebody deletes or changes is healed by it; a stack stays with its plugin when the CloudProvider names another', async () => {
    await apply('kept');
    await scene.ready('kept', { timeoutMs: 90_000 });
    const [balancer] = await account.loadBalancers();
    const arn = balancer?.LoadBalancerArn ?? '';
    await choose('BuiltIn');
    await apply('new');
    await scene.ready('new', { timeoutMs: 90_000 });
    expect(await stackOf('new')).not.toHaveProperty('plugin');

    await account.deleteListeners(arn);
    await aws.cluster.kubectl(['annotate', 'cloudloadbalancer', 'kept', 'cloud-operator.dev/reconcile=lost']);
    await scene.until('the listener to be back', async () => Object.keys(await account.targetsOf(arn)).length === 1, 90_000);
    await scene.ready('kept', { timeoutMs: 90_000 });
    expect(await stackOf('kept')).toMatchObject({ plugin: 'Official' });
    expect((await stackOf('kept'))?.drift ?? []).toEqual([]);
    await scene.deleteServices('kept', 'new');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    expect(plugins.running('aws')).toEqual([]);
  }, 300_000);
});
