import { z } from 'zod';
import { ipFamily, objectName } from './address';
import { arn, awsID, tagValue } from './aws-ids';
import { awsLimits } from './aws-limits';
import { healthProbe } from './health-probe';
import { mapOf, setOf } from './list';
import { type Rule, withRules } from './rule';

/** The AWS APIs that are called. */
export const AWS_SERVICES = ['EC2', 'ElasticLoadBalancing', 'ElasticLoadBalancingV2', 'STS'] as const;

const endpoint = withRules(
  z
    .object({
      service: z.enum(AWS_SERVICES).meta({ description: 'The API.' }),
      url: z.string().min(1).max(1024).meta({ description: 'Where it is, for example a VPC endpoint.' }),
      signingRegion: z.string().max(64).optional().meta({ description: 'The region that requests are signed for; absent = spec.region.' }),
      signingName: z
        .string()
        .max(64)
        .optional()
        .meta({ description: 'The service that requests are signed for; absent = AWS’s own name of it.' }),
    })
    .meta({ description: 'Where one API is reached.' }),
  [
    {
      cel: "self.url.startsWith('https://') || self.url.startsWith('http://')",
      holds: ({ url }) => url.startsWith('https://') || url.startsWith('http://'),
      message: 'must begin with https:// or http://',
      field: 'url',
    },
  ],
);

const assumeRole = z
  .object({
    roleARN: arn('iam').meta({ description: 'The role.' }),
    externalID: z.string().min(2).max(1224).optional().meta({ description: 'What the role’s owner asks for as sts:ExternalId.' }),
    sessionName: z
      .string()
      .min(2)
      .max(64)
      .regex(/^[\w+=,.@-]+$/)
      .optional()
      .meta({ description: 'How the sessions are called in CloudTrail; absent = cloud-operator.' }),
    sourceARN: arn('[a-z0-9-]+').optional().meta({
      description: 'Sent as aws:SourceArn, and its account as aws:SourceAccount, for trust policies that ask for them.',
    }),
  })
  .meta({ description: 'A role that is assumed with the credentials found.' });

const credentialsSecret = z
  .object({
    name: objectName.meta({ description: 'Its name.' }),
    accessKeyIDKey: z.string().min(1).max(253).default('AccessKeyID').meta({ description: 'Key of the access key’s id.' }),
    secretAccessKeyKey: z.string().min(1).max(253).default('SecretAccessKey').meta({ description: 'Key of the secret access key.' }),
    sessionTokenKey: z.string().min(1).max(253).optional().meta({ description: 'Key of the session token, for temporary credentials.' }),
  })
  .meta({ description: 'A Secret in the operator’s own namespace.' });

const nodeTags = z.record(z.string(), tagValue).meta({
  description:
    'Tags that the instance of every Node gets; what is taken out of here, or is no Node’s any more, loses them. Empty = all are taken off; absent = nobody looks.',
});

/** AWS keeps `aws:` to itself; by the cluster's tags, and ours, instances are known. */
const RESERVED_TAGS = ['aws:', 'kubernetes.io/cluster/', 'KubernetesCluster', 'cloud-operator.dev/'];

const fields = z.object({
  vpcID: awsID('vpc').optional().meta({ description: 'The VPC of the cluster; absent = that of the operator’s own instance.' }),
  clusterName: z
    .string()
    .min(1)
    .max(100)
    .regex(/^[^\s/]+$/)
    .optional()
    .meta({
      description:
        'The cluster’s name in tags, kubernetes.io/cluster/<name>; Nodes, subnets and route tables are found by it. Absent = found on the operator’s own instance.',
    }),
  legacyClusterTag: z.boolean().default(false).meta({
    description: 'Whether the cluster’s resources may have the old tag KubernetesCluster=<name> in place of that; what is made gets both.',
  }),
  subnetIDs: setOf(awsID('subnet'), {
    min: 1,
    max: 32,
    description: 'The subnets of load balancers that name none; absent = found by tags and route tables.',
  }).optional(),
  fallbackSubnetID: awsID('subnet').optional().meta({
    description: 'The subnet of load balancers for which no subnet is named or tagged; absent = they are refused.',
  }),
  routeTableIDs: setOf(awsID('rtb'), {
    min: 1,
    max: 32,
    description: 'The route tables that get routes to Nodes; absent = the one tagged for the cluster.',
  }).optional(),
  routesPerTable: z.int().min(1).max(1000).default(50).meta({
    description: 'How many IPv4 and how many IPv6 routes a table may have: the account’s quota. More are refused before AWS is asked.',
  }),
  limits: awsLimits.optional(),
  nodeIPFamilies: setOf(ipFamily, {
    min: 1,
    max: 2,
    description: 'Families of the Nodes’ addresses, in the order in which they are written.',
  }).default(['IPv4']),
  nodeRules: z.enum(['Shared', 'PerService', 'None']).default('Shared').meta({
    description:
      'How load balancers are let in to the Nodes. Shared: one set of rules from one backend group of the cluster. PerService: rules for each Service, as upstream. None: rules are made by hand.',
  }),
  networkSecurityGroups: z.enum(['Managed', 'None']).optional().meta({
    description: 'Whether new Network load balancers get a security group; absent = Managed where nodeRules is Shared.',
  }),
  classicSecurityGroupID: awsID('sg')
    .optional()
    .meta({ description: 'One group for all Classic load balancers in place of one for each.' }),
  healthProbe: healthProbe.optional(),
  nodeTags: nodeTags.optional(),
  topologyInstanceTypes: z.string().min(1).max(1024).optional().meta({
    description: 'A regular expression: instance types whose network topology is asked for; absent = those that AWS has it for.',
  }),
  profile: z.string().min(1).max(256).optional().meta({ description: 'Profile of the AWS configuration files on the operator’s host.' }),
  credentialsSecretRef: credentialsSecret.optional(),
  assumeRole: assumeRole.optional(),
  endpoints: mapOf(endpoint, 'service', { max: AWS_SERVICES.length, description: 'APIs that are not where AWS has them.' }).optional(),
  useFIPSEndpoints: z.boolean().default(false).meta({ description: 'Whether the FIPS endpoints are used.' }),
  useDualStackEndpoints: z.boolean().default(false).meta({ description: 'Whether endpoints with IPv6 addresses are used.' }),
});

type AWSSettings = z.output<typeof fields>;

const RULES: Rule<AWSSettings>[] = [
  {
    cel: '!has(self.profile) || !has(self.credentialsSecretRef)',
    holds: (aws) => aws.profile === undefined || aws.credentialsSecretRef === undefined,
    message: 'only one of profile, credentialsSecretRef can be set',
  },
  {
    cel: "self.nodeRules != 'Shared' || !has(self.networkSecurityGroups) || self.networkSecurityGroups == 'Managed'",
    holds: (aws) => aws.nodeRules !== 'Shared' || aws.networkSecurityGroups !== 'None',
    message: 'nodeRules Shared needs a group on every load balancer; write networkSecurityGroups: Managed, or nodeRules: PerService',
    field: 'networkSecurityGroups',
  },
  {
    cel: '!self.legacyClusterTag || has(self.clusterName)',
    holds: (aws) => !aws.legacyClusterTag || aws.clusterName !== undefined,
    message: 'legacyClusterTag needs clusterName',
    field: 'legacyClusterTag',
  },
  {
    cel: `!has(self.nodeTags) || self.nodeTags.all(key, size(key) <= 128 && key.matches('^[^\\\\s]+$') && !(${RESERVED_TAGS.map((prefix) => `key.startsWith('${prefix}')`).join(' || ')}))`,
    holds: ({ nodeTags: tags = {} }) => Object.keys(tags).every(isNodeTag),
    message: `keys of nodeTags have 1 to 128 characters, none of them a space, and don't begin with ${RESERVED_TAGS.join(', ')}`,
    field: 'nodeTags',
  },
];

function isNodeTag(key: string): boolean {
  return /^\S{1,128}$/.test(key) && !RESERVED_TAGS.some((prefix) => key.startsWith(prefix));
}

/** Settings of AWS. The region is `spec.region`; absent = that of the operator's own instance. */
export const awsProviderSettings = withRules(fields.meta({ description: 'Amazon Web Services.' }), RULES);
export type AWSProviderSettings = z.infer<typeof awsProviderSettings>;
