import { z } from 'zod';
import { cidr, hasNoHostBits, ip, objectName } from './address';
import { type CloudObject, defineKind, statusBase } from './kind';
import { maintenanceWindows } from './maintenance-window';
import { approval, deletionPolicy, driftInterval, managementPolicy } from './policies';
import { immutable, withRules } from './rule';

const destination = immutable(
  withRules(cidr.meta({ description: 'Where the packets go to: a Node’s PodCIDR.' }), [
    {
      cel: '!isCIDR(self) || cidr(self) == cidr(self).masked()',
      holds: hasNoHostBits,
      message: 'must not have bits set behind the mask; write 10.244.1.0/24 rather than 10.244.1.7/24',
    },
  ]),
  'the destination cannot be changed; make another object',
);

export const cloudRouteSpec = z.object({
  provider: immutable(
    objectName.meta({ description: 'The CloudProvider; chosen once.' }),
    'the provider is chosen once; make another object to move',
  ),
  destinationCIDR: destination,
  nodeName: objectName.meta({ description: 'The Node that is the next hop.' }),
  nodeUID: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'The UID of that Node, so that a new Node of the same name is not taken for it.' }),
  providerID: z
    .string()
    .max(1024)
    .optional()
    .meta({ description: 'The next hop’s instance; absent = it is looked up by the Node’s name.' }),
  nodeAddresses: z.array(ip).max(16).optional().meta({ description: 'The next hop’s addresses, for clouds that route to addresses.' }),
  updatePolicy: z.object({ approval }).optional().meta({ description: 'How changes reach the cloud.' }),
  managementPolicy: managementPolicy.optional(),
  deletionPolicy: deletionPolicy.optional(),
  driftInterval: driftInterval.optional(),
  maintenanceWindows: maintenanceWindows.optional(),
});
export type CloudRouteSpec = z.infer<typeof cloudRouteSpec>;

export const cloudRouteStatus = z.object({
  ...statusBase,
  stack: z.string().max(253).optional().meta({ description: 'The CloudStack that carries this route.' }),
  routeTable: z.string().max(1024).optional().meta({ description: 'The cloud’s id of the table that holds the route.' }),
});
export type CloudRouteStatus = z.infer<typeof cloudRouteStatus>;
export type CloudRoute = CloudObject<CloudRouteSpec, CloudRouteStatus>;

export const CloudRouteKind = defineKind({
  kind: 'CloudRoute',
  plural: 'cloudroutes',
  singular: 'cloudroute',
  shortNames: ['crt'],
  scope: 'Cluster',
  description: 'A route in the cloud from a PodCIDR to its Node.',
  spec: cloudRouteSpec,
  status: cloudRouteStatus,
  columns: [
    { name: 'Destination', type: 'string', jsonPath: '.spec.destinationCIDR' },
    { name: 'Node', type: 'string', jsonPath: '.spec.nodeName' },
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
