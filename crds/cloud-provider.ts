import { z } from 'zod';
import { objectName } from './address';
import { awsProviderSettings } from './aws-provider';
import { azureProviderSettings } from './azure-provider';
import { duration, period } from './duration';
import { type CloudObject, defineKind, statusBase } from './kind';
import { setOf } from './list';
import { maintenanceWindows } from './maintenance-window';
import { approval, deletionPolicy, providerPolicy } from './policies';
import { NAMING_LISTS, policy, type NamingList } from './provider-policy';
import { type Rule, withRules } from './rule';

/** Settings of the local cloud, the one that runs on the machine itself. */
export const localProviderSettings = withRules(
  z
    .object({
      endpoint: withRules(
        z.string().min(1).max(1024).meta({ description: 'http://127.0.0.1:PORT or unix:/path/to/socket of the local cloud.' }),
        [
          {
            cel: "self.startsWith('http://') || self.startsWith('unix:/')",
            holds: (endpoint) => endpoint.startsWith('http://') || endpoint.startsWith('unix:/'),
            message: 'must begin with http:// or unix:/, for example http://127.0.0.1:8443',
          },
        ],
      ),
      tokenFile: z.string().max(4096).optional().meta({ description: 'File on the operator’s host with the API token.' }),
      tokenSecretRef: z
        .object({ name: objectName, key: z.string().min(1).max(253).default('token') })
        .optional()
        .meta({ description: 'Secret in the operator’s own namespace that holds the API token.' }),
      engine: z.enum(['Node', 'Passthrough']).optional().meta({
        description:
          'Engine of load balancers for Services whose annotations name none: CloudLoadBalancer.spec.local.engine. Absent = Node. A change replaces them.',
      }),
    })
    .meta({ description: 'The local cloud.' }),
  [
    {
      cel: '!has(self.tokenFile) || !has(self.tokenSecretRef)',
      holds: (settings) => settings.tokenFile === undefined || settings.tokenSecretRef === undefined,
      message: 'only one of tokenFile, tokenSecretRef can be set',
    },
  ],
);
export type LocalProviderSettings = z.infer<typeof localProviderSettings>;

/** A provider made by somebody else; its parameters are validated by that provider. */
export const customBlock = z
  .object({
    kind: z.string().min(1).max(63).meta({ description: 'The name that the provider goes by.' }),
    parameters: z.record(z.string(), z.string().max(4096)).default({}).meta({ description: 'What that provider wants to know.' }),
  })
  .meta({ description: 'A cloud of somebody else’s provider.' });

const limits = z
  .object({
    callsPerSecond: z
      .int()
      .min(1)
      .max(10_000)
      .default(100)
      .meta({ description: 'Calls to the cloud a second, all of the operator together.' }),
    burst: z.int().min(1).max(10_000).default(200).meta({ description: 'Calls at once after a quiet time.' }),
    concurrentUpdates: z.int().min(1).max(64).default(10).meta({ description: 'Stack updates at the same time, within --workers.' }),
    updateDeadline: period.optional().meta({ description: 'How long one stack update may take; absent = --update-deadline.' }),
  })
  .meta({ description: 'What the cloud account may be asked for.' });

const fields = z.object({
  default: z
    .boolean()
    .default(false)
    .meta({ description: 'Takes the Services and Nodes that name no provider. At most one CloudProvider should say so.' }),
  region: z.string().max(253).optional().meta({ description: 'The region, for clouds that have them.' }),
  loadBalancerClasses: setOf(z.string().min(1).max(253), {
    max: 64,
    description: 'Values of Service.spec.loadBalancerClass that this provider claims; absent = cloud-operator.dev/<name>.',
  }).optional(),
  nodeSelector: z
    .record(z.string(), z.string().max(63))
    .optional()
    .meta({ description: 'Labels of the Nodes without a providerID that belong to this cloud.' }),
  driftInterval: duration
    .default('10m')
    .meta({ description: 'How often the cloud is compared with what is wanted; jittered. 0s = never.' }),
  driftPolicy: z
    .enum(['Heal', 'Report'])
    .default('Heal')
    .meta({ description: 'Heal: what was changed in the cloud is brought back. Report: it is only shown, in CloudStack.status.drift.' }),
  retireAfter: duration
    .default('5m')
    .meta({ description: 'How long the old one stays after a replacement, for clients that still have its address.' }),
  routePeriod: period.default('10s').meta({ description: 'How often the route table is listed.' }),
  sweepInterval: duration.default('1h').meta({
    description:
      'How often the whole account is searched for what bears this cluster’s mark and belongs to nothing; jittered. 0s = only when asked.',
  }),
  plugin: z
    .enum(['BuiltIn', 'Official'])
    .optional()
    .meta({
      description:
        'Who serves the cloud’s resource types to new stacks; a stack stays with what it was made with. BuiltIn (also where absent): the provider in the operator. ' +
        'Official: the cloud’s own Pulumi plugin, which has to be in the image.',
    }),
  freeze: z.boolean().default(false).meta({ description: 'No cloud writes at all; drift is still reported.' }),
  managementPolicy: providerPolicy.optional(),
  updatePolicy: z.object({ approval }).optional().meta({
    description: 'How changes of its load balancers reach the cloud; routes follow the Nodes, unless a CloudRoute itself says Manual.',
  }),
  deletionPolicy: deletionPolicy.optional().meta({
    description:
      'What becomes of the cloud when one of its objects is deleted that does not say it itself. Orphan: what it has stays there, marked as released. Absent = Delete.',
  }),
  maintenanceWindows: maintenanceWindows.optional(),
  limits: limits.optional(),
  policy: policy.optional(),
  aws: awsProviderSettings.optional(),
  azure: azureProviderSettings.optional(),
  local: localProviderSettings.optional(),
  custom: customBlock.optional(),
});

/** Only AWS tells what its load balancers name; elsewhere a list would promise what nobody checks. */
function namesOnly(list: NamingList): Rule<z.output<typeof fields>> {
  return {
    cel: `!has(self.policy) || !has(self.policy.${list}) || has(self.aws)`,
    holds: ({ policy: given, aws }) => given?.[list] === undefined || aws !== undefined,
    message: `policy.${list} needs aws: load balancers of other clouds name nothing of the kind`,
    field: `policy.${list}`,
  };
}

export const cloudProviderSpec = withRules(fields.meta({ description: 'How the cloud is reached and what may be asked of it.' }), [
  {
    cel: '[has(self.aws), has(self.azure), has(self.local), has(self.custom)].filter(x, x).size() == 1',
    holds: (spec) => [spec.aws, spec.azure, spec.local, spec.custom].filter((block) => block !== undefined).length === 1,
    message: 'exactly one of aws, azure, local, custom must be set',
  },
  {
    cel: 'has(self.aws) == has(oldSelf.aws) && has(self.azure) == has(oldSelf.azure) && has(self.local) == has(oldSelf.local) && has(self.custom) == has(oldSelf.custom)',
    message: 'the kind of cloud cannot be changed; make another CloudProvider',
  },
  {
    cel: "!has(self.plugin) || self.plugin == 'BuiltIn' || has(self.aws) || has(self.azure) || has(self.custom)",
    holds: ({ plugin = 'BuiltIn', aws, azure, custom }) => plugin === 'BuiltIn' || (aws ?? azure ?? custom) !== undefined,
    message: 'plugin Official needs aws, azure or custom: the provider of another cloud does not run with an official plugin',
    field: 'plugin',
  },
  ...NAMING_LISTS.map(namesOnly),
]);
export type CloudProviderSpec = z.infer<typeof cloudProviderSpec>;
export type CloudProviderSpecInput = z.input<typeof cloudProviderSpec>;

export const sweep = z
  .object({
    at: z.string().max(64).meta({ format: 'date-time' }),
    handled: z.string().max(253).optional().meta({ description: 'The annotation cloud-operator.dev/sweep that this answers.' }),
    leftovers: z
      .int()
      .min(0)
      .meta({ description: 'Stacks in the cloud that nothing accounts for; each is a CloudStack with the reason Leftover.' }),
  })
  .meta({ description: 'The last search for leftovers.' });
export type Sweep = z.infer<typeof sweep>;

export const cloudProviderStatus = z.object({
  ...statusBase,
  kind: z.string().max(63).optional().meta({ description: 'The provider in charge, for example local.' }),
  clusterID: z.string().max(64).optional().meta({ description: 'The cluster id that cloud resources are tagged with.' }),
  nodes: z.int().min(0).optional().meta({ description: 'How many Nodes belong to this cloud.' }),
  loadBalancers: z.int().min(0).optional().meta({ description: 'How many CloudLoadBalancers it carries.' }),
  sweep: sweep.optional(),
  registeredTargets: z.string().max(64).optional().meta({
    description: 'Digest of the Nodes that all its target groups have; absent = they are being changed, or the cloud is asked instead.',
  }),
});
export type CloudProviderStatus = z.infer<typeof cloudProviderStatus>;
export type CloudProvider = CloudObject<CloudProviderSpec, CloudProviderStatus>;

export const CloudProviderKind = defineKind({
  kind: 'CloudProvider',
  plural: 'cloudproviders',
  singular: 'cloudprovider',
  shortNames: ['cp'],
  scope: 'Cluster',
  description: 'One account and region of one cloud.',
  spec: cloudProviderSpec,
  status: cloudProviderStatus,
  columns: [
    { name: 'Cloud', type: 'string', jsonPath: '.status.kind' },
    { name: 'Default', type: 'boolean', jsonPath: '.spec.default' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Nodes', type: 'integer', jsonPath: '.status.nodes' },
    { name: 'LoadBalancers', type: 'integer', jsonPath: '.status.loadBalancers' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
