import { EC2 } from '@aws-sdk/client-ec2';
import { ElasticLoadBalancing } from '@aws-sdk/client-elastic-load-balancing';
import { ElasticLoadBalancingV2 } from '@aws-sdk/client-elastic-load-balancing-v2';
import { systemClock, type Clock } from '../../../operator/base/clock';
import { ClassicElb } from '../../../providers/aws/client/classic-elb';
import { Ec2 } from '../../../providers/aws/client/ec2';
import { ElbV2 } from '../../../providers/aws/client/elbv2';
import { discover } from '../../../providers/aws/discover';
import { AwsInstances } from '../../../providers/aws/nodes/instances';
import { ClassicMembers } from '../../../providers/aws/members/classic-members';
import { AwsMembers } from '../../../providers/aws/members/members';
import { OWN_PACKAGE } from '../../../providers/resource-provider/own-package';
import { resourceTypes } from '../../../providers/aws/resources';
import { VpcListings } from '../../../providers/aws/resources/vpc-listings';
import { AWS_VERSION, workerModule } from '../../../providers/aws/worker';
import type { DiscoveredResource } from '../../../providers/provider';
import type { UpdateContext } from '../../../providers/worker-module';
import type { AwsModel } from '../../harness/aws-model/aws-model';
import { ProgramRunner } from '../../harness/program-runner';
import { REGION } from './moto-account';

export const CLUSTER = '0a1b2c3d-1111-4222-8333-444455556666';
export const SCOPE = { clusterID: CLUSTER, legacyClusterTag: false, routesPerTable: 50 };

/** Our own clients give up early, so that what lasts fails soon. */
const BUDGET_MS = 3_000;

/** A model with the clients of the provider, and with AWS's own, in front of the one moto. */
export class Scene {
  readonly ec2: EC2;
  readonly elb: ElasticLoadBalancingV2;
  readonly classic: ElasticLoadBalancing;
  readonly clients: { ec2: Ec2; elb: ElbV2; classic: ClassicElb };

  /** @param model that serves */
  constructor(
    readonly model: AwsModel,
    clock: Clock = systemClock,
  ) {
    const { url } = model;
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' };
    const config = { region: REGION, endpoint: url, credentials, maxAttempts: 1 };
    [this.ec2, this.elb] = [new EC2(config), new ElasticLoadBalancingV2(config)];
    this.classic = new ElasticLoadBalancing(config);
    const settings = { region: REGION, endpoints: { EC2: url, ElasticLoadBalancingV2: url }, credentials };
    const options = { settings, clock, budgetMs: BUDGET_MS };
    this.clients = { ec2: new Ec2(options), elb: new ElbV2(options), classic: new ClassicElb(options) };
  }

  /** @param nodeGroups security groups of the Nodes, as far as they are known */
  runner(stack: string, nodeGroups: string[] = [], maxRules?: number): ProgramRunner {
    const context: UpdateContext = {
      stack,
      clusterID: CLUSTER,
      assertValid: () => undefined,
      countCall: () => undefined,
      syncTargets: () => Promise.resolve(),
    };
    const { official, own } = resourceTypes(
      this.clients,
      { region: REGION, nodeGroups, clusterName: 'prod', ...(maxRules !== undefined && { maxRules }) },
      context,
      new VpcListings(systemClock).of(stack, this.clients.ec2),
    );
    const aws = { package: 'aws', version: AWS_VERSION, types: official };
    return new ProgramRunner(workerModule, [aws, { package: OWN_PACKAGE, version: '1.0.0', types: own }], stack);
  }

  members(): AwsMembers {
    const instances = new AwsInstances(this.clients.ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    return new AwsMembers(this.clients.elb, instances, CLUSTER);
  }

  classicMembers(): ClassicMembers {
    const instances = new AwsInstances(this.clients.ec2, { region: REGION, clusterName: 'prod', nodeIPFamilies: ['IPv4'] });
    return new ClassicMembers(this.clients.classic, instances, CLUSTER);
  }

  /** What discovery finds of a stack. */
  async found(stack: string): Promise<DiscoveredResource[]> {
    return (await discover({ ...this.clients, options: {} }, SCOPE, [stack])).get(stack) ?? [];
  }

  async end(): Promise<void> {
    for (const client of [this.ec2, this.elb, this.classic]) client.destroy();
    for (const client of Object.values(this.clients)) client.close();
    await this.model.stop();
  }
}
