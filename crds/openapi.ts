import { z } from 'zod';
import type { Condition, KindDefinition } from './kind';
import type { CelRule } from './rule';

/** A structural schema of apiextensions.k8s.io/v1, as far as we use it. */
export interface OpenAPISchema {
  type?: string;
  format?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  required?: string[];
  properties?: Record<string, OpenAPISchema>;
  additionalProperties?: OpenAPISchema;
  items?: OpenAPISchema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: CelRule[];
}

/**
 * What an object says that nobody has looked at. `Reconciling` would not do: the API server counts a default as nobody's, so that no later status without it
 * would take it away; `Ready` is in all of them.
 */
const QUEUED: Condition = {
  type: 'Ready',
  status: 'Unknown',
  reason: 'Queued',
  message: 'The operator has not looked at it yet',
  lastTransitionTime: '1970-01-01T00:00:00Z',
};

/** The schema of whole objects of a kind. Status has a default, so that an object nobody has looked at counts as in progress (kstatus), and says so. */
export function objectSchema(kind: KindDefinition): OpenAPISchema {
  const isJudged = kind.columns.some(({ name }) => name === QUEUED.type);
  return {
    description: kind.description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: 'The version of this schema.' },
      kind: { type: 'string', description: 'The kind of the object.' },
      metadata: { type: 'object' },
      spec: toOpenAPI(kind.spec),
      status: {
        description: 'What was observed; written by the operator.',
        ...toOpenAPI(kind.status),
        default: { observedGeneration: -1, ...(isJudged && { conditions: [QUEUED] }) },
      },
    },
  };
}

/** Turns a zod schema into a structural one: what a client may send, with the defaults that the API server fills in. */
export function toOpenAPI(schema: z.ZodType): OpenAPISchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'throw',
    override: (at) => makeStructural(at.jsonSchema),
  });
  return json as OpenAPISchema;
}

type JsonSchema = Record<string, unknown>;

/** Removes what a structural schema must not have and writes what it needs, in place: zod offers the node for that. */
function makeStructural(node: JsonSchema): void {
  delete node.$schema;
  delete node.propertyNames;
  if (node.additionalProperties === false) delete node.additionalProperties;
  if (node.type === 'integer') limitInteger(node);
  if (node.anyOf !== undefined) makeIntOrString(node);
}

/** zod writes JavaScript's safe integers as limits; in the API that is format int64. */
function limitInteger(node: JsonSchema): void {
  if (node.minimum === Number.MIN_SAFE_INTEGER) delete node.minimum;
  if (node.maximum === Number.MAX_SAFE_INTEGER) delete node.maximum;
  const fitsInt32 = typeof node.maximum === 'number' && node.maximum < 2 ** 31;
  node.format = fitsInt32 ? 'int32' : 'int64';
}

/** The only union that a structural schema can say without repeating every branch. */
function makeIntOrString(node: JsonSchema): void {
  const types = (node.anyOf as JsonSchema[]).map((branch) => branch.type);
  if (types.length !== 2 || !types.includes('integer') || !types.includes('string')) {
    throw new Error('a CRD cannot express this union; use an enum, or optional fields with a rule');
  }
  delete node.anyOf;
  node['x-kubernetes-int-or-string'] = true;
}
