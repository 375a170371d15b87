import { AWS_LIMITS, type AWSProviderSettings, type CloudProviderSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { Cloud, ConnectContext, ProviderModule } from '../provider';
import { adoptable } from './adopt';
import { AwsAccount } from './config/account';
import { AllMembers } from './members/all-members';
import { compile } from './annotations/annotations';
import { LimitedMembers } from './members/member-limits';
import { ClassicMembers } from './members/classic-members';
import { ClassicElb } from './client/classic-elb';
import { Ec2 } from './client/ec2';
import { ElbV2 } from './client/elbv2';
import { discover, glance } from './discover';
import { AwsInstances } from './nodes/instances';
import { AwsLoadBalancers } from './load-balancers/load-balancers';
import { AwsMembers } from './members/members';
import { discoverLeftRules, leftRulesIn } from './resources/left-rule';
import { leftFor } from './left-for';
import { InstanceMetadata } from './nodes/metadata';
import { NodeGroups } from './nodes/node-groups';
import { assertNodeTags, type NodeTagScope } from './nodes/node-tags';
import { OpenedMembers } from './members/opened-members';
import { clusterTagOf, placeOf } from './config/place';
import { isBareInstanceID, PROVIDER_ID_SCHEME } from './nodes/provider-id';
import { release } from './release';
import { notInService } from './not-in-service';
import { AwsRoutes } from './routes/routes';
import { fromAwsTags, type Tags } from './tags';
import { AwsVolumes } from './volumes';

/** The provider of AWS, the operator's half. */
export const awsProvider: ProviderModule = {
  kind: 'aws',
  providerIDScheme: PROVIDER_ID_SCHEME,
  knowsProviderID: isBareInstanceID,
  programVersion: '1',
  predecessor: 'cloud-provider-aws',
  compile,
  connect,
};

async function connect(spec: CloudProviderSpec, context: ConnectContext): Promise<Cloud> {
  const { aws: given } = spec;
  if (given === undefined) throw new OperatorError('Invalid', 'the CloudProvider has no block spec.aws', { field: 'spec.aws' });
  const { clusterID } = context;
  const metadata = new InstanceMetadata(process.env);
  const { region, vpcID } = await placeOf(spec, process.env, metadata);
  const account = new AwsAccount(given, { ...context, region });
  // A Secret is read at once, so that a mistake is told; what may call AWS comes with the first call or update.
  if (given.credentialsSecretRef !== undefined && given.assumeRole === undefined) await account.renew(true);
  const [ec2, elb] = [new Ec2(account.clientOptions()), new ElbV2(account.clientOptions())];
  const classic = new ClassicElb(account.clientOptions());
  const clients = [ec2, elb, classic];
  const api = { ec2, elb, classic, options: {} };
  const cluster = await clusterTagOf(given, metadata, (id) => tagsOf(ec2, id));
  const aws = { ...given, ...cluster, ...(vpcID !== undefined && { vpcID }) };
  const [scope, machines] = [
    { ...aws, clusterID },
    { ...instanceScope(aws), region },
  ];
  const groups = aws.nodeRules === 'None' ? undefined : new NodeGroups(ec2, machines);
  const instances = new AwsInstances(ec2, machines, nodeTagsOf(given, clusterID), (found) => groups?.saw(found));
  const network = new AwsMembers(elb, instances, clusterID);
  const members = new LimitedMembers(new AllMembers(network, new ClassicMembers(classic, instances, clusterID)), aws.limits);
  const maxRules = aws.limits?.rulesPerSecurityGroup ?? AWS_LIMITS.rulesPerSecurityGroup;
  const shared = aws.nodeRules === 'Shared';
  type Found = Awaited<ReturnType<typeof discover>>;
  const withLeftRules = async (found: Found, stacks?: string[]): Promise<Found> =>
    new Map([...found, ...(stacks === undefined ? [] : await leftRulesIn(stacks, api, scope))]);
  return {
    loadBalancers: new AwsLoadBalancers(scope),
    members: groups === undefined ? members : new OpenedMembers(members, { ec2, groups, clusterID, vpcID, maxRules, shared }),
    instances,
    routes: new AwsRoutes(scope),
    volumes: new AwsVolumes(ec2, region),
    discover: async (stacks, but) => withLeftRules(await discover(api, scope, stacks, but), stacks),
    glance: async () => {
      const seen = await glance(api, scope);
      return { ...seen, discover: async (stacks) => withLeftRules(await seen.discover(stacks), stacks) };
    },
    leftBehind: (known) => discoverLeftRules(api, scope, known),
    notInService: () => notInService(elb),
    adoptable: (stack, input, from, id) => adoptable(api, { ...scope, region }, { stack, input, from, id }),
    leftFor: (serviceUID) => leftFor(api, serviceUID),
    release: (stack, isValid) => release({ ec2, elb, classic }, { scope, stack }, isValid),
    workerSettings: () => ({
      ...account.workerSettings(),
      ...(groups !== undefined && {
        nodeGroups: groups.all,
        maxRules,
      }),
      ...(aws.clusterName !== undefined && { clusterName: aws.clusterName }),
      ...(aws.legacyClusterTag && { legacyClusterTag: true }),
    }),
    prepareUpdate: async () => {
      await account.ensure();
      await groups?.list();
    },
    renewCredentials: async (sessions) => {
      const repaired = await account.renew(sessions);
      clients.forEach((client) => client.forgetCredentials());
      return repaired;
    },
    close: () => Promise.resolve(clients.forEach((client) => client.close())),
  };
}

/** @throws OperatorError Invalid where they are too many */
function nodeTagsOf({ nodeTags }: AWSProviderSettings, clusterID: string): NodeTagScope | undefined {
  if (nodeTags === undefined || clusterID === '') return undefined;
  assertNodeTags({ nodeTags, clusterID });
  return { nodeTags, clusterID };
}

async function tagsOf(ec2: Ec2, instanceID: string): Promise<Tags> {
  try {
    return fromAwsTags((await ec2.instances([{ Name: 'instance-id', Values: [instanceID] }]))[0]?.Tags);
  } catch (thrown) {
    ec2.close();
    throw thrown;
  }
}

/** @throws OperatorError Invalid where nothing says which instances are the cluster's */
function instanceScope(aws: AWSProviderSettings): Omit<ConstructorParameters<typeof AwsInstances>[1], 'region'> {
  const { clusterName, legacyClusterTag, vpcID, nodeIPFamilies, topologyInstanceTypes } = aws;
  if (clusterName === undefined && vpcID === undefined) {
    const remedy = 'Set spec.aws.clusterName, or spec.aws.vpcID.';
    throw new OperatorError('Invalid', `nothing says which instances are the cluster's. ${remedy}`, {
      field: 'spec.aws.clusterName',
      remedy,
    });
  }
  return {
    legacyClusterTag,
    nodeIPFamilies,
    ...(clusterName !== undefined && { clusterName }),
    ...(vpcID !== undefined && { vpcID }),
    ...(topologyInstanceTypes !== undefined && { topologyInstanceTypes: assertPattern(topologyInstanceTypes) }),
  };
}

function assertPattern(pattern: string): string {
  try {
    new RegExp(pattern);
    return pattern;
  } catch (cause) {
    const field = 'spec.aws.topologyInstanceTypes';
    throw new OperatorError('Invalid', `${field}: "${pattern}" is no regular expression: ${(cause as Error).message}`, { field, cause });
  }
}
