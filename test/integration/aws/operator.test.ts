import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { CLOUD_PROVIDERS, CLOUD_STACKS } from '../../../crds';
import type { StoredStack } from '../../../operator/cloud/stack/stack-record';
import { compiled } from '../../../operator/entry';
import { SECRETS } from '../../../operator/kube/object';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { refusal } from '../../harness/aws-model/call';
import type { Rule } from '../../harness/aws-model/rule';
import { describeWithMoto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS, type OperatorCluster } from '../../harness/operator-cluster';
import { isTainted, type Scene, serviceOf, type ServicePortSpec } from '../operator/scene';
import { secretsWith } from '../state/planted';
import { cloudName } from '../../../providers/aws/load-balancers/names';
import { backendGroupName } from '../../../providers/aws/nodes/backend-group';
import { REGION, type MotoAccount } from './moto-account';
import { AwsOperatorScene, deleteOurGroups, NETWORK, SECRET_KEY } from './operator-scene';

describeWithMoto('An operator with an account of AWS', () => {
  let aws: AwsOperatorScene | undefined;
  let model: AwsModel;
  let account: MotoAccount;
  let cluster: OperatorCluster | undefined;
  let scene: Scene;
  let nodes: string;

  beforeAll(async () => {
    aws = await AwsOperatorScene.start([told]);
    ({ model, account, cluster, scene, nodes } = aws);
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => aws?.stop());

  /** What tests have AWS do: refuse actions or all credentials, and lose a security group just before an action. */
  const denied = new Set<string>();
  let expired = false;
  /** Ids of instances whose name in DNS is of their id. */
  const namedByID = new Set<string>();
  let deletesGroupBefore: string | undefined;
  const told: Rule = {
    async before({ service, action }, moto) {
      if (expired) return refusal('ExpiredToken', 'The security token included in the request is expired', 403);
      if (denied.has(action))
        return refusal(service === 'ec2' ? 'UnauthorizedOperation' : 'AccessDenied', `not authorized: ${action}`, 403);
      if (action !== deletesGroupBefore) return undefined;
      deletesGroupBefore = undefined;
      await deleteOurGroups(moto);
      return undefined;
    },
    after({ action }, answer) {
      if (action !== 'DescribeInstances') return answer;
      const body = [...namedByID].reduce((text, id) => {
        const dnsName = new RegExp(`(<instanceId>${id}</instanceId>[\\s\\S]*?<privateDnsName>)[^<]*`);
        return text.replace(dnsName, `$1${id}.${REGION}.compute.internal`);
      }, answer.body);
      return { ...answer, body };
    },
  };

  const addNode = (): Promise<{ name: string; id: string }> => aws!.addNode();
  const hostname = (name: string): Promise<string> => aws!.hostname(name);
  let table: string | undefined;
  /** The cluster's only one. */
  const routeTable = async (): Promise<string> => (table ??= await account.makeRouteTable('prod'));

  /** The secret key is in no object, state included, and in no log. */
  async function expectNoSecret(): Promise<void> {
    expect(await secretsWith(cluster!.kube, SECRET_KEY)).toEqual([]);
    const kinds = ['cloudproviders', 'cloudloadbalancers', 'cloudstacks', 'cloudinstances', 'services', 'events'];
    expect(await cluster!.kubectl(['get', kinds.join(','), '-A', '-o', 'json'])).not.toContain(SECRET_KEY);
    expect(cluster!.operatorLog()).not.toContain(SECRET_KEY);
  }

  test('a Node becomes one of AWS, a Service a Network Load Balancer with the Node behind it, and no secret is written down', async () => {
    const node = await addNode();
    expect((await scene.initialized(node.name)).spec.providerID).toMatch(new RegExp(`^aws:///.*/${node.id}$`));
    await cluster!.apply(serviceOf('web', { annotations: NETWORK }));
    await scene.ready('web', { timeoutMs: 60_000 });
    expect(await hostname('web')).toMatch(/\.elb\./);
    const [balancer, ...others] = await account.loadBalancers();
    expect(others).toEqual([]);
    expect(balancer!.AvailabilityZones?.map(({ SubnetId }) => SubnetId).sort()).toEqual(account.subnetIDs);
    expect(await account.targetsOf(balancer!.LoadBalancerArn!)).toEqual({ 80: [node.id] });
    const groups = balancer!.SecurityGroups ?? [];
    const lettingIn = await Promise.all(groups.map((group) => account.rulesFrom(group, nodes)));
    expect(lettingIn.flat().sort()).toEqual(['icmp 3-4', 'tcp 30000-32767', 'udp 30000-32767']);

    const second = await addNode();
    await scene.initialized(second.name);
    await scene.until('the second Node behind it', async () => {
      const { 80: targets } = await account.targetsOf(balancer!.LoadBalancerArn!);
      return targets?.length === 2 && targets.includes(second.id);
    });

    // A load balancer without a group is another one: settings that ask for that wait for those who have one.
    const rules = (nodeRules: string | null) => cluster!.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { aws: { nodeRules } } });
    await rules('PerService');
    const { message } = await scene.condition('web', 'Reconciling', 'AwaitingApproval');
    expect(message).toMatch(/the settings of CloudProvider aws have changed: the update replaces LoadBalancer .*, which cuts default\/web/);
    await rules(null);
    await scene.ready('web');
    expect((await account.loadBalancers()).map(({ LoadBalancerArn }) => LoadBalancerArn)).toEqual([balancer!.LoadBalancerArn]);

    await expectNoSecret();
    await scene.deleteServices('web');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('a Service that asks for a Classic load balancer gets one, with its policies and the Nodes behind it', async () => {
    const node = await addNode();
    await scene.initialized(node.name);
    const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
    const annotations = { [`${prefix}type`]: 'classic', [`${prefix}proxy-protocol`]: '*', [`${prefix}connection-idle-timeout`]: '90' };
    await cluster!.apply(serviceOf('old', { annotations, spec: { loadBalancerClass: 'cloud-operator.dev/aws' } }));
    await scene.ready('old', { timeoutMs: 60_000 });
    const name = await hostname('old');
    const [balancer, ...others] = await account.classicLoadBalancers();
    expect(others).toEqual([]);
    expect(balancer).toMatchObject({ DNSName: name, Policies: { OtherPolicies: ['k8s-proxyprotocol-enabled'] } });
    expect(balancer?.Instances?.map(({ InstanceId }) => InstanceId)).toContain(node.id);

    await scene.deleteServices('old');
    expect(await account.classicLoadBalancers()).toEqual([]);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 120_000);

  test('what the policy does not let load balancers name is refused for Services and for people’s CloudLoadBalancers, and nothing is made', async () => {
    const set = (policy: object | null) => cluster!.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { policy } });
    await set({ subnets: ['team-a-*'], securityGroups: [], reservedTagKeys: ['cost-*'] });
    const [subnet = ''] = account.subnetIDs;
    const prefix = 'service.beta.kubernetes.io/aws-load-balancer-';
    const asked = {
      [`${prefix}subnets`]: subnet,
      [`${prefix}security-groups`]: nodes,
      [`${prefix}additional-resource-tags`]: 'cost-center=1',
    };
    const listeners = [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30_080 }];
    const aws = { subnets: [subnet], securityGroups: { groups: [nodes] }, tags: { 'cost-center': '1' } };
    await cluster!.apply(serviceOf('ruled', { annotations: { ...NETWORK, ...asked } }), {
      ...{ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer' },
      ...{ metadata: { name: 'ruled-too', namespace: 'default' }, spec: { provider: 'aws', listeners, aws } },
    });
    for (const name of ['ruled', 'ruled-too']) {
      const { message } = await scene.condition(name, 'Stalled', 'Invalid');
      expect(message).toContain(`spec.aws.subnets "${subnet}" is not allowed by the CloudProvider's policy (allowed are team-a-*)`);
      expect(message).toContain(
        `spec.aws.securityGroups.groups "${nodes}" is not allowed by the CloudProvider's policy (allowed are none)`,
      );
      expect(message).toContain(`spec.aws.tags "cost-center" is not allowed by the CloudProvider's policy (reserved are cost-*)`);
    }
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    await set(null);
    for (const name of ['ruled', 'ruled-too']) await scene.ready(name, { timeoutMs: 60_000 });
    await scene.deleteServices('ruled');
    await cluster!.kubectl(['delete', 'clb', 'ruled-too', '--timeout=60s']);
  }, 180_000);

  test('a route to a Node is in the table while its CloudRoute is there, also while nothing says which table that is', async () => {
    const tableID = await routeTable();
    const { name: nodeName } = await addNode();
    await scene.initialized(nodeName);
    const [metadata, destinationCIDR] = [{ name: 'pods' }, '10.244.9.0/24'];
    const spec = { provider: 'aws', destinationCIDR, nodeName };
    await cluster!.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata, spec });
    const hop = (): Promise<string | undefined> => account.nextHop(tableID, destinationCIDR);
    expect(await scene.until('the route', hop, 60_000)).toMatch(/^eni-/);
    const ready = (wanted: 'True' | 'False') =>
      scene.until(`CloudRoute pods to say Ready ${wanted}`, async () => {
        const conditions = (await scene.route('pods'))?.status?.conditions ?? [];
        return conditions.find(({ type, status }) => type === 'Ready' && status === wanted);
      });
    await ready('True');
    const name = (clusterName: string | null) => cluster!.kube.patch(CLOUD_PROVIDERS, 'aws', 'merge', { spec: { aws: { clusterName } } });
    model.calls.length = 0;
    await name(null);
    expect((await ready('False')).message).toContain('nothing says which route table gets the routes');
    await cluster!.kubectl(['annotate', 'cloudroute', 'pods', 'cloud-operator.dev/reconcile=nameless']);
    await scene.until('the look', async () => (await scene.route('pods'))?.status?.lastHandledReconcile === 'nameless');
    expect(await hop()).toMatch(/^eni-/);
    await name('prod');
    await ready('True');
    expect(model.calls.map(({ action }) => action)).not.toContain('DeleteRoute');
    await cluster!.kubectl(['delete', 'cloudroute', 'pods']);
    expect(await hop()).toBeUndefined();
  }, 120_000);

  test.each([
    ['ec2', 'CreateSecurityGroup'],
    ['elasticloadbalancing', 'CreateTargetGroup'],
  ])(
    'a permission that is missing (%s:%s) is told on the Service with the line to add, and the rest is done once it is there',
    async (service, action) => {
      denied.add(action);
      const name = `denied-${action.toLowerCase()}`;
      await cluster!.apply(serviceOf(name, { annotations: NETWORK }));
      const message = await scene.until(
        'the missing permission to be told',
        async () => {
          const conditions = (await scene.service(name))?.status?.conditions ?? [];
          return conditions
            .find(({ type, status }) => type === 'cloud-operator.dev/Ready' && status === 'False')
            ?.message?.match(/.*IAM policy.*/)?.[0];
        },
        60_000,
      );
      expect(message).toContain(`${service}:${action}`);
      expect(message).toContain(`{"Effect": "Allow", "Action": "${service}:${action}", "Resource": "*"}`);
      denied.delete(action);
      await cluster!.kubectl(['annotate', 'cloudloadbalancer', name, `cloud-operator.dev/reconcile=${action}`]);
      await scene.ready(name, { timeoutMs: 90_000 });
      await scene.deleteServices(name);
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    },
    240_000,
  );

  test('credentials that have run out are told on the Service with what to do, and it goes on by itself once AWS takes them again', async () => {
    await cluster!.apply(serviceOf('kept', { annotations: NETWORK }));
    await scene.ready('kept', { timeoutMs: 60_000 });
    const address = await aws!.hostname('kept');
    expired = true;
    try {
      await cluster!.apply(serviceOf('late', { annotations: NETWORK }));
      const message = await scene.until('the refusal to be told', async () => {
        const conditions = (await scene.service('late'))?.status?.conditions ?? [];
        return conditions.find(({ message: text = '' }) => text.includes('ExpiredToken'))?.message;
      });
      expect(message).toContain('Give the operator credentials that AWS accepts');
      await scene.until('the CloudProvider to say so', async () =>
        (await scene.provider('aws'))?.status?.conditions?.some(({ message: text = '' }) => text.includes('ExpiredToken')),
      );
      expect(await aws!.hostname('kept')).toBe(address);
    } finally {
      expired = false;
    }
    // The credentials are tried again after half a minute, and after twice that where it failed then.
    await scene.ready('late', { timeoutMs: 120_000 });
    await scene.deleteServices('kept', 'late');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 240_000);

  test.each(['AuthorizeSecurityGroupIngress', 'CreateLoadBalancer'])(
    'a security group that somebody deletes just before %s is made again',
    async (action) => {
      deletesGroupBefore = action;
      const name = `lost-${action.toLowerCase().slice(0, 12)}`;
      await cluster!.apply(serviceOf(name, { annotations: NETWORK }));
      await scene.ready(name, { timeoutMs: 180_000 });
      expect(deletesGroupBefore).toBeUndefined();
      const [balancer] = await account.loadBalancers();
      expect(balancer?.SecurityGroups).toHaveLength(2);
      await scene.deleteServices(name);
      expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    },
    300_000,
  );

  test('a backend group that no load balancer uses, and rules of one that is gone, are told by a sweep, and deleted when that is asked for', async () => {
    const clusterID = await cluster!.kubectl(['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}']);
    const left = await account.makeGroup(backendGroupName(clusterID), { 'cloud-operator.dev/cluster-id': clusterID });
    const gone = cloudName('0f0f0f0f-0000-4000-8000-777777777777');
    await account.letEverybodyIn(nodes, 31_999, `kubernetes.io/rule/nlb/client=${gone}`, { 'cloud-operator.dev/cluster-id': clusterID });
    await account.letEverybodyIn(nodes, 31_998, 'somebody’s');
    const sweep = (token: string): Promise<string> =>
      cluster!.kubectl(['annotate', 'cloudprovider', 'aws', '--overwrite', `cloud-operator.dev/sweep=${token}`]);
    await sweep('first');
    const leftover = (prefix: string): Promise<{ stack: string; release: string }> =>
      scene.until(
        `the leftover ${prefix}`,
        async () => {
          const all = await cluster!.kube.list<StoredStack>(CLOUD_STACKS);
          const found = all.find(({ metadata }) => metadata.name.startsWith(prefix));
          const incarnation = found?.status?.incarnation;
          if (found === undefined || incarnation === undefined) return undefined;
          return { stack: found.metadata.name, release: `cloud-operator.dev/release=${incarnation}` };
        },
        60_000,
      );
    const leftovers = [await leftover(`aws-backend-${left}`), await leftover(`aws-rules-${gone}-`)];
    expect(await account.openPorts(nodes)).toEqual([31_998, 31_999]);
    for (const { stack, release } of leftovers) await cluster!.kubectl(['annotate', 'cloudstack', stack, release]);
    for (const { stack } of leftovers) await scene.until('the stack to go', async () => (await scene.stack(stack)) === undefined, 60_000);
    expect(await account.content()).toMatchObject({ securityGroups: 0 });
    expect(await account.openPorts(nodes)).toEqual([31_998]);
  }, 180_000);

  test('what is left of a load balancer and a route whose objects and CloudStacks somebody deletes by force is told by a sweep, and goes with --delete', async () => {
    const [tableID, rules] = [await routeTable(), await account.rulesOf(nodes)];
    const { name: nodeName } = await addNode();
    await scene.initialized(nodeName);
    const destinationCIDR = '10.244.8.0/24';
    const route = { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name: 'ghost' } };
    await cluster!.apply(serviceOf('ghost', { annotations: NETWORK }), { ...route, spec: { provider: 'aws', destinationCIDR, nodeName } });
    await scene.ready('ghost', { timeoutMs: 60_000 });
    await scene.until('the route', () => account.nextHop(tableID, destinationCIDR), 60_000);
    const stacks = await scene.until('both stacks', async () => {
      const [ofBalancer, ofRoute] = [(await scene.loadBalancer('ghost'))?.status?.stack, (await scene.route('ghost'))?.status?.stack];
      return ofBalancer !== undefined && ofRoute !== undefined && [ofBalancer, ofRoute];
    });
    await cluster!.stopOperator();
    const objects = ['service/ghost', 'cloudloadbalancer/ghost', 'cloudroute/ghost', ...stacks.map((stack) => `cloudstack/${stack}`)];
    for (const object of objects) {
      await cluster!.kubectl(['delete', object, '--wait=false', '--ignore-not-found']);
      const patch = ['patch', object, '--type', 'merge', '-p', '{"metadata":{"finalizers":null}}'];
      await cluster!.kubectl(patch).catch((error: unknown) => expect(String(error)).toContain('not found'));
    }
    await cluster!.startOperator();
    const found = await sweep();
    const rowsOf = (stack: string): string[] =>
      found.split('\n').flatMap((row) => new RegExp(`^${stack} +aws +(\\S+)`).exec(row)?.[1] ?? []);
    const [ofBalancer = [], ofRoute = []] = stacks.map(rowsOf);
    const made = ['ec2/securityGroup:SecurityGroup', 'lb/listener:Listener', 'lb/loadBalancer:LoadBalancer', 'lb/targetGroup:TargetGroup'];
    expect(ofBalancer).toEqual(expect.arrayContaining(made.map((type) => `aws:${type}`)));
    expect(ofRoute).toContain('aws:ec2/route:Route');
    expect(await account.content()).toMatchObject({ loadBalancers: 1, targetGroups: 1 });
    expect(await account.nextHop(tableID, destinationCIDR)).toBeDefined();

    const deleted = await sweep('--delete', '--all');
    for (const stack of stacks) expect(deleted).toContain(`deleted: ${stack}`);
    // What all load balancers of the cluster share is left over once the last of them is gone.
    await sweep('--delete', '--all');
    expect(await sweep()).toMatch(/^Nothing is left over/);
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
    expect(await account.rulesOf(nodes)).toBe(rules);
    expect(await account.nextHop(tableID, destinationCIDR)).toBeUndefined();
    for (const stack of stacks) expect(await cluster!.kube.get(SECRETS, `cloud-operator-system/stack-${stack}`)).toBeUndefined();
  }, 240_000);

  /** What `cloud-operator sweep` prints. */
  async function sweep(...args: string[]): Promise<string> {
    const all = [compiled('operator/cli/main'), 'sweep', '--provider', 'aws', '--kubeconfig', cluster!.kubeconfigPath, ...args];
    return (await promisify(execFile)(process.execPath, all)).stdout;
  }

  test('target-node-labels: the matching Nodes alone are targets; a target group that takes another one’s place has them before traffic comes to it', async () => {
    const [edge, other] = [await addNode(), await addNode()];
    for (const { name } of [edge, other]) await scene.initialized(name);
    const label = (node: string, pool: string): Promise<string> => cluster!.kubectl(['label', 'node', node, pool]);
    await label(edge.name, 'pool=edge');
    const annotations = { ...NETWORK, 'service.beta.kubernetes.io/aws-load-balancer-target-node-labels': 'pool=edge' };
    const port = { name: 'dns', port: 53, protocol: 'UDP', nodePort: 31_952 };
    await cluster!.apply(serviceOf('picked', { annotations, ports: [port] }));
    await scene.ready('picked', { timeoutMs: 60_000 });
    const [balancer] = await account.loadBalancers();
    const targets = async (): Promise<string[] | undefined> => (await account.targetsOf(balancer?.LoadBalancerArn ?? ''))[53];
    expect(await targets()).toEqual([edge.id]);
    await label(other.name, 'pool=edge');
    await scene.until('the other one that matches by now', async () => (await targets())?.length === 2);
    await label(other.name, 'pool-');
    await scene.until('the first one alone', async () => (await targets())?.length === 1);
    expect(await targets()).toEqual([edge.id]);

    const steps = /^(CreateTargetGroup|RegisterTargets|(Create|Modify|Delete)Listener|DeleteTargetGroup)$/;
    const changed = async (to: ServicePortSpec & { nodePort: number }): Promise<string[]> => {
      model.calls.length = 0;
      await cluster!.kubectl(['patch', 'service', 'picked', '--type', 'merge', '-p', JSON.stringify({ spec: { ports: [to] } })]);
      const isDone = (): boolean => model.calls.some(({ action }) => action === 'DeleteTargetGroup');
      await scene.until('the former target group to go', () => Promise.resolve(isDone()), 60_000);
      await scene.ready('picked', { timeoutMs: 60_000 });
      expect(await targets()).toEqual([edge.id]);
      return model.calls.map(({ action }) => action).filter((action) => steps.test(action));
    };
    const inOrder = ['CreateTargetGroup', 'RegisterTargets', 'ModifyListener', 'DeleteTargetGroup'];
    // In this order, since moto changes a listener to TCP, and to nothing else of a Network Load Balancer's.
    expect(await changed({ ...port, protocol: 'TCP' })).toEqual(inOrder);
    expect(await changed({ ...port, protocol: 'TCP', nodePort: 31_953 })).toEqual(inOrder);
    await scene.deleteServices('picked');
    expect(await account.content()).toEqual({ loadBalancers: 0, targetGroups: 0, securityGroups: 0 });
  }, 240_000);

  test('a restart with unchanged Services asks for no target group, writes nothing, and knows what is registered when a Node comes', async () => {
    await scene.initialized((await addNode()).name);
    const names = ['one', 'two', 'three'];
    for (const name of names) await cluster!.apply(serviceOf(name, { annotations: NETWORK }));
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
    const writes = model.calls
      .map(({ action }) => action)
      .filter((action) => !/^Describe(Instances|AvailabilityZones|SecurityGroups|SecurityGroupRules|LoadBalancers)$/.test(action));
    expect(writes).toEqual(names.map(() => 'RegisterTargets'));

    model.calls.length = 0;
    await scene.deleteServices(...names);
    const others = /SecurityGroup|NetworkInterfaces|CreateTags|DescribeLoadBalancers/;
    const calls = model.calls.map(({ action }) => action).filter((action) => !others.test(action));
    // A look at the tags is all that a deletion asks for; a listener goes with its load balancer.
    const actions = ['DeleteLoadBalancer', 'DeleteTargetGroup', 'DescribeTags', 'DescribeTags'];
    expect(calls.sort()).toEqual(actions.flatMap((action) => names.map(() => action)));
  }, 180_000);

  test('a Node becomes the machine that its name tells by the id, in DNS or alone, or by the address, or that its providerID names (R-16)', async () => {
    const machines = await account.makeInstances(4, 'prod', nodes);
    const [first = '', second = ''] = machines.map(({ providerID }) => providerID.split('/').at(-1) ?? '');
    namedByID.add(first);
    const names = [`${first}.${REGION}.compute.internal`, second, machines[2]!.nodeName, 'worker-7'];
    expect(names[2]).toMatch(/^ip-10-/);
    const { providerID: own } = machines[3]!;
    await Promise.all(names.map((name) => scene.addNodeObject(name, name === 'worker-7' ? { providerID: own } : {})));
    await scene.addNodeObject('nobody-8');
    for (const [at, name] of names.entries()) {
      const { providerID } = machines[at]!;
      const { spec, metadata, status } = await scene.until(`the addresses of ${name}`, async () => {
        const node = await scene.initialized(name);
        return (node.status?.addresses ?? []).length > 0 ? node : undefined;
      });
      expect(spec.providerID).toBe(providerID);
      expect(metadata.labels).toMatchObject({
        'topology.kubernetes.io/zone': providerID.split('/')[3],
        'topology.kubernetes.io/region': REGION,
        'node.kubernetes.io/instance-type': 't3.large',
      });
      expect(status?.addresses?.map(({ type }) => type)).toContain('InternalIP');
      await scene.until(`the event Synced of ${name}`, async () =>
        (await scene.events('Node', name)).some(({ reason }) => reason === 'Synced'),
      );
    }
    // Neither its name nor a providerID tells a machine: it is named, and waits.
    const told = await scene.until('what is said of nobody-8', async () =>
      (await scene.events('Node', 'nobody-8')).find(({ reason }) => reason === 'InstanceUnclaimed'),
    );
    expect(told.message).toContain('no CloudProvider has an instance named nobody-8 (asked: aws)');
    const waiting = await scene.node('nobody-8');
    expect(waiting !== undefined && isTainted(waiting)).toBe(true);
    await cluster!.kubectl(['delete', 'node', 'nobody-8']);
  }, 60_000);
});
