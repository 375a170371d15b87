import { z } from 'zod';
import { cidr, ip, ipFamily, namespaceName, objectName, port } from './address';
import { awsLoadBalancer } from './aws-load-balancer';
import { azureLoadBalancer } from './azure-load-balancer';
import { customBlock } from './cloud-provider';
import { type CloudObject, defineKind, statusBase } from './kind';
import { mapOf, setOf } from './list';
import { maintenanceWindows } from './maintenance-window';
import { approval, deletionPolicy, driftInterval, formerOwner, releasablePolicy } from './policies';
import { withRules } from './rule';

export const MAX_LISTENERS = 100;
export const MAX_SOURCE_RANGES = 200;

export const protocol = z.enum(['TCP', 'UDP', 'SCTP']);

export const listener = z
  .object({
    name: z
      .string()
      .min(1)
      .max(63)
      .meta({ description: 'Unique in the load balancer; the Service port’s name, else <protocol>-<port> in lower case.' }),
    protocol: protocol.default('TCP').meta({ description: 'The transport protocol.' }),
    port: port.meta({ description: 'The port on the load balancer’s address.' }),
    nodePort: port.optional().meta({ description: 'The port on the Nodes; absent only where the cloud can forward without node ports.' }),
    appProtocol: z
      .string()
      .max(317) // a qualified name: prefix, slash, name
      .optional()
      .meta({ description: 'What is spoken on the port, as in Service.spec.ports[].appProtocol.' }),
  })
  .meta({ description: 'One port of the load balancer.' });
export type Listener = z.infer<typeof listener>;

export const healthCheck = withRules(
  z
    .object({
      protocol: z.enum(['HTTP', 'TCP']).default('TCP'),
      port: port.optional().meta({ description: 'Absent: each listener’s own node port.' }),
      path: z.string().regex(/^\//).max(1024).optional().meta({ description: 'For HTTP.' }),
      intervalSeconds: z.int().min(1).max(3600).optional().meta({ description: 'Time between two checks.' }),
      timeoutSeconds: z.int().min(1).max(3600).optional().meta({ description: 'How long a check may take.' }),
      healthyThreshold: z.int().min(1).max(100).optional().meta({ description: 'Good checks in a row until a Node gets traffic.' }),
      unhealthyThreshold: z.int().min(1).max(100).optional().meta({ description: 'Failed checks in a row until it gets none.' }),
    })
    .meta({ description: 'How the cloud decides that a Node can take traffic.' }),
  [
    {
      cel: "!has(self.path) || self.protocol == 'HTTP'",
      holds: (check) => check.path === undefined || check.protocol === 'HTTP',
      message: 'path needs protocol HTTP',
      field: 'path',
    },
  ],
);
export type HealthCheck = z.infer<typeof healthCheck>;

/** What only the local cloud knows. */
export const localLoadBalancer = z
  .object({
    engine: z.enum(['Node', 'Passthrough']).optional().meta({
      description:
        'What moves the packets. Node: a proxy. Passthrough: they go on as they are, with the client’s address, and without node ports; needs nftables.',
    }),
    healthCheckIntervalMs: z
      .int()
      .min(50)
      .max(600000)
      .optional()
      .meta({ description: 'Time between two checks, finer than healthCheck.intervalSeconds.' }),
    drainSeconds: z.int().min(0).max(3600).optional().meta({ description: 'How long a removed Node keeps its open connections.' }),
    proxyProtocol: z.enum(['None', 'V1', 'V2']).optional().meta({
      description:
        'Whether TCP connections to Nodes begin with a PROXY protocol header, which tells the client’s address; what listens there must expect it.',
    }),
    idleTimeoutSeconds: z.int().min(1).max(4000).optional().meta({ description: 'How long a silent connection is kept.' }),
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
      .optional()
      .meta({
        description: 'Its name in the cloud, which only one can have; absent = made of the Service’s UID. Another one replaces it.',
      }),
  })
  .meta({ description: 'Settings of the local cloud.' });
export type LocalLoadBalancer = z.infer<typeof localLoadBalancer>;

const sessionAffinity = withRules(
  z
    .object({
      type: z.enum(['None', 'ClientIP']).default('None'),
      timeoutSeconds: z.int().min(1).max(86400).optional().meta({ description: 'How long a client keeps its Node; for ClientIP.' }),
    })
    .meta({ description: 'Whether a client stays with one Node.' }),
  [
    {
      cel: "!has(self.timeoutSeconds) || self.type == 'ClientIP'",
      holds: (affinity) => affinity.timeoutSeconds === undefined || affinity.type === 'ClientIP',
      message: 'timeoutSeconds needs type ClientIP',
      field: 'timeoutSeconds',
    },
  ],
);

const fields = z.object({
  provider: objectName.meta({ description: 'The CloudProvider; recorded when the object is made. Another one moves the load balancer.' }),
  placement: z
    .object({ name: objectName, namespace: namespaceName.optional() })
    .optional()
    .meta({ description: 'The cloud load balancer that carries this one; absent = the provider’s default. Another one moves it.' }),
  listeners: mapOf(listener, 'name', {
    min: 1,
    max: MAX_LISTENERS,
    description: 'The ports, at most one for each protocol and port number.',
  }),
  healthCheck: healthCheck.optional(),
  sourceRanges: setOf(cidr, { max: MAX_SOURCE_RANGES, description: 'Who may connect; absent = everybody.' }).optional(),
  scheme: z.enum(['Public', 'Internal']).default('Public').meta({ description: 'Whether the address is reachable from outside.' }),
  ipFamilies: setOf(ipFamily, { min: 1, max: 2, description: 'The families of the addresses, the more important first.' }).default([
    'IPv4',
  ]),
  addresses: setOf(ip, { max: 16, description: 'Addresses asked for; absent = the cloud chooses.' }).optional(),
  trafficPolicy: z
    .enum(['Cluster', 'Local'])
    .default('Cluster')
    .meta({ description: 'Local: only Nodes with an endpoint of the Service get traffic, and the client’s address is kept.' }),
  sessionAffinity: sessionAffinity.optional(),
  updatePolicy: z
    .object({
      approval,
      replace: z.enum(['Never', 'Allow']).default('Never').meta({
        description: 'Whether a change may replace what carries traffic without approval. Never: its plan waits.',
      }),
    })
    .optional()
    .meta({ description: 'How changes reach the cloud.' }),
  managementPolicy: releasablePolicy.optional(),
  deletionPolicy: deletionPolicy.optional(),
  driftInterval: driftInterval.optional(),
  maintenanceWindows: maintenanceWindows.optional(),
  adopt: formerOwner.optional().meta({
    description:
      'Takes over, in place of making one, the load balancer that adoptID names, else the one that has its name or addresses. Released: what another object or cluster has given up. Upstream: what another controller has made for this Service. Unowned: what bears the marks of no controller; needs adoptID. CloudProvider.spec.policy.adoption must allow it.',
  }),
  adoptID: z.string().max(512).regex(/^\S+$/).optional().meta({
    description: 'Id in the cloud of what adopt takes over: on AWS the ARN, of a Classic load balancer the name. It keeps its name.',
  }),
  aws: awsLoadBalancer.optional(),
  azure: azureLoadBalancer.optional(),
  local: localLoadBalancer.optional(),
  custom: customBlock.optional(),
});

export const cloudLoadBalancerSpec = withRules(fields.meta({ description: 'What is wanted.' }), [
  {
    cel: '[has(self.aws), has(self.azure), has(self.local), has(self.custom)].filter(x, x).size() <= 1',
    holds: (spec) => [spec.aws, spec.azure, spec.local, spec.custom].filter((block) => block !== undefined).length <= 1,
    message: 'only one of aws, azure, local, custom can be set',
  },
  {
    cel: 'self.listeners.all(a, self.listeners.exists_one(b, a.port == b.port && a.protocol == b.protocol))',
    holds: (spec) => new Set(spec.listeners.map((at) => `${at.protocol}/${at.port}`)).size === spec.listeners.length,
    message: 'two listeners have the same protocol and port; remove one or change its port',
    field: 'listeners',
  },
  {
    cel: '!has(self.adopt) || !has(self.placement)',
    holds: ({ adopt, placement }) => adopt === undefined || placement === undefined,
    message: 'adopt is for load balancers of their own; remove placement',
    field: 'adopt',
  },
  {
    cel: '!has(self.adoptID) || has(self.adopt)',
    holds: ({ adopt, adoptID }) => adoptID === undefined || adopt !== undefined,
    message: 'adoptID needs adopt, which says whose it is',
    field: 'adoptID',
  },
  {
    cel: "!has(self.adopt) || self.adopt != 'Unowned' || has(self.adoptID)",
    holds: ({ adopt, adoptID }) => adopt !== 'Unowned' || adoptID !== undefined,
    message: 'adopt: Unowned needs adoptID; what nobody has marked is found by its id alone',
    field: 'adopt',
  },
  {
    cel: '!has(self.local) || !has(self.local.name) || !has(self.placement)',
    holds: ({ local, placement }) => local?.name === undefined || placement === undefined,
    message: 'local.name is for load balancers of their own; a shared one is named by its placement',
    field: 'local.name',
  },
  {
    cel: "!has(self.aws) || !has(self.aws.eipAllocationIDs) || self.scheme == 'Public'",
    holds: ({ aws, scheme }) => aws?.eipAllocationIDs === undefined || scheme === 'Public',
    message: 'aws.eipAllocationIDs need scheme Public; an internal load balancer has aws.privateIPv4Addresses',
    field: 'aws.eipAllocationIDs',
  },
  {
    cel: "!has(self.aws) || !has(self.aws.privateIPv4Addresses) || self.scheme == 'Internal'",
    holds: ({ aws, scheme }) => aws?.privateIPv4Addresses === undefined || scheme === 'Internal',
    message: 'aws.privateIPv4Addresses need scheme Internal; a public load balancer has aws.eipAllocationIDs',
    field: 'aws.privateIPv4Addresses',
  },
  {
    cel: "!has(self.azure) || !has(self.azure.publicIP) || self.scheme == 'Public'",
    holds: ({ azure, scheme }) => azure?.publicIP === undefined || scheme === 'Public',
    message: 'azure.publicIP needs scheme Public; an internal load balancer has azure.ipv4Address and azure.subnetName',
    field: 'azure.publicIP',
  },
  {
    cel: "!has(self.azure) || !has(self.azure.subnetName) || self.scheme == 'Internal'",
    holds: ({ azure, scheme }) => azure?.subnetName === undefined || scheme === 'Internal',
    message: 'azure.subnetName needs scheme Internal',
    field: 'azure.subnetName',
  },
  {
    cel: "!has(self.azure) || !has(self.azure.allPorts) || !self.azure.allPorts || self.scheme == 'Internal'",
    holds: ({ azure, scheme }) => azure?.allPorts !== true || scheme === 'Internal',
    message: 'azure.allPorts needs scheme Internal: Azure forwards all ports of internal load balancers only',
    field: 'azure.allPorts',
  },
]);
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

const keptDifference = z
  .object({
    field: z.string().max(253).meta({ description: 'The field that asks for something else.' }),
    wanted: z.string().max(2048).meta({ description: 'What it asks for.' }),
    kept: z.string().max(2048).meta({ description: 'What stands in the cloud.' }),
  })
  .meta({ description: 'What can’t be changed in place of a load balancer that was taken over.' });

export const cloudLoadBalancerStatus = z.object({
  ...statusBase,
  clusterID: z.string().max(64).optional().meta({ description: 'The cluster that this status was written in; another one makes it void.' }),
  objectUID: z.string().max(64).optional().meta({ description: 'The UID that this status was written for; another one makes it void.' }),
  stack: z.string().max(253).optional().meta({ description: 'The CloudStack that carries this load balancer.' }),
  incarnation: z.string().max(64).optional().meta({ description: 'The life of that stack which this status speaks of.' }),
  address: z.string().max(253).optional().meta({ description: 'The first point of entry, for kubectl get.' }),
  ports: z.string().max(1024).optional().meta({ description: 'The listeners in one line, for kubectl get: 80/TCP,443/TCP.' }),
  ingress: z.array(ingress).max(32).optional().meta({ description: 'The points of entry, as they are published in the Service’s status.' }),
  targetGroups: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Digest of its target groups while all Nodes are registered in them; absent = that is not so, or not kept.' }),
  keptAsAdopted: z
    .array(keptDifference)
    .max(32)
    .optional()
    .meta({ description: 'Where it was taken over, and stays, other than the spec asks; absent = nowhere.' }),
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
    { name: 'Ports', type: 'string', jsonPath: '.status.ports' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Stack', type: 'string', jsonPath: '.status.stack', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
