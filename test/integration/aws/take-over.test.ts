import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ANNOTATIONS, CLOUD_LOAD_BALANCERS } from '../../../crds';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { PROJECT_ROOT } from '../../../operator/entry';
import { LEASES, NODES, SERVICES, type KubeObject } from '../../../operator/kube/object';
import { AwsModel } from '../../harness/aws-model/aws-model';
import { describeWithMoto, startMoto, type Moto } from '../../harness/moto';
import { ensureTools } from '../../../tools/ensure';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { snippetsOf } from '../../harness/snippets';
import { Scene, serviceOf } from '../operator/scene';
import { MotoAccount, REGION } from './moto-account';
import { type Standing, Upstream } from './upstream';

type Lease = KubeObject & { spec: { holderIdentity?: string } };

const LEASE = 'kube-system/cloud-controller-manager';
const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const SLOW_MS = 120_000;

/** The commands of docs/migrate/aws.md, in their order: a here-document is one with the command that it is for. */
const COMMANDS = snippetsOf(readFileSync(join(PROJECT_ROOT, 'docs/migrate/aws.md'), 'utf8'), '').flatMap(
  (block) => block.match(/^.*<<EOF\n[^]*?^EOF$|^.+$/gm) ?? [],
);

/** docs/migrate/aws.md, command by command: what stands is what cloud-provider-aws has made, and would find again. */
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
  const folder = mkdtempSync(join(tmpdir(), 'aws-take-over-'));
  const done = new Set<string>();

  /** Runs the page's next command that begins so, as a person does, and gives what it prints. @param filled what the reader has to fill in */
  async function run(beginning: string, filled: Record<string, string> = {}): Promise<string> {
    const command = COMMANDS.find((one) => one.startsWith(beginning) && !done.has(one));
    if (command === undefined) throw new Error(`docs/migrate/aws.md has no more command that begins with ${beginning}`);
    done.add(command);
    // The harness has given the operator its rights before, in a name of its own.
    const mine = command.replace('apply --server-side', 'apply --server-side --force-conflicts');
    const text = Object.entries(filled).reduce((words, [name, value]) => words.replace(name, value), mine);
    const PATH = `${folder}:${process.env.PATH ?? ''}`;
    const env = { ...process.env, DEBUG: '', PATH, KUBECONFIG: cluster.kubeconfigPath, IMAGE: 'example.com/cloud-operator:1' };
    return (await promisify(execFile)('bash', ['-ec', text], { env, cwd: folder, maxBuffer: 64 * 1024 * 1024 })).stdout;
  }

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
    const { kubectl } = await ensureTools(['kubectl']);
    symlinkSync(kubectl, join(folder, 'kubectl'));
    // In place of the package's: npx finds what stands in the folder.
    writeFileSync(
      join(folder, 'npx'),
      `#!/bin/sh\nshift\nexec "${process.execPath}" "${join(PROJECT_ROOT, 'bin/cloud-operator.js')}" "$@"\n`,
      { mode: 0o755 },
    );
    await makeClusterOfUpstream();
  }, OPERATOR_CLUSTER_START_MS + 60_000);
  afterAll(async () => {
    await cluster.stop();
    upstream.close();
    account.close();
    await model.stop();
    await moto.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A Node that was initialized, and a Service that is served. */
  async function makeClusterOfUpstream(): Promise<void> {
    const nodes = await account.nodeGroup();
    const [machine] = await account.makeInstances(1, 'prod', nodes);
    const { nodeName: name, providerID } = machine!;
    await cluster.kube.create(NODES, undefined, { metadata: { name }, spec: { providerID } });
    await scene.setReady(name, true);
    // The last came when the load balancer was there, and upstream passes over that.
    const annotations = { [`${PREFIX}type`]: 'nlb', [ANNOTATIONS.provider]: 'aws', [`${PREFIX}internal`]: 'true' };
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
    const labels = { app: 'aws-cloud-controller-manager' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'ccm', image: 'example.com/ccm:1' }] } };
    const metadata = { name: 'aws-cloud-controller-manager', namespace: 'kube-system' };
    await cluster.apply({ apiVersion: 'apps/v1', kind: 'DaemonSet', metadata, spec: { selector: { matchLabels: labels }, template } });
  }

  /** Where moto stands in for AWS. */
  async function pointToMoto(): Promise<void> {
    const { vpcID, subnetIDs, endpoints } = account.providerSpec().aws ?? {};
    const spec = { sweepInterval: '0s', aws: { vpcID, subnetIDs, endpoints } };
    await cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type=merge', '-p', JSON.stringify({ spec })]);
  }

  const writesOf = (): string[] => model.calls.map(({ action }) => action).filter((action) => !action.startsWith('Describe'));

  /** Versions of what is not ours. */
  async function foreign(): Promise<string[]> {
    const objects = [...(await cluster.kube.list<KubeObject>(SERVICES)), ...(await cluster.kube.list<KubeObject>(NODES))];
    return objects.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  }

  test('observed beside the controller that runs: the plan is shown, and nothing is written to the cloud, the Service and the Node', async () => {
    await run('npx cloud-operator manifests', { FLAGS: '--configure-cloud-routes=false' });
    await run('kubectl apply --server-side -f dist/crds.yaml');
    await run('kubectl apply -f - <<EOF');
    await pointToMoto();
    await run('kubectl apply --server-side -f dist/install.yaml');
    await run('kubectl annotate service web');
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
    expect(await run('kubectl get cloudprovider aws')).toMatch(/aws.*True.*Observed/);
    expect(await run('kubectl get clb web')).toMatch(/web.*False.*Observed/);
    expect(await run("kubectl get clb web -o jsonpath='")).toMatch(/cluster prod: \d+ to create, \d+ to update, 0 to replace, 0 to delete/);
    expect(writesOf()).toEqual([]);
    expect(await foreign()).toEqual(versions);
    expect(await scene.events('Service', 'web')).toEqual([]);
    expect(await upstream.standing(arn)).toEqual(before);
  }, 300_000);

  test('the Lease is handed over, and what stands is adopted: same address, only our marks are added', async () => {
    await cluster.stopOperator();
    await run('kubectl -n kube-system patch daemonset');
    await run('npx cloud-operator manifests', { FLAGS: '--configure-cloud-routes=false' });
    await run('kubectl apply --server-side -f dist/crds.yaml -f dist/install.yaml');
    await run('kubectl patch cloudprovider aws');
    model.calls.length = 0;
    await cluster.startOperator(['--leader-elect=true']);
    await scene.until('the Lease to be ours', async () => (await cluster.kube.get<Lease>(LEASES, LEASE))?.spec.holderIdentity);
    await scene.ready('web', { timeoutMs: SLOW_MS });
    await run('kubectl wait clb/web');
    const described = await run('kubectl describe clb web');
    expect(described).toContain('Took over 3 resources from another controller: Service default/web, cluster prod');
    expect((await scene.loadBalancer('web'))?.status?.keptAsAdopted).toEqual([
      { field: 'spec.scheme', wanted: 'Internal', kept: 'Public' },
    ]);
    expect(described).toMatch(/Kept As Adopted:\s+Field:\s+spec.scheme\s+Kept:\s+Public\s+Wanted:\s+Internal/);
    // what stands in for upstream here has not let it in to the Nodes
    expect(new Set(writesOf())).toEqual(new Set(['AddTags', 'AuthorizeSecurityGroupIngress']));
    const after = await upstream.standing(arn);
    expect({ ...after, tags: undefined }).toEqual({ ...before, tags: undefined });
    expect((await scene.service('web'))?.status?.loadBalancer?.ingress).toEqual([{ hostname }]);
    const [adopted] = (await scene.events('CloudLoadBalancer', 'web')).filter(({ reason }) => reason === 'Adopted');
    expect(adopted?.message).toContain('3 resources from another controller');
  }, 300_000);

  test('a Service of the AWS Load Balancer Controller goes with its load balancer, once that one’s finalizer is taken off', async () => {
    const loadBalancerClass = 'service.k8s.aws/nlb';
    await cluster.kubectl([
      'patch',
      'cloudprovider',
      'aws',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { loadBalancerClasses: [loadBalancerClass] } }),
    ]);
    const ports = [{ name: 'http', port: 80, nodePort: 30_480 }];
    const { arn: theirs } = await upstream.controllerNetwork({ uid: '', namespace: 'default', name: 'lbc', ports }, []);
    const finalizers = ['service.k8s.aws/resources'];
    await cluster.apply(serviceOf('lbc', { annotations: { [ANNOTATIONS.adopt]: 'Upstream' }, spec: { loadBalancerClass }, ports }));
    await cluster.kube.patch(SERVICES, 'default/lbc', 'strategic', { metadata: { finalizers } });
    await scene.ready('lbc', { timeoutMs: SLOW_MS });
    await scene.until('the Event of the take-over', async () =>
      (await scene.events('CloudLoadBalancer', 'lbc')).some(
        ({ reason, message = '' }) => reason === 'Adopted' && message.includes('default/lbc'),
      ),
    );
    await cluster.kubectl(['delete', 'service', 'lbc', '--wait=false']);
    await scene.gone('CloudLoadBalancer default/lbc', () => cluster.kube.get(CLOUD_LOAD_BALANCERS, 'default/lbc'), SLOW_MS);
    expect(await account.loadBalancers()).not.toContainEqual(expect.objectContaining({ LoadBalancerArn: theirs }));
    expect((await scene.service('lbc'))?.metadata.finalizers).toEqual(finalizers);
    await run('kubectl patch service', { web: 'lbc' });
    await scene.gone('Service lbc', () => scene.service('lbc'), SLOW_MS);
  }, 300_000);

  test('a step back: the controller of before finds its names and tags, and its Service and load balancer are its own again', async () => {
    await run('kubectl patch cloudprovider aws');
    await scene.until(
      'the load balancer to be observed',
      async () => {
        const conditions = (await scene.loadBalancer('web'))?.status?.conditions ?? [];
        return conditions.some(({ reason }) => reason === 'Observed');
      },
      SLOW_MS,
    );
    expect(await run('kubectl get clb web')).toMatch(/web.*Observed/);
    await run('kubectl -n kube-system patch daemonset');
    expect(COMMANDS.filter((command) => !done.has(command))).toEqual([]);
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
    await cluster.kubectl(['patch', 'cloudprovider', 'aws', '--type=merge', '-p', '{"spec":{"managementPolicy":"Default"}}']);
    await cluster.startOperator(['--leader-elect=true']);
    await held('gap', gap);
    const told = await scene.until('an Event of it', async () => {
      const found = await scene.events('Service', 'gap');
      return found.length > 0 && found;
    });
    expect(told.map(({ reason }) => reason)).toEqual(['SyncLoadBalancerFailed']);

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
