import type { PlannedChange, PlannedOperation } from '../../crds';
import { propertyChanges } from '../../providers/resource-provider/diff';
import { hashJson, type Json, type JsonObject } from '../base/json';
import { isSecret, shortType } from './checkpoint';
import { valueAt } from './drift';
import type { ChangeCounts } from './update';

/** What an update would do to the cloud, as a preview found it. */
export interface Plan {
  /** Of stack, inputs, program version and operations: the same plan has the same hash, whenever it is made. */
  hash: string;
  counts: ChangeCounts;
  /** All of them, in the order in which they would be carried out; secrets are redacted. */
  operations: PlannedOperation[];
}

/** One step of the engine, as its events tell it. */
export interface EngineStep {
  op: string;
  urn: string;
  type: string;
  old?: { inputs?: JsonObject };
  new?: { inputs?: JsonObject };
  /** Paths of properties that differ, also of secret ones. */
  differs?: string[];
}

const VALUE_LIMIT = 256;
const PATH_LIMIT = 253;
const REDACTED = '[secret]';
/** What the engine calls a value that only the update itself can tell. */
const UNKNOWN = '04da6b54-80e4-46f7-96ec-b56ff0331ba9';
const REPLACEMENTS = ['replace', 'create-replacement', 'delete-replaced'];

/** Limits of a plan where people read it. */
export const PLAN_LIMITS = { operations: 50, properties: 200, bytes: 16 * 1024 };

/** Limits of what an update that has ended did, of which a CloudStack keeps several. */
export const DONE_LIMITS = { operations: 20, properties: 50, bytes: 3 * 1024 };

/** One operation for each resource that changes: the engine's steps of a replacement are one. Pure. */
export function operationsOf(steps: readonly EngineStep[]): PlannedOperation[] {
  const byUrn = new Map<string, EngineStep[]>();
  for (const step of steps) byUrn.set(step.urn, [...(byUrn.get(step.urn) ?? []), step]);
  return [...byUrn.values()].flatMap((of) => operationOf(of) ?? []);
}

/** Hash of a plan. Pure. */
export function planHash(of: {
  stack: string;
  inputsHash: string;
  programVersion: string;
  operations: readonly PlannedOperation[];
  /** StackRecord.departures. */
  departures?: number | undefined;
  /** StackRecord.approvals. */
  approvals?: number | undefined;
}): string {
  const { stack, inputsHash, programVersion, departures, approvals } = of;
  // Independent resources come in any order.
  const operations = [...of.operations].sort((a, b) => (a.urn < b.urn ? -1 : 1));
  const counted = { ...(departures !== undefined && { departures }), ...(approvals !== undefined && { approvals }) };
  return hashJson({ stack, inputsHash, programVersion, operations, ...counted });
}

/** The part of a plan that is shown. */
export interface ShownOperations {
  operations: PlannedOperation[];
  /** How many operations and properties are left out; absent = none. */
  omitted?: number;
}

/** The part of a plan that is shown, within the limits; what is left out is counted. Pure. */
export function capped(operations: readonly PlannedOperation[], limits = PLAN_LIMITS): ShownOperations {
  const shown: PlannedOperation[] = [];
  let [properties, bytes, omitted] = [limits.properties, limits.bytes, 0];
  for (const operation of operations) {
    const bare = withProperties(operation, []);
    const size = sizeOf(bare);
    if (shown.length === limits.operations || size > bytes) {
      omitted += 1 + (operation.properties?.length ?? 0);
      continue;
    }
    bytes -= size;
    const kept: PlannedChange[] = [];
    for (const change of operation.properties ?? []) {
      const more = sizeOf(change);
      if (properties === 0 || more > bytes) omitted += 1;
      else {
        kept.push(change);
        properties -= 1;
        bytes -= more;
      }
    }
    shown.push(withProperties(operation, kept));
  }
  return omitted === 0 ? { operations: shown } : { operations: shown, omitted };
}

/** A plan in one line: what is replaced by name, since that is what matters. Pure. */
export function summaryOf({ counts, operations }: Plan): string {
  const { create, update, replace, delete: remove, same } = counts;
  const replaced = operations
    .filter(({ op }) => op === 'replace')
    .map(({ type, name, deleteFirst }) => {
      const how = deleteFirst === true ? ' (delete first, with a gap in traffic)' : '';
      return `replaces ${shortType(type)} ${name}${how}`;
    });
  const elsewhere = operations.filter(({ stack }) => stack !== undefined);
  const lost = elsewhere.filter(({ op }) => op === 'delete').map(({ type, name }) => `${shortType(type)} ${name}`);
  const text = [
    `${create} to create, ${update} to update, ${replace} to replace, ${remove} to delete, ${same} unchanged`,
    ...replaced,
    ...(elsewhere.length === 0 ? [] : [`stack ${elsewhere[0]?.stack} gives up first: ${lost.join(', ')}`]),
  ].join('; ');
  return text.length <= 1024 ? text : `${text.slice(0, 1023)}…`;
}

function operationOf(steps: readonly EngineStep[]): PlannedOperation | undefined {
  const [first] = steps;
  if (first === undefined) return undefined;
  const { urn, type } = first;
  const named = { type, name: urn.split('::').slice(3).join('::'), urn };
  const ops = steps.map(({ op }) => op);
  if (ops.includes('create-replacement') || ops.includes('replace')) {
    const [removed, made] = [ops.indexOf('delete-replaced'), ops.indexOf('create-replacement')];
    const deleteFirst = removed >= 0 && removed < made;
    const step = steps.find((one) => REPLACEMENTS.includes(one.op) && one.old !== undefined && one.new !== undefined) ?? first;
    return { op: 'replace', ...named, ...(deleteFirst ? { deleteFirst } : {}), ...propertiesOf(step) };
  }
  const step = steps.find(({ op }) => op === 'create' || op === 'update' || op === 'delete' || op === 'delete-replaced');
  if (step === undefined) return undefined;
  if (step.op === 'create' || step.op === 'update') return { op: step.op, ...named, ...propertiesOf(step) };
  return { op: 'delete', ...named };
}

function propertiesOf(step: EngineStep): { properties?: PlannedChange[] } {
  const [olds, news] = [step.op === 'create' ? {} : redacted(step.old?.inputs), redacted(step.new?.inputs)];
  const paths = propertyChanges(olds, news).map(({ path }) => path);
  // A secret differs without showing it.
  const hidden = (step.differs ?? []).filter((path) => isRedacted(valueAt(olds, path)) || isRedacted(valueAt(news, path)));
  const properties = [...new Set([...paths, ...hidden])].sort().map((path) => changeAt(path, olds, news));
  return properties.length === 0 ? {} : { properties };
}

function changeAt(path: string, olds: JsonObject, news: JsonObject): PlannedChange {
  const [old, wanted] = [textOf(valueAt(olds, path)), textOf(valueAt(news, path))];
  return { path: path.slice(0, PATH_LIMIT), ...(old === undefined ? {} : { old }), ...(wanted === undefined ? {} : { new: wanted }) };
}

function textOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (isRedacted(value)) return REDACTED;
  const text = JSON.stringify(value).replaceAll(`"${UNKNOWN}"`, '[known after the update]');
  return text.length <= VALUE_LIMIT ? text : `${text.slice(0, VALUE_LIMIT - 1)}…`;
}

/** The engine shows secrets as `[secret]` already; whatever still carries the mark of one is hidden here. */
function redacted(inputs: JsonObject = {}): JsonObject {
  return redact(inputs) as JsonObject;
}

function redact(value: Json): Json {
  if (isSecret(value)) return REDACTED;
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redact(item)]));
}

function isRedacted(value: Json | undefined): boolean {
  return value === REDACTED;
}

function withProperties({ properties: _, ...bare }: PlannedOperation, properties: PlannedChange[]): PlannedOperation {
  return properties.length === 0 ? bare : { ...bare, properties };
}

function sizeOf(value: object): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}
