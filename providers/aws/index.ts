import type { AWSProviderSettings, CloudProviderSpec } from '../../crds';
import { OperatorError } from '../../operator/base/errors';
import type { Cloud, ConnectContext, ProviderModule } from '../provider';
import { AwsAccount } from './account';
import { compile } from './annotations';
import { Ec2 } from './client/ec2';
import { ElbV2 } from './client/elbv2';
import { discover } from './discover';
import { AwsInstances } from './instances';
import { AwsLoadBalancers } from './load-balancers';
import { AwsMembers } from './members';
import { isBareInstanceID, PROVIDER_ID_SCHEME } from './provider-id';
import { release } from './release';
import { AwsRoutes } from './routes';

/** The provider of AWS, the operator's half. */
export const awsProvider: ProviderModule = {
  kind: 'aws',
  providerIDScheme: PROVIDER_ID_SCHEME,
  knowsProviderID: isBareInstanceID,
  programVersion: '1',
  compile,
  connect,
};

async function connect(spec: CloudProviderSpec, context: ConnectContext): Promise<Cloud> {
  const { aws } = spec;
  if (aws === undefined) throw new OperatorError('Invalid', 'the CloudProvider has no block spec.aws', { field: 'spec.aws' });
  const { clusterID } = context;
  const account = new AwsAccount(spec, aws, context);
  // Workers get what is known. The SDK's chain may call AWS, so that one is asked with the first call.
  if (aws.credentialsSecretRef !== undefined) await account.renew();
  const [ec2, elb] = [new Ec2(account.clientOptions()), new ElbV2(account.clientOptions())];
  const clients = [ec2, elb];
  const instances = new AwsInstances(ec2, { ...instanceScope(aws), region: account.region });
  const scope = { ...aws, clusterID };
  return {
    loadBalancers: new AwsLoadBalancers(scope),
    members: new AwsMembers(elb, instances, clusterID),
    instances,
    routes: new AwsRoutes(scope),
    discover: (stacks) => discover({ ec2, elb, options: {} }, scope, stacks),
    release: (stack, isValid) => release({ ec2, elb }, { scope, stack }, isValid),
    workerSettings: () => account.workerSettings(),
    renewCredentials: async () => {
      await account.renew();
      clients.forEach((client) => client.forgetCredentials());
    },
    close: () => Promise.resolve(clients.forEach((client) => client.close())),
  };
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
