import { z } from 'zod';
import { ip, port } from './address';
import { awsHealthCheck, awsTargetGroup } from './aws-target-group';
import { arn, awsID, idOrName, tagValue } from './aws-ids';
import { mapOf, setOf } from './list';
import { type Rule, withRules } from './rule';

/** The most subnets, and so zones, of one load balancer. */
export const MAX_AWS_SUBNETS = 16;

/** Beginnings of tag keys that nobody else sets: AWS's own, and those by which controllers know whose a resource is. */
export const RESERVED_AWS_TAGS = ['aws:', 'cloud-operator.dev/', 'kubernetes.io/cluster/', 'kubernetes.io/service-name'] as const;

/** AWS takes 50 tags on a resource; the others are ours and upstream's. */
export const MAX_AWS_TAGS = 40;
/** Characters of a tag's key. */
export const MAX_AWS_TAG_KEY = 128;

/** Pure. */
export function isReservedAWSTag(key: string): boolean {
  return RESERVED_AWS_TAGS.some((prefix) => key.startsWith(prefix));
}

const accessLogs = withRules(
  z
    .object({
      enabled: z.boolean().default(true).meta({ description: 'Whether logs are written.' }),
      bucket: z.string().min(1).max(63).optional().meta({ description: 'The S3 bucket; its policy must let the load balancer write.' }),
      prefix: z.string().max(512).optional().meta({ description: 'What stands before the names of the logs in the bucket.' }),
      emitIntervalMinutes: z
        .int()
        .min(5)
        .max(60)
        .optional()
        .meta({ description: 'Minutes from one log to the next, 5 or 60; for type Classic.' }),
    })
    .meta({ description: 'Access logs to S3; a Network load balancer writes them for TLS listeners only.' }),
  [
    {
      cel: '!self.enabled || has(self.bucket)',
      holds: (logs) => !logs.enabled || logs.bucket !== undefined,
      message: 'logs that are enabled need a bucket',
      field: 'bucket',
    },
    {
      cel: '!has(self.emitIntervalMinutes) || self.emitIntervalMinutes in [5, 60]',
      holds: (logs) => logs.emitIntervalMinutes === undefined || [5, 60].includes(logs.emitIntervalMinutes),
      message: 'emitIntervalMinutes must be 5 or 60',
      field: 'emitIntervalMinutes',
    },
  ],
);

const tls = z
  .object({
    certificateARNs: setOf(arn('acm|iam'), {
      min: 1,
      max: 25,
      description:
        'Certificates of ACM or IAM: the first is the default, the others are for clients that ask for their names; for type Classic only the first.',
    }),
    ports: setOf(z.string().min(1).max(63), {
      min: 1,
      max: 100,
      description: 'Names or numbers of the listeners that speak TLS; absent = all of TCP.',
    }).optional(),
    policy: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .meta({ description: 'The security policy; absent = ELBSecurityPolicy-TLS13-1-2-2021-06, for type Classic AWS’s own.' }),
    alpnPolicy: z
      .enum(['HTTP1Only', 'HTTP2Only', 'HTTP2Optional', 'HTTP2Preferred', 'None'])
      .optional()
      .meta({ description: 'Which protocol the load balancer agrees on within TLS; for type Network.' }),
  })
  .meta({ description: 'TLS that ends at the load balancer.' });

const securityGroups = withRules(
  z
    .object({
      mode: z.enum(['Managed', 'None']).optional().meta({
        description:
          'Managed: a security group of its own. None: a Network load balancer without any, for ever. Absent = what the CloudProvider says.',
      }),
      groups: setOf(idOrName, { max: 5, description: 'Ids or names of groups that stand in place of the managed one.' }).optional(),
      additionalGroupIDs: setOf(awsID('sg'), {
        max: 5,
        description: 'Groups beside the managed one, for type Classic.',
      }).optional(),
      prefixListIDs: setOf(awsID('pl'), {
        max: 50,
        description: 'Prefix lists that may connect, beside spec.sourceRanges; for the managed group of a Network load balancer.',
      }).optional(),
      backendRules: z.enum(['Managed', 'None']).optional().meta({
        description: 'Whether the Nodes’ group is opened for these groups; absent = Managed.',
      }),
      privateLinkRules: z.enum(['Enforced', 'Ignored']).optional().meta({
        description: 'Whether the rules hold for traffic that comes by PrivateLink; absent = Enforced. For type Network.',
      }),
      pathMTUDiscovery: z.boolean().optional().meta({
        description: 'Whether the managed group lets the ICMP messages of path MTU discovery in; absent = true.',
      }),
    })
    .meta({ description: 'The security groups on the load balancer.' }),
  [
    {
      cel: "!has(self.mode) || self.mode != 'None' || !(has(self.groups) || has(self.prefixListIDs))",
      holds: ({ mode, groups, prefixListIDs }) => mode !== 'None' || (groups === undefined && prefixListIDs === undefined),
      message: 'mode None leaves no group for groups or prefixListIDs',
      field: 'mode',
    },
    {
      cel: '!has(self.prefixListIDs) || !has(self.groups)',
      holds: ({ groups, prefixListIDs }) => prefixListIDs === undefined || groups === undefined,
      message: 'prefixListIDs are for the managed group, and groups stand in its place; write the lists into those groups instead',
      field: 'prefixListIDs',
    },
  ],
);

const ipv6SourceNAT = z
  .object({
    enabled: z.boolean().default(true).meta({ description: 'Whether source addresses come from a prefix of each subnet.' }),
    prefixes: setOf(z.string().min(1).max(64), {
      max: MAX_AWS_SUBNETS,
      description: 'For each subnet a /80 prefix, or auto_assigned; absent = all auto_assigned.',
    }).optional(),
  })
  .meta({ description: 'IPv6 source prefixes, which UDP on a dual-stack load balancer needs.' });

const classic = z
  .object({
    connectionDraining: z.boolean().optional().meta({ description: 'Whether open connections to a leaving Node are kept for a time.' }),
    connectionDrainingTimeoutSeconds: z.int().min(1).max(3600).optional().meta({ description: 'How long; absent = 300.' }),
    connectionIdleTimeoutSeconds: z
      .int()
      .min(1)
      .max(4000)
      .optional()
      .meta({ description: 'How long a silent connection is kept; absent = 60.' }),
    proxyProtocol: z
      .boolean()
      .optional()
      .meta({ description: 'Whether connections to Nodes begin with a PROXY protocol header of version 1.' }),
  })
  .meta({ description: 'What only a Classic load balancer has.' });

const listenerSettings = z
  .object({
    port: port.meta({ description: 'The listener’s port.' }),
    tcpIdleTimeoutSeconds: z
      .int()
      .min(60)
      .max(6000)
      .optional()
      .meta({ description: 'How long a silent TCP connection is kept; absent = 350.' }),
    proxyProtocolV2: z.boolean().optional().meta({ description: 'For this port, in place of aws.targetGroup.proxyProtocolV2.' }),
  })
  .meta({ description: 'Settings of the listener on one port.' });

const fields = z.object({
  type: z.enum(['Network', 'Classic']).default('Network').meta({ description: 'The kind of load balancer. Another one replaces it.' }),
  name: z
    .string()
    .max(32)
    .regex(/^[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?$/)
    .optional()
    .meta({ description: 'Its name in AWS; absent = upstream’s, made of the Service’s UID. Another one replaces it.' }),
  subnets: setOf(idOrName, {
    min: 1,
    max: MAX_AWS_SUBNETS,
    description: 'Ids or names (tag Name) of its subnets, one for each zone; absent = found by tags and route tables.',
  }).optional(),
  eipAllocationIDs: setOf(awsID('eipalloc'), {
    min: 1,
    max: MAX_AWS_SUBNETS,
    description: 'Elastic IP addresses, one for each subnet.',
  }).optional(),
  privateIPv4Addresses: setOf(ip, {
    min: 1,
    max: MAX_AWS_SUBNETS,
    description: 'Private addresses, one for each subnet and in its range.',
  }).optional(),
  ipv6Addresses: setOf(ip, {
    min: 1,
    max: MAX_AWS_SUBNETS,
    description: 'IPv6 addresses of a dual-stack load balancer, one for each subnet and in its range.',
  }).optional(),
  ipAddressType: z
    .enum(['IPv4', 'DualStack'])
    .optional()
    .meta({ description: 'Families of its addresses; absent = DualStack where spec.ipFamilies has IPv6.' }),
  ipv6SourceNAT: ipv6SourceNAT.optional(),
  crossZone: z.boolean().optional().meta({ description: 'Whether traffic goes to Nodes of all zones; absent = false.' }),
  deletionProtection: z.boolean().optional().meta({
    description: 'Whether AWS refuses to delete it; nothing of it is then removed until this is false. Absent = false.',
  }),
  dnsClientRoutingPolicy: z
    .enum(['AnyAvailabilityZone', 'AvailabilityZoneAffinity', 'PartialAvailabilityZoneAffinity'])
    .optional()
    .meta({ description: 'Which zones’ addresses clients within the VPC get; absent = AnyAvailabilityZone.' }),
  zonalShift: z.boolean().optional().meta({ description: 'Whether ARC may move traffic out of a zone; absent = false.' }),
  secondaryIPsPerSubnet: z.int().min(0).max(7).optional().meta({ description: 'More private addresses in each subnet; absent = 0.' }),
  minimumCapacityUnits: z.int().min(0).max(1_000_000).optional().meta({ description: 'Capacity units reserved; 0 = none.' }),
  accessLogs: accessLogs.optional(),
  tls: tls.optional(),
  backendProtocol: z.enum(['TCP', 'SSL', 'HTTP', 'HTTPS']).optional().meta({
    description: 'What Nodes are spoken to in. Network: SSL = TLS, anything else is TCP. Classic: HTTP and HTTPS make HTTP listeners.',
  }),
  tcpUDPListeners: z.boolean().optional().meta({
    description: 'Whether TCP and UDP on one port become one listener of both; absent = false, and such a pair is refused.',
  }),
  listeners: mapOf(listenerSettings, 'port', { max: 100, description: 'Settings of single listeners.' }).optional(),
  targetGroup: awsTargetGroup.optional(),
  healthCheck: awsHealthCheck.optional(),
  securityGroups: securityGroups.optional(),
  targetNodeLabels: z.record(z.string(), z.string().max(63)).optional().meta({
    description: 'Labels of the Nodes that get traffic; absent = all.',
  }),
  tags: z
    .record(z.string(), tagValue)
    .refine((tags) => Object.keys(tags).length <= MAX_AWS_TAGS, { message: `at most ${MAX_AWS_TAGS} tags are possible` })
    .optional()
    .meta({ description: 'More tags on everything that is made for it.', maxProperties: MAX_AWS_TAGS }),
  classic: classic.optional(),
});

type AWSFields = z.output<typeof fields>;

/** Fields that mean nothing to a Classic load balancer. */
export const NETWORK_ONLY = [
  'name',
  'eipAllocationIDs',
  'privateIPv4Addresses',
  'ipv6Addresses',
  'ipAddressType',
  'ipv6SourceNAT',
  'deletionProtection',
  'dnsClientRoutingPolicy',
  'zonalShift',
  'secondaryIPsPerSubnet',
  'minimumCapacityUnits',
  'tcpUDPListeners',
  'listeners',
  'targetGroup',
] as const satisfies (keyof AWSFields)[];

/** Lists that have one entry for each subnet. */
const PER_SUBNET = ['eipAllocationIDs', 'privateIPv4Addresses', 'ipv6Addresses'] as const satisfies (keyof AWSFields)[];

function networkOnly(field: (typeof NETWORK_ONLY)[number]): Rule<AWSFields> {
  return {
    cel: `!has(self.${field}) || self.type == 'Network'`,
    holds: (aws) => aws[field] === undefined || aws.type === 'Network',
    message: `${field} needs type Network`,
    field,
  };
}

function onePerSubnet(field: (typeof PER_SUBNET)[number]): Rule<AWSFields> {
  return {
    cel: `!has(self.${field}) || !has(self.subnets) || self.${field}.size() == self.subnets.size()`,
    holds: ({ [field]: given, subnets }) => given === undefined || subnets === undefined || given.length === subnets.length,
    message: `${field} must have one entry for each of subnets`,
    field,
  };
}

/** What only AWS knows. */
export const awsLoadBalancer = withRules(fields.meta({ description: 'Settings of AWS.' }), [
  ...NETWORK_ONLY.map(networkOnly),
  ...PER_SUBNET.map(onePerSubnet),
  {
    cel: "!has(self.classic) || self.type == 'Classic'",
    holds: (aws) => aws.classic === undefined || aws.type === 'Classic',
    message: 'classic needs type Classic',
    field: 'classic',
  },
  {
    cel: "!has(self.name) || !self.name.startsWith('internal-')",
    holds: (aws) => aws.name?.startsWith('internal-') !== true,
    message: 'AWS takes no name that begins with internal-',
    field: 'name',
  },
  {
    cel: "!has(self.ipAddressType) || self.ipAddressType != 'IPv4' || !has(self.ipv6Addresses)",
    holds: (aws) => aws.ipAddressType !== 'IPv4' || aws.ipv6Addresses === undefined,
    message: 'ipv6Addresses need ipAddressType DualStack',
    field: 'ipv6Addresses',
  },
  {
    cel: `!has(self.tags) || !self.tags.exists(key, ${RESERVED_AWS_TAGS.map((prefix) => `key.startsWith('${prefix}')`).join(' || ')})`,
    holds: ({ tags = {} }) => !Object.keys(tags).some(isReservedAWSTag),
    message: `keys of tags don't begin with ${RESERVED_AWS_TAGS.join(', ')}, which are reserved`,
    field: 'tags',
  },
  {
    cel: `!has(self.tags) || self.tags.all(key, key.size() <= ${MAX_AWS_TAG_KEY})`,
    holds: ({ tags = {} }) => Object.keys(tags).every((key) => key.length <= MAX_AWS_TAG_KEY),
    message: `keys of tags have at most ${MAX_AWS_TAG_KEY} characters`,
    field: 'tags',
  },
]);
export type AWSLoadBalancer = z.infer<typeof awsLoadBalancer>;
