import type { EC2 } from '@aws-sdk/client-ec2';
import type { ElasticLoadBalancing } from '@aws-sdk/client-elastic-load-balancing';
import type { ElasticLoadBalancingV2 } from '@aws-sdk/client-elastic-load-balancing-v2';
import { TAG } from './tags';

type ClientWords = 'config' | 'send' | 'destroy' | 'middlewareStack';
/** The calls of an API, as the SDK has them: a misspelled one does not compile. */
type ActionsOf<Client> = Capitalize<Exclude<keyof Client & string, ClientWords>>;
type Action =
  | 'iam:CreateServiceLinkedRole'
  | `ec2:${ActionsOf<EC2>}`
  | `elasticloadbalancing:${ActionsOf<ElasticLoadBalancingV2> | ActionsOf<ElasticLoadBalancing>}`;

/**
 * What an action is allowed on. `Any`: AWS has no narrower one for it, or the thing is not made by us. `Ours`: what bears our tag.
 * `Made`: what is made in the same call with our tag. `Linked`: the role by which load balancers work, which their first call in an account makes.
 */
type Scope = 'Any' | 'Ours' | 'Made' | 'Linked';

/** What the provider does, each of it optional but the first. */
export type Capability = 'LoadBalancers' | 'Classic' | 'Members' | 'NodeRules' | 'Instances' | 'NodeTags' | 'Routes' | 'Volumes';

/**
 * Every call that is made, by what it is made for; and what AWS asks EC2 in the caller's name when it makes a load balancer: the account's attributes,
 * its addresses, internet gateways and VPCs (terraform-aws-modules/terraform-aws-eks#183, #900), and since October 2024 the security groups that are
 * shared with a VPC (kubernetes-sigs/aws-load-balancer-controller#3917).
 */
export const CALLS: Readonly<Record<Capability, Readonly<Partial<Record<Action, Scope>>>>> = {
  LoadBalancers: {
    'ec2:DescribeAccountAttributes': 'Any',
    'ec2:DescribeAddresses': 'Any',
    'ec2:DescribeAvailabilityZones': 'Any',
    'ec2:DescribeInternetGateways': 'Any',
    'ec2:DescribeNetworkInterfaces': 'Any',
    'ec2:DescribeRouteTables': 'Any',
    'ec2:DescribeSecurityGroupRules': 'Any',
    'ec2:DescribeSecurityGroups': 'Any',
    'ec2:DescribeSubnets': 'Any',
    'ec2:DescribeVpcs': 'Any',
    'ec2:GetSecurityGroupsForVpc': 'Any',
    'elasticloadbalancing:DescribeAccountLimits': 'Any',
    'elasticloadbalancing:DescribeCapacityReservation': 'Any',
    'elasticloadbalancing:DescribeListenerAttributes': 'Any',
    'elasticloadbalancing:DescribeListenerCertificates': 'Any',
    'elasticloadbalancing:DescribeListeners': 'Any',
    'elasticloadbalancing:DescribeLoadBalancerAttributes': 'Any',
    'elasticloadbalancing:DescribeLoadBalancers': 'Any',
    'elasticloadbalancing:DescribeTags': 'Any',
    'elasticloadbalancing:DescribeTargetGroupAttributes': 'Any',
    'elasticloadbalancing:DescribeTargetGroups': 'Any',
    'ec2:AuthorizeSecurityGroupEgress': 'Ours',
    'ec2:AuthorizeSecurityGroupIngress': 'Ours',
    'ec2:CreateSecurityGroup': 'Any',
    'ec2:CreateTags': 'Any',
    'ec2:DeleteSecurityGroup': 'Ours',
    'ec2:DeleteTags': 'Ours',
    'ec2:ModifySecurityGroupRules': 'Ours',
    'ec2:RevokeSecurityGroupEgress': 'Ours',
    'ec2:RevokeSecurityGroupIngress': 'Ours',
    'elasticloadbalancing:AddListenerCertificates': 'Any',
    'elasticloadbalancing:AddTags': 'Any',
    'elasticloadbalancing:CreateListener': 'Any',
    'elasticloadbalancing:CreateLoadBalancer': 'Made',
    'elasticloadbalancing:CreateTargetGroup': 'Made',
    'elasticloadbalancing:DeleteListener': 'Any',
    'elasticloadbalancing:DeleteLoadBalancer': 'Ours',
    'elasticloadbalancing:DeleteTargetGroup': 'Ours',
    'elasticloadbalancing:ModifyCapacityReservation': 'Ours',
    'elasticloadbalancing:ModifyListener': 'Any',
    'elasticloadbalancing:ModifyListenerAttributes': 'Any',
    'elasticloadbalancing:ModifyLoadBalancerAttributes': 'Ours',
    'elasticloadbalancing:ModifyTargetGroup': 'Ours',
    'elasticloadbalancing:ModifyTargetGroupAttributes': 'Ours',
    'elasticloadbalancing:RemoveListenerCertificates': 'Any',
    'elasticloadbalancing:RemoveTags': 'Ours',
    'elasticloadbalancing:SetIpAddressType': 'Ours',
    'elasticloadbalancing:SetSecurityGroups': 'Ours',
    'elasticloadbalancing:SetSubnets': 'Ours',
    'iam:CreateServiceLinkedRole': 'Linked',
  },
  Classic: {
    'elasticloadbalancing:DescribeLoadBalancerPolicies': 'Any',
    'elasticloadbalancing:ApplySecurityGroupsToLoadBalancer': 'Ours',
    'elasticloadbalancing:AttachLoadBalancerToSubnets': 'Ours',
    'elasticloadbalancing:ConfigureHealthCheck': 'Ours',
    'elasticloadbalancing:CreateLoadBalancerListeners': 'Ours',
    'elasticloadbalancing:CreateLoadBalancerPolicy': 'Ours',
    'elasticloadbalancing:DeleteLoadBalancerListeners': 'Ours',
    'elasticloadbalancing:DeleteLoadBalancerPolicy': 'Ours',
    'elasticloadbalancing:DeregisterInstancesFromLoadBalancer': 'Ours',
    'elasticloadbalancing:DetachLoadBalancerFromSubnets': 'Ours',
    'elasticloadbalancing:RegisterInstancesWithLoadBalancer': 'Ours',
    'elasticloadbalancing:SetLoadBalancerListenerSSLCertificate': 'Ours',
    'elasticloadbalancing:SetLoadBalancerPoliciesForBackendServer': 'Ours',
    'elasticloadbalancing:SetLoadBalancerPoliciesOfListener': 'Ours',
  },
  Members: {
    'elasticloadbalancing:DescribeTargetHealth': 'Any',
    'elasticloadbalancing:DeregisterTargets': 'Ours',
    'elasticloadbalancing:RegisterTargets': 'Ours',
  },
  NodeRules: {
    'ec2:DescribeInstances': 'Any',
    'ec2:DescribeSecurityGroupRules': 'Any',
    'ec2:DescribeSecurityGroups': 'Any',
    'ec2:AuthorizeSecurityGroupIngress': 'Any',
    'ec2:ModifySecurityGroupRules': 'Any',
    'ec2:RevokeSecurityGroupIngress': 'Any',
  },
  Instances: {
    'ec2:DescribeAvailabilityZones': 'Any',
    'ec2:DescribeInstances': 'Any',
    'ec2:DescribeInstanceTopology': 'Any',
    'ec2:DescribeNetworkInterfaces': 'Any',
  },
  NodeTags: { 'ec2:CreateTags': 'Any', 'ec2:DeleteTags': 'Any' },
  Routes: {
    'ec2:DescribeInstances': 'Any',
    'ec2:DescribeRouteTables': 'Any',
    'ec2:CreateRoute': 'Any',
    'ec2:DeleteRoute': 'Any',
    'ec2:CreateTags': 'Any',
    'ec2:DeleteTags': 'Any',
    'ec2:ModifyNetworkInterfaceAttribute': 'Any',
    'ec2:ReplaceRoute': 'Any',
  },
  Volumes: { 'ec2:DescribeVolumes': 'Any' },
};

/** As IAM writes it: an operator, and the keys with what they must be. */
type Condition = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface PolicyStatement {
  Sid: string;
  Effect: 'Allow';
  Action: string[];
  Resource: '*';
  Condition?: Condition;
}

export interface PolicyDocument {
  Version: '2012-10-17';
  Statement: PolicyStatement[];
}

const CONDITIONS: Readonly<Record<Scope, Condition | undefined>> = {
  Any: undefined,
  Ours: { Null: { [`aws:ResourceTag/${TAG.clusterID}`]: 'false' } },
  Made: { Null: { [`aws:RequestTag/${TAG.clusterID}`]: 'false' } },
  Linked: { StringEquals: { 'iam:AWSServiceName': 'elasticloadbalancing.amazonaws.com' } },
};

/** The smallest policy with which the capabilities work. An action that one of them needs in a wide scope is not listed in a narrow one. Pure. */
export function iamPolicy(capabilities: readonly Capability[]): PolicyDocument {
  const all = capabilities.flatMap((capability) => Object.entries(CALLS[capability]));
  const wide = new Set(all.filter(([, scope]) => scope === 'Any').map(([action]) => action));
  const actionsOf = (scope: Scope): string[] => {
    const ofScope = all.filter(([action, at]) => at === scope && (scope === 'Any' || !wide.has(action))).map(([action]) => action);
    return [...new Set(ofScope)].sort();
  };
  const scopes: Scope[] = ['Any', 'Made', 'Ours', 'Linked'];
  return {
    Version: '2012-10-17',
    Statement: scopes.filter((scope) => actionsOf(scope).length > 0).map((scope) => statement(scope, actionsOf(scope))),
  };
}

function statement(scope: Scope, actions: string[]): PolicyStatement {
  const Condition = CONDITIONS[scope];
  return {
    Sid: `CloudOperator${scope}`,
    Effect: 'Allow',
    Action: actions,
    Resource: '*',
    ...(Condition !== undefined && { Condition }),
  };
}
