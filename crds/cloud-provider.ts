import { z } from 'zod';
import { objectName } from './address';
import { type CloudObject, defineKind, statusBase } from './kind';

/** Settings of the local cloud, the one that runs on the machine itself. */
export const localProviderSettings = z
  .object({
    endpoint: z.string().min(1).max(1024).meta({ description: 'http://127.0.0.1:PORT or unix:/path/to/socket of the local cloud.' }),
    tokenFile: z.string().max(4096).optional().meta({ description: 'File on the operator’s host with the API token.' }),
    tokenSecretRef: z
      .object({ name: objectName, key: z.string().min(1).max(253).default('token') })
      .optional()
      .meta({ description: 'Secret in the operator’s own namespace that holds the API token.' }),
  })
  .meta({ description: 'The local cloud.' });
export type LocalProviderSettings = z.infer<typeof localProviderSettings>;

/** A provider made by somebody else; its parameters are validated by that provider. */
export const customBlock = z
  .object({ kind: z.string().min(1).max(63), parameters: z.record(z.string(), z.string().max(4096)).default({}) })
  .meta({ description: 'A cloud of somebody else’s provider.' });

/** Which namespaces may share a thing. */
const sharing = z.union([z.literal('None'), z.literal('SameNamespace'), z.literal('Namespaces')]).default('SameNamespace');

const policy = z
  .object({
    namespaces: z
      .array(z.string().max(253))
      .max(1000)
      .optional()
      .meta({ description: 'Namespaces whose load balancers are allowed; absent = all.' }),
    schemes: z
      .array(z.enum(['Public', 'Internal']))
      .max(2)
      .optional()
      .meta({ description: 'Schemes allowed; absent = both.' }),
    sharing: sharing.meta({ description: 'Who may name the placement or address of somebody else.' }),
    sharingNamespaces: z.array(z.string().max(253)).max(1000).optional().meta({ description: 'The namespaces of sharing: Namespaces.' }),
  })
  .meta({ description: 'What objects of this cloud may ask for.' });

/** `10s`, `5m`, `1h30m`. */
export const duration = z
  .string()
  .max(32)
  .regex(/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/)
  .meta({ description: 'A duration such as 30s, 10m or 1h30m.' });

export const cloudProviderSpec = z
  .object({
    default: z
      .boolean()
      .default(false)
      .meta({ description: 'Takes the Services and Nodes that name no provider. At most one CloudProvider should say so.' }),
    region: z.string().max(253).optional(),
    loadBalancerClasses: z
      .array(z.string().min(1).max(253))
      .max(64)
      .optional()
      .meta({
        description: 'Values of Service.spec.loadBalancerClass that this provider claims; absent = cloud-operator.dev/<name>.',
        'x-kubernetes-list-type': 'set',
      }),
    nodeSelector: z
      .record(z.string(), z.string().max(63))
      .optional()
      .meta({ description: 'Labels of the Nodes without a providerID that belong to this cloud.' }),
    driftInterval: duration
      .default('10m')
      .meta({ description: 'How often the cloud is compared with what is wanted; jittered. 0s = never.' }),
    routePeriod: duration.default('10s').meta({ description: 'How often the route table is listed.' }),
    freeze: z.boolean().default(false).meta({ description: 'No cloud writes at all; drift is still reported.' }),
    policy: policy.optional(),
    local: localProviderSettings.optional(),
    custom: customBlock.optional(),
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: '[has(self.local), has(self.custom)].filter(x, x).size() == 1', message: 'exactly one of local, custom must be set' },
      {
        rule: 'has(self.local) == has(oldSelf.local) && has(self.custom) == has(oldSelf.custom)',
        message: 'the kind of cloud cannot be changed; make another CloudProvider',
      },
    ],
  });
export type CloudProviderSpec = z.infer<typeof cloudProviderSpec>;

export const cloudProviderStatus = z.object({
  ...statusBase,
  kind: z.string().optional().meta({ description: 'The provider in charge, for example local.' }),
  clusterID: z.string().optional().meta({ description: 'The cluster id that cloud resources are tagged with.' }),
  nodes: z.int().optional(),
  loadBalancers: z.int().optional(),
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
