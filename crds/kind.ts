import { z } from 'zod';
import { mapOf } from './list';

/** A column of `kubectl get`; `priority: 1` shows it only with `-o wide`. */
export interface PrinterColumn {
  name: string;
  type: 'string' | 'integer' | 'boolean' | 'date';
  jsonPath: string;
  description?: string;
  priority?: number;
}

/** Everything that the CRD of one kind is made from. */
export interface KindDefinition<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> {
  kind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  scope: 'Namespaced' | 'Cluster';
  description: string;
  spec: Spec;
  status: Status;
  columns: PrinterColumn[];
}

/** Gives a definition its exact types. */
export function defineKind<Spec extends z.ZodType, Status extends z.ZodType>(
  definition: KindDefinition<Spec, Status>,
): KindDefinition<Spec, Status> {
  return definition;
}

/** Object metadata as the API server sends it; unknown fields are kept. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  finalizers?: string[];
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** One object of one of our kinds. */
export interface CloudObject<Spec, Status> {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec: Spec;
  status?: Status;
}

/** A standard condition (KEP-1623), with the limits of metav1.Condition. */
export const condition = z
  .object({
    type: z.string().min(1).max(316).meta({ description: 'Ready, Reconciling, Stalled or one of our own.' }),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .meta({ description: 'Why, in one word for programs.' }),
    message: z.string().max(32768).meta({ description: 'Why, in a sentence for people.' }),
    observedGeneration: z.int().min(0).optional().meta({ description: 'The generation that this condition speaks of.' }),
    lastTransitionTime: z.string().max(64).meta({ description: 'When the status last changed.', format: 'date-time' }),
  })
  .meta({ description: 'One observation about the object.' });
export type Condition = z.infer<typeof condition>;

/** Longest value of the reconcile annotation that is echoed as it is, in characters. */
export const RECONCILE_TOKEN_LENGTH = 256;

/** The part of status that every kind has (kstatus: top-level observedGeneration, Ready / Reconciling / Stalled). */
export const statusBase = {
  observedGeneration: z
    .int()
    .optional()
    .meta({ description: 'The generation that the conditions speak of; −1 until the operator has seen the object.' }),
  conditions: mapOf(condition, 'type', {
    max: 32,
    description: 'Ready is always there; Reconciling while work goes on; Stalled when a person is needed.',
  }).optional(),
  lastHandledReconcile: z
    .string()
    .max(RECONCILE_TOKEN_LENGTH)
    .optional()
    .meta({ description: 'The last value of the reconcile annotation that was acted on; of a longer one `sha256:` and its SHA-256.' }),
};
