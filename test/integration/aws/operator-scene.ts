import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { minimalEnvironment } from '../../../dev/cluster/process-guard';
import { CALLS } from '../../../providers/aws/iam-policy';
import { AwsModel } from '../../harness/aws-model/aws-model';
import type { MotoState, Rule } from '../../harness/aws-model/rule';
import { alwaysRules } from '../../harness/aws-model/rules';
import { startMoto, type Moto } from '../../harness/moto';
import { OPERATOR_CLUSTER_START_MS, OperatorCluster } from '../../harness/operator-cluster';
import { Scene } from '../operator/scene';
import { MotoAccount, REGION } from './moto-account';

/** Of the account: it may stand in no object and in no log. */
export const SECRET_KEY = 'planted-secret-of-the-account-0123456789';
/** Asks for a Network Load Balancer. */
export const NETWORK = { 'service.beta.kubernetes.io/aws-load-balancer-type': 'nlb' };

/**
 * Before the tests of a block, one with a Node, which ends after them.
 * @param receive what else is done before them
 */
export function withAwsScene(receive: (aws: AwsOperatorScene) => void | Promise<void>, rules: Rule[] = [], pulumi?: string): void {
  let aws: AwsOperatorScene | undefined;
  beforeAll(async () => {
    aws = await AwsOperatorScene.start(rules, pulumi);
    await aws.scene.initialized((await aws.addNode()).name);
    await receive(aws);
  }, OPERATOR_CLUSTER_START_MS);
  afterAll(() => aws?.stop());
}

/** Somebody deletes the security groups that were made for the cluster. */
export async function deleteOurGroups({ ec2 }: MotoState): Promise<void> {
  const { SecurityGroups = [] } = await ec2.describeSecurityGroups({});
  const ours = SecurityGroups.filter(({ GroupName = '' }) => GroupName.startsWith('k8s-'));
  for (const { GroupId } of ours) await ec2.deleteSecurityGroup({ GroupId });
}

/** A cluster whose operator works on an account of AWS, run in place of cloud-provider-aws: upstream's flags and file, and credentials where the SDK finds them. */
export class AwsOperatorScene {
  readonly scene: Scene;

  private constructor(
    readonly cluster: OperatorCluster,
    readonly account: MotoAccount,
    readonly model: AwsModel,
    private readonly parts: { moto: Moto; nodes: string; directory: string; official: boolean },
  ) {
    this.scene = new Scene(cluster);
  }

  /** Id of the Nodes' security group. */
  get nodes(): string {
    return this.parts.nodes;
  }

  /**
   * @param rules what AWS does beside what it always does
   * @param pulumi path of the Pulumi CLI; absent = the pinned one
   */
  static async start(rules: Rule[] = [], pulumi?: string): Promise<AwsOperatorScene> {
    const directory = mkdtempSync(join(tmpdir(), 'aws-operator-'));
    const moto = await startMoto();
    const account = new MotoAccount(moto.url);
    await account.prepare();
    const model = new AwsModel(moto.url, REGION, [...rules, ...alwaysRules()]);
    await model.start();
    await account.openToInternet();
    const nodes = await account.nodeGroup();
    const file = join(directory, 'cloud.conf');
    writeFileSync(file, account.upstreamConfig(model.url));
    const credentials = { AWS_EC2_METADATA_DISABLED: 'true', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: SECRET_KEY };
    const cluster = await OperatorCluster.start({
      flags: ['--cloud-provider=aws', `--cloud-config=${file}`],
      environment: { ...minimalEnvironment(), ...credentials },
      ...(pulumi !== undefined && { pulumi }),
    });
    return new AwsOperatorScene(cluster, account, model, { moto, nodes, directory, official: pulumi !== undefined });
  }

  /** @throws where something was asked for that the IAM policy does not allow; AWS's own plugin asks for more (docs/clouds/aws.md, "The official plugin") */
  async stop(): Promise<void> {
    await this.cluster.stop();
    this.account.close();
    await this.model.stop();
    await this.parts.moto.stop();
    rmSync(this.parts.directory, { recursive: true, force: true });
    const allowed = new Set(Object.values(CALLS).flatMap((calls) => Object.keys(calls)));
    if (!this.parts.official) expect([...this.model.actions].filter((action) => !allowed.has(action))).toEqual([]);
  }

  /** A machine in the account, and the Node that its kubelet would register. */
  async addNode(): Promise<{ name: string; id: string }> {
    const [machine] = await this.account.makeInstances(1, 'prod', this.nodes);
    await this.scene.addNodeObject(machine!.nodeName);
    return { name: machine!.nodeName, id: machine!.providerID.split('/').at(-1) ?? '' };
  }

  hostname(name: string): Promise<string> {
    return this.scene.until(`a host name of Service ${name}`, async () => {
      return (await this.scene.service(name))?.status?.loadBalancer?.ingress?.[0]?.hostname;
    });
  }
}
