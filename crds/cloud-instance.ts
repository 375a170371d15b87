import { z } from 'zod';
import { objectName } from './address';
import { type CloudObject, defineKind, statusBase } from './kind';

export const cloudInstanceSpec = z
  .object({
    provider: objectName.meta({ description: 'The CloudProvider whose cloud has the machine.' }),
    nodeName: objectName.meta({ description: 'The Node that runs on it.' }),
    providerID: z.string().max(1024).optional().meta({ description: 'Node.spec.providerID.' }),
  })
  .meta({ description: 'Which machine this is.' });
export type CloudInstanceSpec = z.infer<typeof cloudInstanceSpec>;

export const cloudInstanceStatus = z.object({
  ...statusBase,
  id: z.string().max(1024).optional().meta({ description: 'The cloud’s id of the machine.' }),
  state: z.enum(['Running', 'Stopped', 'Missing']).optional().meta({ description: 'What the cloud last said of it.' }),
  type: z.string().max(253).optional().meta({ description: 'The machine type.' }),
  zone: z.string().max(253).optional(),
  region: z.string().max(253).optional(),
  addresses: z
    .array(z.object({ type: z.string().max(63), address: z.string().max(253) }))
    .max(64)
    .optional(),
});
export type CloudInstanceStatus = z.infer<typeof cloudInstanceStatus>;
export type CloudInstance = CloudObject<CloudInstanceSpec, CloudInstanceStatus>;

export const CloudInstanceKind = defineKind({
  kind: 'CloudInstance',
  plural: 'cloudinstances',
  singular: 'cloudinstance',
  shortNames: ['ci'],
  scope: 'Cluster',
  description: 'What the cloud says about the machine behind a Node. A mirror, written by the operator only when something changed.',
  spec: cloudInstanceSpec,
  status: cloudInstanceStatus,
  columns: [
    { name: 'ID', type: 'string', jsonPath: '.status.id' },
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Type', type: 'string', jsonPath: '.status.type' },
    { name: 'Zone', type: 'string', jsonPath: '.status.zone' },
    { name: 'Address', type: 'string', jsonPath: '.status.addresses[0].address', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
