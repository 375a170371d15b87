import type { WaitingPlan } from '../../../crds';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { NONE, Scene, serviceOf } from '../operator/scene';

let cluster: OperatorCluster;
let scene: Scene;

beforeAll(async () => {
  cluster = await OperatorCluster.start();
  scene = new Scene(cluster);
  await scene.addNode('n1');
  await scene.initialized('n1');
}, OPERATOR_CLUSTER_START_MS);

afterAll(() => cluster?.stop());

interface Wanted {
  ports?: number[];
  approval?: 'Auto' | 'Manual';
  placement?: string;
  addresses?: string[];
}

/** A CloudLoadBalancer as a person writes it. */
function balancer(name: string, { ports = [80], approval = 'Manual', placement, addresses }: Wanted = {}): object {
  const listeners = ports.map((port) => ({ name: `p${port}`, port, nodePort: 30_000 + port }));
  const more = { ...(placement !== undefined && { placement: { name: placement } }), ...(addresses !== undefined && { addresses }) };
  const spec = { provider: 'local', listeners, updatePolicy: { approval }, local: {}, ...more };
  return { apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudLoadBalancer', metadata: { name, namespace: 'default' }, spec };
}

/** Waits for a plan other than this one. */
function otherPlan(name: string, than: string): Promise<WaitingPlan> {
  return scene.until(`another plan of ${name} than ${than}`, async () => {
    const plan = await scene.planOf(name);
    return plan.hash === than ? undefined : plan;
  });
}

async function approve(name: string, hash: string): Promise<void> {
  await cluster.kubectl(['annotate', 'clb', name, '--overwrite', `cloud-operator.dev/approve=${hash}`]);
}

async function listenerPorts(name: string): Promise<number[]> {
  return (await scene.inCloud(name)).listeners.map(({ port }) => port).sort((a, b) => a - b);
}

async function remove(...names: string[]): Promise<void> {
  await cluster.kubectl(['delete', 'clb', '--wait=false', ...names]);
  for (const name of names) await scene.gone(`CloudLoadBalancer ${name}`, () => scene.loadBalancer(name));
}

describe('with approval: Manual', () => {
  test('creation waits, says what it would do, and goes on when its plan is approved', async () => {
    await cluster.cloud.resetCalls();
    await cluster.apply(balancer('web'));
    const { message } = await scene.condition('web', 'Reconciling', 'AwaitingApproval');
    const plan = await scene.planOf('web');
    expect(message).toContain(`kubectl annotate cloudloadbalancer -n default web --overwrite cloud-operator.dev/approve=${plan.hash}`);
    expect(message).toContain('3 to create');
    expect(plan.operations.map(({ op, type }) => `${op} ${type}`).sort()).toEqual([
      'create local:index:Address',
      'create local:index:LoadBalancer',
      'create local:index:TargetPool',
    ]);
    expect((await scene.events('CloudLoadBalancer', 'web')).map(({ reason }) => reason)).toEqual(['AwaitingApproval']);
    await scene.settled();
    expect((await cluster.operatorCalls()).writes).toBe(0);
    expect(await scene.counts()).toEqual(NONE);
    expect((await scene.stackOf('web')).status?.conditions?.[0]).toMatchObject({ status: 'False', reason: 'AwaitingApproval' });

    await approve('web', plan.hash);
    await scene.ready('web');
    expect(await scene.counts('web')).toEqual({ addresses: 1, pools: 1, loadbalancers: 1 });
    const { status } = await scene.stackOf('web');
    expect(status?.plans).toBeUndefined();
    expect(status?.conditions?.[0]).toMatchObject({ type: 'Ready', status: 'True', reason: 'Ready' });
  });

  test('a change waits while the earlier version serves; what was approved is outdated when the spec changes again', async () => {
    await cluster.apply(balancer('web', { ports: [80, 443] }));
    const first = await scene.planOf('web');
    const pool = first.operations.find(({ op }) => op === 'create');
    const changed = first.operations.find(({ op }) => op === 'update');
    expect([pool?.type, changed?.type]).toEqual(['local:index:TargetPool', 'local:index:LoadBalancer']);
    expect(changed?.properties).toContainEqual({ path: 'listeners[0].port', old: '80', new: '443' });

    await cluster.apply(balancer('web', { ports: [80, 8443] }));
    const second = await otherPlan('web', first.hash);
    await approve('web', first.hash);
    const { message } = await scene.until('to be told that the approval is outdated', async () => {
      const condition = await scene.condition('web', 'Reconciling', 'AwaitingApproval');
      return condition.message.includes(`approves ${first.hash}, which is not this plan`) ? condition : undefined;
    });
    expect(message).toContain(second.hash);
    await scene.settled();
    expect(await listenerPorts('web')).toEqual([80]);
    const [ready] = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
    expect(ready).toMatchObject({ type: 'Ready', status: 'True', reason: 'AwaitingApproval' });

    await approve('web', second.hash);
    await scene.ready('web');
    expect(await listenerPorts('web')).toEqual([80, 8443]);
  });

  test('a plan and its approval outlive the operator; members go on meanwhile', async () => {
    await cluster.apply(balancer('web', { ports: [80, 8443, 9000] }));
    const { hash } = await scene.planOf('web');
    await cluster.killOperator();
    await cluster.startOperator();
    await scene.addNode('n2');
    await scene.initialized('n2');
    await scene.until('the new Node to be a target', async () => (await scene.targets('web', 'p80')).length === 2);
    expect(await listenerPorts('web')).toEqual([80, 8443]);
    expect((await scene.planOf('web')).hash).toBe(hash);
    await cluster.stopOperator();
    await approve('web', hash);
    await cluster.startOperator();
    await scene.ready('web');
    expect(await listenerPorts('web')).toEqual([80, 8443, 9000]);
  });

  test('going back to what is there needs no approval, and deletion neither', async () => {
    await cluster.apply(balancer('web', { ports: [443] }));
    await scene.planOf('web');
    await cluster.apply(balancer('web', { ports: [80, 8443, 9000] }));
    await scene.ready('web');
    await scene.until('the plan to be gone', async () => (await scene.stackOf('web')).status?.plans === undefined);
    await cluster.apply(balancer('web', { ports: [443] }));
    await scene.planOf('web');
    await remove('web');
    expect(await scene.counts('web')).toEqual(NONE);
  });

  test('in a shared stack the others go on', async () => {
    await cluster.apply(
      balancer('held', { ports: [81], placement: 'edge' }),
      balancer('free', { ports: [82], approval: 'Auto', placement: 'edge' }),
    );
    await scene.ready('free');
    await scene.planOf('held');
    await cluster.apply(balancer('free', { ports: [83], approval: 'Auto', placement: 'edge' }));
    await scene.ready('free');
    // What the other has changed is in the plan by then.
    await scene.settled();
    const { hash } = await scene.planOf('held');
    await approve('held', hash);
    await scene.ready('held');
    await scene.ready('free');
    const [shared] = await cluster.resources.list('loadbalancers');
    expect(shared?.listeners.map(({ port }) => port).sort()).toEqual([81, 83]);
    await remove('held', 'free');
  });

  test('CloudRoutes wait too, each by itself, and their deletion doesn’t', async () => {
    const route = (name: string, at: number, { nodeName = 'n1', approval = 'Manual' } = {}): object => ({
      ...{ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name } },
      spec: { provider: 'local', destinationCIDR: `10.250.${at}.0/24`, nodeName, updatePolicy: { approval } },
    });
    const instances = new Map((await cluster.resources.list('instances')).map(({ id, name }) => [id, name]));
    const inCloud = async (): Promise<string[]> => {
      const routes = (await scene.content()).routes.filter(({ destinationCIDR }) => destinationCIDR.startsWith('10.250.'));
      return routes.map(({ destinationCIDR, instanceID }) => `${destinationCIDR} ${instances.get(instanceID)}`).sort();
    };
    const become = (...expected: string[]): Promise<boolean> =>
      scene.until(`routes ${expected.join(', ')}`, async () => {
        const now = await inCloud();
        if (now.join() === expected.join()) return true;
        throw new Error(now.join());
      });
    const planned = (name: string, than = ''): Promise<WaitingPlan> =>
      scene.until(`a plan of route ${name}`, async () => {
        const { status } = (await scene.route(name)) ?? {};
        const plans = (await scene.stack(status?.stack ?? ''))?.status?.plans ?? [];
        const said = JSON.stringify(status ?? {});
        return plans.find(({ member, hash }) => member === name && hash !== than && said.includes(hash));
      });
    const approved = (name: string, { hash }: WaitingPlan): Promise<string> =>
      cluster.kubectl(['annotate', 'cloudroute', name, '--overwrite', `cloud-operator.dev/approve=${hash}`]);

    await cluster.apply(route('held', 1), route('free', 2, { approval: 'Auto' }));
    await become('10.250.2.0/24 n1');
    // What the other has made is in the plan by then.
    await scene.settled();
    const first = await planned('held');
    expect(first.operations).toEqual([expect.objectContaining({ op: 'create', type: 'local:index:Route' })]);
    expect(await inCloud()).toEqual(['10.250.2.0/24 n1']);
    await approved('held', first);
    await become('10.250.1.0/24 n1', '10.250.2.0/24 n1');

    await cluster.apply(route('held', 1, { nodeName: 'n2' }));
    const second = await planned('held', first.hash);
    await scene.settled();
    expect(await inCloud()).toEqual(['10.250.1.0/24 n1', '10.250.2.0/24 n1']);
    await approved('held', second);
    await become('10.250.1.0/24 n2', '10.250.2.0/24 n1');
    await cluster.kubectl(['delete', 'cloudroutes', '--timeout=20s', 'held', 'free']);
    await become();
  });

  test('a move that deletes first shows what goes in the old stack too, and is approved with that', async () => {
    const fixed = { addresses: ['10.201.0.88'] };
    await cluster.apply(
      balancer('fixed', { ...fixed, approval: 'Auto' }),
      balancer('beside', { ports: [81], approval: 'Auto', placement: 'corner' }),
    );
    await scene.ready('beside');
    await scene.ready('fixed');
    const old = (await scene.stackOf('fixed')).metadata.name;
    const corner = (await scene.stackOf('beside')).metadata.name;
    await cluster.apply(balancer('fixed', { ...fixed, placement: 'corner' }));
    const plan = await scene.until('the plan of the move', async () =>
      (await scene.stack(corner))?.status?.plans?.find(({ member }) => member === 'default/fixed'),
    );
    const shown = plan.operations.map(({ op, type, stack }) => `${op} ${type.split(':').at(-1)} ${stack === undefined ? 'here' : stack}`);
    expect(shown.filter((one) => one.endsWith(old)).sort()).toEqual(
      ['Address', 'LoadBalancer', 'TargetPool'].map((type) => `delete ${type} ${old}`),
    );
    expect(shown.filter((one) => one.endsWith('here'))).toEqual(expect.arrayContaining(['create Address here', 'create TargetPool here']));
    const { message } = await scene.condition('fixed', 'Reconciling', 'AwaitingApproval');
    expect(message).toContain(`stack ${old} gives up first: `);
    await scene.settled();
    expect((await scene.inCloud('fixed')).listeners.map(({ port }) => port)).toEqual([80]);
    await approve('fixed', plan.hash);
    await scene.gone('the old stack', () => scene.stack(old));
    await scene.ready('fixed');
    expect((await scene.content()).addresses.filter(({ ip }) => ip === '10.201.0.88')).toHaveLength(1);
    await remove('fixed', 'beside');
    for (const name of ['fixed', 'beside']) expect(await scene.counts(name)).toEqual(NONE);
  });

  test('the load balancer of a Service keeps what a person has set on it', async () => {
    await cluster.apply(serviceOf('shop'));
    await scene.published('shop');
    await cluster.kubectl(['patch', 'clb', 'shop', '--type', 'merge', '-p', '{"spec":{"updatePolicy":{"approval":"Manual"}}}']);
    await scene.ready('shop');
    await cluster.apply(serviceOf('shop', { ports: [{ name: 'http', port: 8080 }] }));
    const { hash } = await scene.planOf('shop');
    await approve('shop', hash);
    await scene.ready('shop');
    expect(await listenerPorts('shop')).toEqual([8080]);
    await scene.deleteServices('shop');
  });
});

test('with approval: Manual on the CloudProvider every load balancer of it waits, and says who asks; its routes go on', async () => {
  const set = (approval: string | null): Promise<string> =>
    cluster.kubectl(['patch', 'cloudprovider', 'local', '--type=merge', '-p', JSON.stringify({ spec: { updatePolicy: { approval } } })]);
  await set('Manual');
  await cluster.apply(balancer('whole', { approval: 'Auto' }));
  const { message } = await scene.condition('whole', 'Reconciling', 'AwaitingApproval');
  expect(message).toContain('spec.updatePolicy.approval of its CloudProvider is Manual');
  const spec = { provider: 'local', destinationCIDR: '10.250.9.0/24', nodeName: 'n1' };
  await cluster.apply({ apiVersion: 'cloud-operator.dev/v1alpha1', kind: 'CloudRoute', metadata: { name: 'beside' }, spec });
  await scene.until('the route', async () =>
    (await scene.content()).routes.some(({ destinationCIDR }) => destinationCIDR === spec.destinationCIDR),
  );
  await approve('whole', (await scene.planOf('whole')).hash);
  await scene.ready('whole');

  await cluster.apply(balancer('whole', { approval: 'Auto', ports: [80, 443] }));
  await scene.condition('whole', 'Reconciling', 'AwaitingApproval');
  await set(null);
  await scene.ready('whole');
  expect(await listenerPorts('whole')).toEqual([80, 443]);
  await cluster.kubectl(['delete', 'cloudroute', 'beside']);
  await remove('whole');
});

describe('who may approve', () => {
  const POLICY = 'approval.cloud-operator.dev';
  const binding = (user: string, role: string): object => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${user}-${role}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `cloud-operator-${role}` },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
  const as = (user: string, ...args: string[]): Promise<string> => cluster.kubectl([`--as=${user}`, ...args]);
  const policy = (user: string, updatePolicy: object): Promise<string> =>
    as(user, 'patch', 'clb', 'guarded', '--type', 'merge', '-p', JSON.stringify({ spec: { updatePolicy } }));

  beforeAll(async () => {
    await cluster.apply(...['view', 'edit'].map((role) => binding('eve', role)));
    await cluster.apply(...['view', 'edit', 'approve'].map((role) => binding('ann', role)));
    await cluster.apply(balancer('guarded'));
  });

  test('only who has the verb: neither the annotation nor a looser policy is taken from anybody else', async () => {
    const { hash } = await scene.planOf('guarded');
    const annotation = `cloud-operator.dev/approve=${hash}`;
    const refused = /ValidatingAdmissionPolicy .*approval.cloud-operator.dev.*verb approve/;
    await expect(as('eve', 'annotate', 'clb', 'guarded', annotation)).rejects.toThrow(refused);
    await expect(policy('eve', { approval: 'Auto' })).rejects.toThrow(refused);
    await expect(policy('eve', { replace: 'Allow' })).rejects.toThrow(refused);
    await as('eve', 'annotate', 'clb', 'guarded', 'example.com/note=mine');
    await as('ann', 'annotate', 'clb', 'guarded', annotation);
    await scene.ready('guarded');
    // What has been approved is no obstacle to who changes something else.
    await as('eve', 'annotate', 'clb', 'guarded', '--overwrite', 'example.com/note=still mine');
    await policy('ann', { replace: 'Allow' });
  });

  test('nor from anybody else that of a CloudProvider', async () => {
    const name = 'changes-cloudproviders';
    const rules = [{ apiGroups: ['cloud-operator.dev'], resources: ['cloudproviders'], verbs: ['get', 'patch'] }];
    const subjects = ['eve', 'ann'].map((user) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }));
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
    await cluster.apply(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name }, roleRef, subjects },
    );
    const set = (user: string, approval: string): Promise<string> =>
      as(user, 'patch', 'cloudprovider', 'local', '--type=merge', '-p', JSON.stringify({ spec: { updatePolicy: { approval } } }));
    await set('eve', 'Manual');
    await expect(set('eve', 'Auto')).rejects.toThrow(/ValidatingAdmissionPolicy .*approval.cloud-operator.dev.*verb approve/);
    await set('ann', 'Auto');
  });

  test('without the policy, Manual is Stalled, and nothing is done until it is there', async () => {
    const stored = await cluster.kubectl(['get', 'validatingadmissionpolicybinding', POLICY, '-o', 'json']);
    await cluster.kubectl(['delete', 'validatingadmissionpolicybinding', POLICY]);
    await cluster.apply(balancer('guarded', { ports: [443] }));
    const { message } = await scene.condition('guarded', 'Stalled', 'ApprovalUnprotected');
    expect(message).toContain(`the cluster has no ValidatingAdmissionPolicy ${POLICY}`);
    expect(await listenerPorts('guarded')).toEqual([80]);
    const { metadata, ...rest } = JSON.parse(stored) as { metadata: { name: string } };
    await cluster.apply({ ...rest, metadata: { name: metadata.name } });
    // Its name alone protects nothing.
    const rulesFor = (resource: string): Promise<string> => {
      const rule = { op: 'replace', path: '/spec/matchConstraints/resourceRules/0/resources', value: [resource] };
      return cluster.kubectl(['patch', 'validatingadmissionpolicy', POLICY, '--type=json', '-p', JSON.stringify([rule])]);
    };
    await rulesFor('cloudroutes');
    await cluster.kubectl(['annotate', 'clb', 'guarded', '--overwrite', 'cloud-operator.dev/reconcile=first']);
    await scene.until('the policy to be found without effect', async () => {
      const found = await scene.condition('guarded', 'Stalled', 'ApprovalUnprotected');
      return found.message.includes('does not cover all cloudloadbalancers');
    });
    expect(await listenerPorts('guarded')).toEqual([80]);
    await rulesFor('cloudloadbalancers');
    await cluster.kubectl(['annotate', 'clb', 'guarded', '--overwrite', 'cloud-operator.dev/reconcile=now']);
    await scene.condition('guarded', 'Reconciling', 'AwaitingApproval');
    await remove('guarded');
  });
});
