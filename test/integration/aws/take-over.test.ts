import { join } from 'node:path';
import { ANNOTATIONS, API_VERSION, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../../operator/entry';
import { LEASES, NODES, SERVICES, type KubeObject } from '../../../operator/kube/object';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene, serviceOf } from '../operator/scene';
import { MotoAccount, REGION } from './moto-account';
import { type Standing, Upstream } from './upstream';

type Lease = KubeObject & { spec: { holderIdentity?: string } };

const LEASE = 'kube-system/cloud-controller-manager';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const SLOW_MS = 120_000;

/** docs/migrate/aws.md, step by step: what stands is what cloud-provider-aws has made, and would find again. */
describeWithMoto('Taking over from cloud-provider-aws, and stepping back', () => {
  let moto: Moto;
  let model: AwsModel;
  let account: MotoAccount;
  let upstream: Upstream;
  let cluster: OperatorCluster;
  let scene: Scene;
  let arn: string;
  let before: Standing;
  let hostname: string;

  beforeAll(async () => {
    moto = await startMoto();
    model = new AwsModel(moto.url, REGION);
    await model.start();
    account = new MotoAccount(model.url);
    await account.prepare();
    await account.openToInternet();
    upstream = new Upstream(model.url, account);
    const environment = {
      ...minimalEnvironment(),
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
    cluster = await OperatorCluster.start({ started: false, environment });
    scene = new Scene(cluster);
    await cluster.kubectl(['apply', '-f', join(PROJECT_ROOT, 'crds/generated')]);
    await makeClusterOfUpstream();
  }, OPERATOR_CLUSTER_START_MS + 60_000);
  afterAll(async () => {
    await cluster.stop();
    upstream.close();
    account.close();
    await model.stop();
    await moto.stop();
  });

  /** A Node that was initialized, and a Service that is served. */
  async function makeClusterOfUpstream(): Promise<void> {
    const nodes = await account.nodeGroup();
    const [machine] = await account.makeInstances(1, 'prod', nodes);
    const { nodeName: name, providerID } = machine!;
    await cluster.kube.create(NODES, undefined, { metadata: { name }, spec: { providerID } });
    await scene.setReady(name, true);
    const annotations = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb', [ANNOTATIONS.provider]: 'aws' };
    await cluster.apply(serviceOf('web', { annotations }));
    const service = (await scene.service('web'))!;
    const ports = (service.spec.ports ?? []).map(({ port, nodePort = 0 }) => ({ port, nodePort }));
    const { uid } = service.metadata;
    arn = await upstream.network({ uid, namespace: 'default', name: 'web', ports }, [providerID.split('/').at(-1) ?? '']);
    before = await upstream.standing(arn);
    hostname = before.balancer.DNSName ?? '';
    await cluster.kube.patch(SERVICES, 'default/web', 'merge', { metadata: { finalizers: [FINALIZER] } });
    const status = { loadBalancer: { ingress: [{ hostname }] } };
    await cluster.kube.patch(SERVICES, 'default/web', 'merge', { status }, { subresource: 'status' });
    const { aws, ...spec } = account.providerSpec();
    const settings = { ...aws, credentialsSecretRef: undefined };
    await applyProvider({ ...spec, aws: settings, managementPolicy: 'Observe', policy: { adoption: ['Upstream'] }, sweepInterval: '0s' });
  }

  const applyProvider = (spec: object): Promise<void> =>
    cluster.apply({ apiVersion: API_VERSION, kind: 'CloudProvider', metadata: { name: 'aws' }, spec });

  const setPolicy = (managementPolicy: string): Promise<string> =>
    cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type=merge', '-p', JSON.stringify({ spec: { managementPolicy } })]);

  const writesOf = (): string[] => model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'));

  /** Versions of what is not ours. */
  async function foreign(): Promise<string[]> {
    const objects = [...(await cluster.kube.list<KubeObject>(SERVICES)), ...(await cluster.kube.list<KubeObject>(NODES))];
    return objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  }

  test('observed beside the controller that runs: the plan is shown, and nothing is written to the cloud, the Service and the Node', async () => {
    await cluster.kubectl(['annotate', 'service', 'web', `${ANNOTATIONS.adopt}=Upstream`]);
    const versions = await foreign();
    model.calls.length = 0;
    await cluster.startOperator();
    const plan = await scene
      .until('the plan', async () => (await scene.stackOf('web')).status?.plans?.[0], SLOW_MS)
      .catch(async (thrown: unknown) => {
        const said = JSON.stringify([await scene.loadBalancer('web'), await scene.provider('aws')]);
        throw new Error(`${said} ${cluster.operatorLog().slice(-3000)}`, { cause: thrown });
      });
    expect(plan.summary).toContain(' 0 to replace, 0 to delete,');
    expect(plan.reason).toContain('Service default/web, cluster prod');
    expect((await scene.condition('web', 'Ready', 'Observed', { status: 'False' })).message).toContain('it would be taken over');
    await scene.until('the CloudProvider to say so', async () =>
      (await scene.provider('aws'))?.status?.conditions?.some(({ reason }) => reason === 'Observed'),
    );
    expect(writesOf()).toEqual([]);
    expect(await foreign()).toEqual(versions);
    expect(await scene.events('Service', 'web')).toEqual([]);
    expect(await upstream.standing(arn)).toEqual(before);
  }, 300_000);

  test('the Lease is handed over, and what stands is adopted: same address, only our marks are added', async () => {
    await cluster.stopOperator();
    await setPolicy('Default');
    model.calls.length = 0;
    await cluster.startOperator(['--leader-elect=true']);
    await scene.until('the Lease to be ours', async () => (await cluster.kube.get<Lease>(LEASES, LEASE))?.spec.holderIdentity);
    await scene.ready('web', { timeoutMs: SLOW_MS });
    // what stands in for upstream here has not let it in to the Nodes
    expect(new Set(writesOf())).toEqual(new Set(['AddTags', 'AuthorizeSecurityGroupIngress']));
    const after = await upstream.standing(arn);
    expect({ ...after, tags: undefined }).toEqual({ ...before, tags: undefined });
    expect((await scene.service('web'))?.status?.loadBalancer?.ingress).toEqual([{ hostname }]);
    const [adopted] = (await scene.events('CloudLoadBalancer', 'web')).filter(({ reason }) => reason === 'Adopted');
    expect(adopted?.message).toContain('3 resources from another controller');
  }, 300_000);

  test('a step back: the controller of before finds its names and tags, and its Service and load balancer are its own again', async () => {
    await setPolicy('Observe');
    await scene.until(
      'the load balancer to be observed',
      async () => {
        const conditions = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
        return conditions.some(({ reason }) => reason === 'Observed');
      },
      SLOW_MS,
    );
    const standing = await upstream.standing(arn);
    for (const [id, tags] of Object.entries(before.tags)) expect(standing.tags[id]).toEqual(expect.objectContaining(tags));
    expect({ ...standing, tags: undefined }).toEqual({ ...before, tags: undefined });
    expect((await scene.service('web'))?.metadata.finalizers).toEqual([FINALIZER]);
    model.calls.length = 0;
    await cluster.kubectl(['delete', 'service', 'web', '--wait=false']);
    await scene.gone('CloudLoadBalancer default/web', () => cluster.kube.get(CLOUD_LOAD_BALANCERS, 'default/web'), SLOW_MS);
    expect((await scene.service('web'))?.metadata.finalizers).toEqual([FINALIZER]);
    expect(writesOf()).toEqual([]);
    expect(await upstream.standing(arn)).toEqual(standing);
  }, 300_000);

  /** What upstream has made for a Service that nobody has annotated. @returns its load balancer's ARN */
  async function serveByUpstream(name: string): Promise<string> {
    const annotations = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb', [ANNOTATIONS.provider]: 'aws' };
    await cluster.apply(serviceOf(name, { annotations }));
    const { metadata, spec } = (await scene.service(name))!;
    const ports = (spec.ports ?? []).map(({ port, nodePort = 0 }) => ({ port, nodePort }));
    const made = await upstream.network({ uid: metadata.uid, namespace: 'default', name, ports }, []);
    const status = { loadBalancer: { ingress: [{ hostname: `${name}.elb.example` }] } };
    await cluster.kube.patch(SERVICES, `default/${name}`, 'merge', { metadata: { finalizers: [FINALIZER] } });
    await cluster.kube.patch(SERVICES, `default/${name}`, 'merge', { status }, { subresource: 'status' });
    return made;
  }

  /** Waits until the Service says that it is held for the load balancer. */
  const held = (name: string, id: string): Promise<unknown> =>
    scene.until(
      `Service ${name} to be held`,
      async () => {
        const service = await scene.service(name);
        const condition = service?.status?.conditions?.find(({ reason }) => reason === 'LeftBehind');
        if (condition?.message?.includes(id) === true) return true;
        throw new Error(JSON.stringify([service, await scene.events('Service', name)]));
      },
      SLOW_MS,
    );

  test('a Service that is deleted before its load balancer was taken over is held, and goes once that is gone', async () => {
    await cluster.stopOperator();
    const [gap, conflicting] = [await serveByUpstream('gap'), await serveByUpstream('conflicting')];
    await cluster.kubectl(['delete', 'service', 'gap', '--wait=false']);
    const before = [await upstream.standing(gap), await upstream.standing(conflicting)];
    await setPolicy('Default');
    await cluster.startOperator(['--leader-elect=true']);
    await held('gap', gap);
    expect((await scene.events('Service', 'gap')).map(({ reason }) => reason)).toEqual(['SyncLoadBalancerFailed']);

    await scene.condition('conflicting', 'Ready', 'Conflict', { status: 'False' });
    await cluster.kubectl(['delete', 'service', 'conflicting', '--wait=false']);
    await held('conflicting', conflicting);
    expect([await upstream.standing(gap), await upstream.standing(conflicting)]).toEqual(before);

    await upstream.elb.deleteLoadBalancer({ LoadBalancerArn: gap });
    await scene.gone('Service gap', () => scene.service('gap'), SLOW_MS);
    await cluster.kube.patch(SERVICES, 'default/conflicting', 'merge', { metadata: { finalizers: null } });
    await scene.gone('Service conflicting', () => scene.service('conflicting'), SLOW_MS);
    expect(await upstream.standing(conflicting)).toEqual(before[1]);
  }, 300_000);
});
