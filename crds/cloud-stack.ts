import { z } from 'zod';
import { objectName } from './address';
import { type CloudObject, defineKind, statusBase } from './kind';
import { mapOf } from './list';

export const cloudStackSpec = z.object({
  provider: objectName.meta({ description: 'The CloudProvider whose cloud holds the stack.' }),
  kind: z
    .enum(['LoadBalancer', 'Routes', 'Extra'])
    .meta({ description: 'What the stack is made of. Extra: what an extension adds to load balancers.' }),
  project: z.string().min(1).max(100).meta({ description: 'The Pulumi project.' }),
});
export type CloudStackSpec = z.infer<typeof cloudStackSpec>;

const propertyValue = z.string().max(256);

export const plannedChange = z.object({
  path: z.string().max(253).meta({ description: 'Path of the property, for example listeners[0].port.' }),
  old: propertyValue.optional().meta({ description: 'The value now, as JSON; absent = there is none.' }),
  new: propertyValue.optional().meta({ description: 'The value then, as JSON; absent = there will be none.' }),
});
export type PlannedChange = z.infer<typeof plannedChange>;

export const plannedOperation = z.object({
  op: z.enum(['create', 'update', 'replace', 'delete']),
  type: z.string().max(253),
  name: z.string().max(253),
  urn: z.string().max(1024),
  stack: objectName
    .optional()
    .meta({ description: 'The stack that it is in, where that is another one: what that gives up before this one makes it anew.' }),
  deleteFirst: z
    .boolean()
    .optional()
    .meta({ description: 'The old one goes before the new one is made: a gap in traffic, where it carries any.' }),
  properties: z.array(plannedChange).max(200).optional().meta({ description: 'What changes; secrets are shown as [secret].' }),
});
export type PlannedOperation = z.infer<typeof plannedOperation>;

export const attempt = z.object({
  kind: z.enum(['Update', 'Destroy', 'Preview']),
  cause: z.enum(['Change', 'Drift', 'Upgrade']).optional().meta({
    description: 'Drift: the cloud was changed by somebody else, and is brought back. Upgrade: a newer operator makes it otherwise.',
  }),
  id: z.string().max(64).optional().meta({
    description:
      'Of the change that the update brings about: in the operator’s log, and the id of its trace. Another try of the same has the same.',
  }),
  startedAt: z.string().max(64).meta({ format: 'date-time' }),
  durationMs: z.int().min(0).optional(),
  result: z.enum(['Running', 'Succeeded', 'Failed', 'Canceled']),
  code: z.string().max(64).optional().meta({ description: 'The class of the failure.' }),
  message: z.string().max(1024).optional(),
  changes: z
    .string()
    .max(253)
    .optional()
    .meta({ description: 'Resources created, changed, deleted and left as they were, for example +2 ~1 -0 =3.' }),
  cloudCalls: z.int().min(0).optional().meta({ description: 'How many calls were made to the cloud.' }),
  operations: z
    .array(plannedOperation)
    .max(20)
    .optional()
    .meta({ description: 'What was done to which resource; of an attempt that failed, what had begun.' }),
  omitted: z.int().min(0).optional().meta({ description: 'How many operations and properties are left out here.' }),
});
export type Attempt = z.infer<typeof attempt>;

export const stackResource = z.object({
  type: z.string().max(253),
  name: z.string().max(253),
  id: z.string().max(1024),
  urn: z.string().max(1024),
});
export type StackResource = z.infer<typeof stackResource>;

export const drift = z.object({
  urn: z.string().max(1024),
  kind: z.enum(['Changed', 'Missing', 'Unknown']),
  property: z.string().max(253).optional(),
  old: propertyValue.optional().meta({ description: 'What is wanted, as JSON.' }),
  new: propertyValue.optional().meta({ description: 'What the cloud has, as JSON.' }),
  detail: z.string().max(1024).optional(),
});
export type Drift = z.infer<typeof drift>;

export const plan = z.object({
  member: z.string().max(600).meta({ description: 'namespace/name of the object whose change waits.' }),
  hash: z
    .string()
    .max(64)
    .meta({ description: 'What the annotation cloud-operator.dev/approve must say for this plan to be carried out.' }),
  reason: z.string().max(1024).meta({ description: 'Why it waits.' }),
  summary: z.string().max(1024).meta({ description: 'What it does, in one line.' }),
  operations: z.array(plannedOperation).max(50).meta({ description: 'What is done to which resource.' }),
  omitted: z.int().min(0).optional().meta({ description: 'How many operations and properties are left out here.' }),
});
export type WaitingPlan = z.infer<typeof plan>;

export const cloudStackStatus = z.object({
  ...statusBase,
  incarnation: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Random, made with the stack: tells it from an earlier one of the same name.' }),
  holder: z.string().max(253).optional().meta({ description: 'The operator that last ran an update.' }),
  epoch: z.int().min(0).optional().meta({ description: 'Raised by every new leader.' }),
  inputsHash: z.string().max(64).optional().meta({ description: 'Hash of the inputs that the cloud was last brought to.' }),
  programVersion: z.string().max(64).optional().meta({ description: 'The version of the program that was last run.' }),
  plugin: z.enum(['Official']).optional().meta({
    description:
      'The cloud’s official plugin serves its resource types, as spec.plugin of the CloudProvider said when the stack was made; absent = the operator does.',
  }),
  members: z
    .array(z.string().max(600))
    .max(5000)
    .optional()
    .meta({ description: 'namespace/name of the load balancers, or names of the routes, carried by this stack.' }),
  resourceCount: z.int().min(0).optional().meta({ description: 'How many resources the stack holds.' }),
  resources: z.array(stackResource).max(1000).optional().meta({ description: 'The first thousand of them.' }),
  attempts: z.array(attempt).max(5).optional().meta({ description: 'The last five, newest first.' }),
  plans: mapOf(plan, 'member', { max: 16, description: 'Changes that wait for approval, one for each object.' }).optional(),
  plansOmitted: z.int().min(1).optional().meta({
    description:
      'How many more changes wait, whose plans are left out here: the condition of each such object has its hash and the command.',
  }),
  drift: z.array(drift).max(100).optional().meta({ description: 'Where the cloud differs from the stack.' }),
  lastAttempt: z.string().max(253).optional().meta({ description: 'The newest attempt in one line, for kubectl get.' }),
});
export type CloudStackStatus = z.infer<typeof cloudStackStatus>;
export type CloudStack = CloudObject<CloudStackSpec, CloudStackStatus>;

export const CloudStackKind = defineKind({
  kind: 'CloudStack',
  plural: 'cloudstacks',
  singular: 'cloudstack',
  shortNames: ['cst'],
  scope: 'Cluster',
  description: 'One Pulumi stack: what it holds and what was last done to it. Written by the operator, read by people.',
  spec: cloudStackSpec,
  status: cloudStackStatus,
  columns: [
    { name: 'Provider', type: 'string', jsonPath: '.spec.provider' },
    { name: 'Kind', type: 'string', jsonPath: '.spec.kind' },
    { name: 'Resources', type: 'integer', jsonPath: '.status.resourceCount' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Last attempt', type: 'string', jsonPath: '.status.lastAttempt' },
    { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason', priority: 1 },
    { name: 'Message', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
