import { z } from 'zod';
import { cidr, ip, ipFamily, objectName, port } from './address';
import { customBlock } from './cloud-provider';
import { type CloudObject, defineKind, statusBase } from './kind';

export const protocol = z.enum(['TCP', 'UDP', 'SCTP']);

export const listener = z
  .object({
    name: z
      .string()
      .min(1)
      .max(63)
      .meta({ description: 'Unique in the load balancer; the Service port’s name, else <protocol>-<port> in lower case.' }),
    protocol: protocol.default('TCP'),
    port: port.meta({ description: 'The port on the load balancer’s address.' }),
    nodePort: port.optional().meta({ description: 'The port on the Nodes; absent only where the cloud can forward without node ports.' }),
    appProtocol: z.string().max(253).optional(),
  })
  .meta({ description: 'One port of the load balancer.' });
export type Listener = z.infer<typeof listener>;

export const healthCheck = z
  .object({
    protocol: z.enum(['HTTP', 'TCP']).default('TCP'),
    port: port.optional().meta({ description: 'Absent: each listener’s own node port.' }),
    path: z.string().startsWith('/').max(1024).optional().meta({ description: 'For HTTP.' }),
    intervalSeconds: z.int().min(1).max(3600).optional(),
    timeoutSeconds: z.int().min(1).max(3600).optional(),
    healthyThreshold: z.int().min(1).max(100).optional(),
    unhealthyThreshold: z.int().min(1).max(100).optional(),
  })
  .meta({ description: 'How the cloud decides that a Node can take traffic.' });
export type HealthCheck = z.infer<typeof healthCheck>;

/** What only the local cloud knows. */
export const localLoadBalancer = z
  .object({
    engine: z.enum(['Node']).optional().meta({ description: 'What moves the packets.' }),
    healthCheckIntervalMs: z.int().min(50).max(600000).optional(),
    drainSeconds: z.int().min(0).max(3600).optional().meta({ description: 'How long a removed Node keeps its open connections.' }),
    idleTimeoutSeconds: z.int().min(1).max(4000).optional(),
  })
  .meta({ description: 'Settings of the local cloud.' });
export type LocalLoadBalancer = z.infer<typeof localLoadBalancer>;

export const cloudLoadBalancerSpec = z
  .object({
    provider: objectName.meta({
      description: 'The CloudProvider; chosen once.',
      'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'the provider is chosen once; make another object to move' }],
    }),
    placement: z
      .object({ name: objectName, namespace: objectName.optional() })
      .optional()
      .meta({ description: 'The cloud load balancer that carries this one; absent = the provider’s default.' }),
    listeners: z
      .array(listener)
      .min(1)
      .max(100)
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    healthCheck: healthCheck.optional(),
    sourceRanges: z
      .array(cidr)
      .max(200)
      .optional()
      .meta({ description: 'Who may connect; absent = everybody.', 'x-kubernetes-list-type': 'set' }),
    scheme: z.enum(['Public', 'Internal']).default('Public'),
    ipFamilies: z.array(ipFamily).min(1).max(2).default(['IPv4']),
    addresses: z.array(ip).max(16).optional().meta({ description: 'Addresses asked for; absent = the cloud chooses.' }),
    trafficPolicy: z.enum(['Cluster', 'Local']).default('Cluster'),
    sessionAffinity: z
      .object({ type: z.enum(['None', 'ClientIP']).default('None'), timeoutSeconds: z.int().min(1).max(86400).optional() })
      .optional(),
    deletionPolicy: z
      .enum(['Delete', 'Orphan'])
      .default('Delete')
      .meta({ description: 'What happens to the cloud resources when this object is deleted.' }),
    updatePolicy: z
      .object({ approval: z.enum(['Auto', 'Manual']).default('Auto'), replace: z.enum(['Never', 'Allow']).default('Never') })
      .optional(),
    local: localLoadBalancer.optional(),
    custom: customBlock.optional(),
  })
  .meta({
    'x-kubernetes-validations': [
      { rule: '[has(self.local), has(self.custom)].filter(x, x).size() == 1', message: 'exactly one of local, custom must be set' },
      {
        rule: 'self.listeners.all(a, self.listeners.exists_one(b, a.port == b.port && a.protocol == b.protocol))',
        message: 'two listeners have the same protocol and port',
      },
    ],
  });
export type CloudLoadBalancerSpec = z.infer<typeof cloudLoadBalancerSpec>;
export type CloudLoadBalancerSpecInput = z.input<typeof cloudLoadBalancerSpec>;

export const ingress = z
  .object({
    ip: z.string().max(64).optional(),
    hostname: z.string().max(253).optional(),
    ipMode: z.enum(['VIP', 'Proxy']).optional(),
  })
  .meta({ description: 'One point of entry, as in Service.status.loadBalancer.ingress.' });
export type Ingress = z.infer<typeof ingress>;

export const cloudLoadBalancerStatus = z.object({
  ...statusBase,
  clusterID: z.string().optional(),
  objectUID: z.string().optional().meta({ description: 'The UID that this status was written for; another one makes it void.' }),
  stack: z.string().optional().meta({ description: 'The CloudStack that carries this load balancer.' }),
  incarnation: z.string().optional().meta({ description: 'The life of that stack which this status speaks of.' }),
  address: z.string().optional().meta({ description: 'The first point of entry, for kubectl get.' }),
  ingress: z.array(ingress).max(32).optional(),
  targets: z.int().optional().meta({ description: 'How many Nodes are registered.' }),
});
export type CloudLoadBalancerStatus = z.infer<typeof cloudLoadBalancerStatus>;
export type CloudLoadBalancer = CloudObject<CloudLoadBalancerSpec, CloudLoadBalancerStatus>;

export const CloudLoadBalancerKind = defineKind({
  kind: 'CloudLoadBalancer',
  plural: 'cloudloadbalancers',
  singular: 'cloudloadbalancer',
  shortNames: ['clb'],
  scope: 'Namespaced',
  description: 'A load balancer in the cloud, as a Service of type LoadBalancer or a person wants it.',
  spec: cloudLoadBalancerSpec,
  status: cloudLoadBalancerStatus,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'Address', type: 'string', jsonPath: '.status.address' },
    { name: 'Ports', type: 'string', jsonPath: '.spec.listeners[*].port' },
    { name: 'Targets', type: 'integer', jsonPath: '.status.targets' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Stack', type: 'string', jsonPath: '.status.stack', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
