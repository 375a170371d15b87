import type { KubeObject } from '../../../operator/kube/object';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { OPERATOR_NAMESPACE } from '../../../dev/cluster/operator';
import { Scene, serviceOf } from '../operator/scene';
import { MotoAccount, REGION } from './moto-account';

const CLASS = 'cloud-operator.dev/aws';
const SECRET_KEY = 'planted-secret-of-the-account-0123456789';

describeWithMoto('An operator with an account of AWS', () => {
  let moto: Moto;
  let model: AwsModel;
  let account: MotoAccount;
  let cluster: OperatorCluster | undefined;
  let scene: Scene;

  beforeAll(async () => {
    [moto, cluster] = await Promise.all([startMoto(), OperatorCluster.start()]);
    model = new AwsModel(moto.url, REGION);
    await model.start();
    account = new MotoAccount(moto.url);
    await account.prepare();
    const endpoints = (['EC2', 'ElasticLoadBalancingV2'] as const).map((service) => ({ service, url: model.url }));
    scene = new Scene(cluster);
    const secret = {
      metadata: { name: 'aws', namespace: OPERATOR_NAMESPACE },
      stringData: { AccessKeyID: 'test', SecretAccessKey: SECRET_KEY },
    };
    await cluster.apply(
      { apiVersion: 'v1', kind: 'Secret', ...secret },
      {
        apiVersion: 'cloud-operator.dev/v1alpha1',
        kind: 'CloudProvider',
        metadata: { name: 'aws' },
        spec: account.providerSpec({ endpoints }),
      },
    );
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(async () => {
    await cluster?.stop();
    account.close();
    await model.stop();
    await moto.stop();
  });

  /** A machine in the account, and the Node that its kubelet would register. */
  async function addNode(): Promise<{ name: string; id: string }> {
    const [machine] = await account.makeInstances(1, 'prod');
    await scene.addNodeObject(machine!.nodeName);
    return { name: machine!.nodeName, id: machine!.providerID.split('/').at(-1) ?? '' };
  }

  const hostname = (name: string): Promise<string> =>
    scene.until(`a host name of Service ${name}`, async () => (await scene.service(name))?.status?.loadBalancer?.ingress?.[0]?.hostname);

  test('a Node becomes one of AWS, and a Service a Network Load Balancer with the Node behind it', async () => {
    const node = await addNode();
    expect((await scene.initialized(node.name)).spec.providerID).toMatch(new RegExp(`^aws:///.*/${node.id}$`));
    await cluster!.apply(serviceOf('web', { spec: { loadBalancerClass: CLASS } }));
    await scene.ready('web', { timeoutMs: 60_000 });
    expect(await hostname('web')).toMatch(/\.elb\./);
    const [balancer, ...others] = await account.loadBalancers();
    expect(others).toEqual([]);
    expect(await account.targetsOf(balancer!.LoadBalancerArn!)).toEqual({ 80: [node.id] });

    const second = await addNode();
    await scene.initialized(second.name);
    await scene.until('the second Node behind it', async () => {
      const { 80: targets } = await account.targetsOf(balancer!.LoadBalancerArn!);
      return targets?.length === 2 && targets.includes(second.id);
    });

    await scene.deleteServices('web');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('a route to a Node is in the table while its CloudRoute is there', async () => {
    const table = await account.makeRouteTable('prod');
    const { name: nodeName } = await addNode();
    await scene.initialized(nodeName);
    const [metadata, destinationCIDR] = [{ name: 'pods' }, '10.244.9.0/24'];
    const spec = { provider: 'aws', destinationCIDR, nodeName };
    await cluster!.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata, spec });
    const hop = (): Promise<string | undefined> => account.nextHop(table, destinationCIDR);
    expect(await scene.until('the route', hop, 60_000)).toMatch(/^eni-/);
    await scene.until('CloudRoute pods to be Ready', async () => {
      return (await scene.route('pods'))?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
    });
    await cluster!.kubectl(['delete', 'cloudroute', 'pods']);
    expect(await hop()).toBeUndefined();
  }, 120_000);

  test('a restart with unchanged Services asks for no target group, writes nothing, and knows what is registered when a Node comes', async () => {
    await scene.initialized((await addNode()).name);
    const names = ['one', 'two', 'three'];
    for (const name of names) await cluster!.apply(serviceOf(name, { spec: { loadBalancerClass: CLASS } }));
    for (const name of names) await scene.ready(name, { timeoutMs: 60_000 });
    await scene.until('what is registered to be remembered', async () => {
      return (await scene.provider('aws'))?.status?.registeredTargets !== undefined;
    });
    await cluster!.stopOperator();
    model.calls.length = 0;
    await cluster!.startOperator();
    await scene.settled(3_000);
    const afterRestart = model.calls.map(({ action }) => action);
    expect(afterRestart.filter((action) => !action.startsWith('Describe'))).toEqual([]);
    expect(afterRestart).not.toContain('DescribeTargetHealth');
    expect(afterRestart.length).toBeLessThanOrEqual(10);

    model.calls.length = 0;
    const node = await addNode();
    await scene.initialized(node.name);
    for (const { LoadBalancerArn = '' } of await account.loadBalancers()) {
      await scene.until('the new Node behind it', async () => (await account.targetsOf(LoadBalancerArn))[80]?.includes(node.id));
    }
    const writes = model.calls.map(({ action }) => action).filter((action) => !/^Describe(Instances|AvailabilityZones)$/.test(action));
    expect(writes).toEqual(names.map(() => 'RegisterTargets'));
    await scene.deleteServices(...names);
  }, 180_000);

  test('the secret key is in no object and in no log', async () => {
    const kinds = ['cloudproviders', 'cloudloadbalancers', 'cloudstacks', 'cloudinstances', 'services', 'events', 'secrets'];
    const text = await cluster!.kubectl(['get', kinds.join(','), '-A', '-o', 'json']);
    const holders = (JSON.parse(text) as { items: KubeObject[] }).items.filter((item) => {
      const json = JSON.stringify(item);
      return json.includes(SECRET_KEY) || json.includes(Buffer.from(SECRET_KEY).toString('base64'));
    });
    expect(holders.map(({ kind, metadata }) => `${kind ?? ''} ${metadata.name}`)).toEqual(['Secret aws']);
    expect(cluster!.operatorLog()).not.toContain(SECRET_KEY);
  });
});
