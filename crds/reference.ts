import { API_VERSION } from './group';
import type { KindDefinition } from './kind';
import { objectSchema, type OpenAPISchema } from './openapi';

const HEADER = `<!-- Generated from crds/*.ts by \`npm run generate\`. Do not edit. -->
<!-- prettier-ignore-start -->

# The kinds

All of them belong to \`${API_VERSION}\`; \`kubectl get cloud -A\` lists all objects. A field in **bold** must be set. Every value is checked by the API
server when an object is written; the rules under a table are those that speak of more than one field, or compare with the old object.

## Words

| word | means |
|---|---|
| cluster id | the UID of the Namespace \`kube-system\`: what the tags in the cloud name a cluster by |
| stack | what one update brings about together: a Pulumi stack with its state, shown as a CloudStack |
| member | a CloudLoadBalancer or CloudRoute that a stack carries |
| placement | the cloud load balancer that carries a CloudLoadBalancer; those with the same one share it |
| target | a Node that takes traffic of a load balancer; target groups (AWS) and target pools (local cloud) are lists of them |
| accepted | of a member: the spec whose update succeeded last, which goes on serving while a newer one waits or fails |
| plan | what an update would do, resource by resource, with old and new values; its hash is what a person approves |
| attempt | one update, from its begin to its end, with what it did |
| generation | of a load balancer: raised by each replacement; the old one stays until the new one serves |
| drift | what somebody else has changed in the cloud |
| lever | what holds changes back: freeze, observe, pause, window, approval ([levers.md](../operate/levers.md)) |
| released | marked in the cloud as given up: nobody's, until it is adopted |
| adopt | to take over, as it is, what somebody else has made or had ([adopt.md](../operate/adopt.md)) |
| leftover | what bears this cluster's marks in the cloud and belongs to nothing ([sweep.md](../operate/sweep.md)) |
| Stalled | nothing goes on until a person does something, which the message says |
`;

/** The API reference in Markdown: every field of every kind with type, default, limits and meaning. */
export function kindsReference(kinds: KindDefinition[]): string {
  return [HEADER, ...kinds.map(kindSection), '<!-- prettier-ignore-end -->\n'].join('\n');
}

function kindSection(kind: KindDefinition): string {
  const { spec = {}, status = {} } = objectSchema(kind).properties ?? {};
  const scope = kind.scope === 'Cluster' ? 'cluster' : 'namespace';
  return [
    `## ${kind.kind}\n`,
    `${kind.description}\n`,
    `Scope: ${scope}. Short name: ${kind.shortNames.map(code).join(', ')}.\n`,
    `### ${kind.kind} spec\n`,
    fieldTable(spec),
    ruleList(spec),
    `### ${kind.kind} status\n`,
    fieldTable(status),
  ].join('\n');
}

interface Field {
  path: string;
  required: boolean;
  schema: OpenAPISchema;
}

function fieldTable(schema: OpenAPISchema): string {
  const rows = fieldsOf(schema, '').map(({ path, required, schema: at }) => {
    const name = required ? `**${code(path)}**` : code(path);
    const fallback = at.default === undefined ? '' : code(JSON.stringify(at.default));
    return `| ${[name, typeName(at), fallback, cell(describe(at))].join(' | ')} |`;
  });
  return ['| field | type | default | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

/** Every field below a schema, parents before children; the elements of a list are written `name[]`. */
function fieldsOf(schema: OpenAPISchema, prefix: string): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, at]) => {
    const path = `${prefix}${name}`;
    const field = { path, required: schema.required?.includes(name) ?? false, schema: at };
    const inner = at.items ?? at;
    return [field, ...fieldsOf(inner, at.items === undefined ? `${path}.` : `${path}[].`)];
  });
}

function typeName(schema: OpenAPISchema): string {
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (schema.enum !== undefined) return schema.enum.map((word) => code(String(word))).join(', ');
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeName(schema.additionalProperties)}`;
  return schema.type ?? 'any';
}

function describe(schema: OpenAPISchema): string {
  return [schema.description, limits(schema)].filter((part) => part !== undefined && part !== '').join(' ');
}

function limits(schema: OpenAPISchema): string {
  const { minimum, maximum, maxLength, minItems, maxItems } = schema;
  const parts = [
    minimum === undefined && maximum === undefined ? undefined : `${range(minimum, maximum)}.`,
    maxLength === undefined || schema.enum !== undefined ? undefined : `At most ${maxLength} characters.`,
    maxItems === undefined ? undefined : `${range(minItems, maxItems)} items.`,
  ];
  return parts.filter((part) => part !== undefined).join(' ');
}

function range(from: number | undefined, to: number | undefined): string {
  if (from === undefined) return `At most ${to}`;
  return to === undefined ? `At least ${from}` : `${from} to ${to}`;
}

function ruleList(schema: OpenAPISchema): string {
  const lines = rulesOf(schema, 'spec').map(({ path, message }) => `- ${code(path)}: ${message}.`);
  return lines.length === 0 ? '' : ['Rules:\n', ...lines, ''].join('\n');
}

function rulesOf(schema: OpenAPISchema, path: string): { path: string; message: string }[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message, fieldPath }) => ({ path: `${path}${fieldPath ?? ''}`, message }));
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, at]) => rulesOf(at, `${path}.${name}`));
  return [...own, ...below, ...(schema.items === undefined ? [] : rulesOf(schema.items, `${path}[]`))];
}

function code(text: string): string {
  return `\`${text}\``;
}

/** A bar would end the cell; an angle bracket would begin a tag. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
