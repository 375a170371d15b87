import type { Drift } from '../../crds';
import { propertyChanges } from '../../providers/resource-provider/diff';
import type { DiscoveredResource } from '../../providers/provider';
import type { Json, JsonObject } from '../base/json';
import { type CheckpointResource, isCloudResource, isSecret, nameOfUrn, urnOf } from './checkpoint';

/** How what was found belongs to what is in the state. */
export interface Matches {
  /** In both. */
  pairs: { stored: CheckpointResource; found: DiscoveredResource }[];
  /** In the state, not in the cloud. */
  gone: CheckpointResource[];
  /** In the cloud, not in the state; the URN that a program gives to it. */
  unknown: { urn: string; found: DiscoveredResource }[];
}

const DETAIL_LIMIT = 200;
const FAILURE_LIMIT = 1024;
/** Input under which a checkpoint remembers what the cloud says is broken. No program sets it: the engine sees a difference and updates. */
const FAILURE = '$failure';
/** Under which a plugin of the Terraform kind lists the names of the inputs that it has filled in; of others discovery knows them (DiscoveredResource.filledIn). */
const DEFAULTS = '__defaults';

/**
 * Pairs the state's resources with what was found: by type and id. A found one with a known type and name but another id is unknown
 * (a twin, or made anew by somebody); one without a mark is nothing at all then, and in a pair it is as the state has it. Pure.
 * @param begun what operations in flight were to make of them: of lists that others share, their items are the stack's too
 */
export function match(
  resources: CheckpointResource[],
  found: DiscoveredResource[],
  stack: { project: string; name: string },
  begun: CheckpointResource[] = [],
): Matches {
  const rest = new Map(found.map((resource) => [keyOf(resource), resource]));
  const pairs: Matches['pairs'] = [];
  const gone: CheckpointResource[] = [];
  for (const stored of resources.filter(isCloudResource)) {
    const { type, id = '' } = stored;
    const twin = rest.get(keyOf({ type, id })) ?? rest.get(caselessKeyOf({ type, id }));
    if (twin === undefined) {
      gone.push(stored);
      continue;
    }
    pairs.push({ stored, found: respelled(asStored(twin, stored, begun), stored) });
    rest.delete(keyOf(twin));
  }
  const urnByName = new Map(resources.map((resource) => [`${resource.type} ${nameOfUrn(resource.urn)}`, resource.urn]));
  const marked = [...rest.values()].filter(({ unmarked }) => unmarked !== true);
  const unknown = marked.map((resource) => ({
    urn: urnByName.get(`${resource.type} ${resource.name}`) ?? urnOf(stack.project, stack.name, resource.type, resource.name),
    found: resource,
  }));
  return { pairs, gone, unknown };
}

function keyOf(resource: Pick<DiscoveredResource, 'type' | 'id' | 'caselessIDs'>): string {
  return resource.caselessIDs === undefined ? `${resource.type} ${resource.id}` : caselessKeyOf(resource);
}

function caselessKeyOf({ type, id }: Pick<DiscoveredResource, 'type' | 'id'>): string {
  return `${type} caseless ${id.toLowerCase()}`;
}

/** With ids as the state has them where they differ in letter case alone. */
function respelled(found: DiscoveredResource, { id, inputs = {}, outputs = {} }: CheckpointResource): DiscoveredResource {
  const { caselessIDs } = found;
  if (caselessIDs === undefined) return found;
  const { prefix, properties } = caselessIDs;
  const spelled = (value: Json, stored: Json | undefined, isID = false): Json => {
    if (typeof value === 'string') {
      const isSame = typeof stored === 'string' && stored.toLowerCase() === value.toLowerCase();
      return isSame && (isID || value.toLowerCase().startsWith(prefix)) ? stored : value;
    }
    if (Array.isArray(value)) return Array.isArray(stored) ? value.map((item, index) => spelled(item, stored[index])) : value;
    return isObject(value) && stored !== undefined && isObject(stored) ? inside(value, stored) : value;
  };
  const inside = (values: JsonObject, stored: JsonObject, ids: readonly string[] = []): JsonObject =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, spelled(value, stored[key], ids.includes(key))]));
  return {
    ...found,
    id: id ?? found.id,
    inputs: inside(found.inputs, inputs, properties),
    outputs: inside(found.outputs, outputs, properties),
  };
}

/** What is found of it without what is others': of one without a mark all that the state does not say, of shared lists their items. */
function asStored(found: DiscoveredResource, stored: CheckpointResource, begun: CheckpointResource[]): DiscoveredResource {
  if (found.unmarked !== true && found.sharedLists === undefined) return found;
  const { inputs = {}, outputs = {}, urn } = stored;
  const known = [inputs, ...begun.filter((one) => one.urn === urn).map((one) => one.inputs ?? {})];
  const [own, shown] = [found.inputs, found.outputs].map((properties) => ownItems(found.sharedLists, properties, known));
  if (found.unmarked === true) return { ...found, inputs: { ...inputs, ...own }, outputs: { ...outputs, ...own } };
  return { ...found, inputs: { ...found.inputs, ...own }, outputs: { ...found.outputs, ...shown } };
}

/** Of lists in which others have items too, the items that are known, as they are now. */
function ownItems(sharedLists: DiscoveredResource['sharedLists'] = {}, properties: JsonObject, known: JsonObject[]): JsonObject {
  const own = Object.entries(sharedLists).map(([list, shared]): [string, Json] => {
    const { key, lists = [] } = typeof shared === 'string' ? { key: shared } : shared;
    const there = new Map(itemsOf(properties[list]).map((item) => [item[key], item]));
    const ours = known.flatMap((one) => itemsOf(one[list]));
    const names = new Set(ours.map((item) => item[key]));
    const itemOf = (name: Json | undefined): JsonObject[] => {
      const found = there.get(name);
      const parts = ours.filter((item) => item[key] === name);
      return found === undefined ? [] : ownPart(found, parts, lists);
    };
    return [list, [...names].flatMap(itemOf)];
  });
  return Object.fromEntries(own);
}

/** An item whose own lists others share as well, with what is known of those; of one that has nothing of that nothing is ours. */
function ownPart(found: JsonObject, known: JsonObject[], lists: readonly string[]): JsonObject[] {
  const valuesOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
  const own = lists.map((list): [string, Json[]] => {
    const there = new Set(valuesOf(found[list]));
    const values = new Set(known.flatMap((item) => valuesOf(item[list])));
    return [list, [...values].filter((value) => there.has(value))];
  });
  return own.some(([, values]) => values.length === 0) ? [] : [{ ...found, ...Object.fromEntries(own) }];
}

function itemsOf(list: Json | undefined): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Differences between state and cloud, one per property that the program sets; an empty list = in step. Pure. */
export function driftOf(matches: Matches): Drift[] {
  const changed = matches.pairs
    .filter(({ stored }) => stored.delete !== true)
    .flatMap(({ stored, found }) => [
      ...changesOf(stored, found).map((change) => changedDrift(stored, found, change.path)),
      ...(found.failure === undefined ? [] : [brokenDrift(stored, found.failure)]),
    ]);
  const missing = matches.gone
    .filter((stored) => stored.delete !== true)
    .map((stored): Drift => ({ urn: stored.urn, kind: 'Missing', detail: `${stored.type} ${stored.id ?? ''} is gone` }));
  const unknown = matches.unknown.map(({ urn, found }): Drift => ({
    urn,
    kind: 'Unknown',
    detail: `${found.type} ${found.id} is in the cloud, but not in the state`,
  }));
  return [...changed, ...missing, ...unknown];
}

/** Top-level properties that differ, with the cloud's value: only what the program sets counts, and what is broken. Pure. */
export function changedProperties(stored: CheckpointResource, found: DiscoveredResource): JsonObject {
  const actual = restrict(found.inputs, comparable(stored, found)) as JsonObject;
  const names = new Set(changesOf(stored, found).map((change) => change.property));
  return { ...Object.fromEntries([...names].map((name) => [name, actual[name] ?? null])), ...failureOf(found) };
}

/** The mark of a broken resource, to stand among its inputs. Pure. */
export function failureOf({ failure }: DiscoveredResource): JsonObject {
  return failure === undefined ? {} : { [FAILURE]: failure };
}

function changesOf(stored: CheckpointResource, found: DiscoveredResource): ReturnType<typeof propertyChanges> {
  const wanted = comparable(stored, found);
  return propertyChanges(wanted, restrict(found.inputs, wanted) as JsonObject);
}

/** What the program set, without secrets: those can't be compared with what the cloud shows. */
function comparable({ inputs = {} }: CheckpointResource, { filledIn = [] }: DiscoveredResource): JsonObject {
  const set = inputs[DEFAULTS] === undefined ? inputs : (withoutDefaults(inputs) as JsonObject);
  return Object.fromEntries(
    Object.entries(set).filter(([name, value]) => name !== FAILURE && !filledIn.includes(name) && !containsSecret(value)),
  );
}

/** Without what an official plugin has filled in: it names that beside it, at every depth. */
function withoutDefaults(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutDefaults);
  if (!isObject(value)) return value;
  const filledIn = new Set<Json>([DEFAULTS, ...(Array.isArray(value[DEFAULTS]) ? value[DEFAULTS] : [])]);
  const set = Object.entries(value).filter(([name]) => !filledIn.has(name));
  return Object.fromEntries(set.map(([name, item]) => [name, withoutDefaults(item)]));
}

function containsSecret(value: Json): boolean {
  if (isSecret(value)) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return typeof value === 'object' && value !== null && Object.values(value).some(containsSecret);
}

/** `value` without the keys that `like` doesn't have, at every depth: defaults that the cloud adds are not drift. */
function restrict(value: Json, like: Json): Json {
  if (Array.isArray(value) && Array.isArray(like))
    return value.map((item, index) => (like[index] === undefined ? item : restrict(item, like[index])));
  if (!isObject(value) || !isObject(like)) return value;
  const keys = Object.keys(like).filter((key) => value[key] !== undefined);
  return Object.fromEntries(keys.map((key) => [key, restrict(value[key] ?? null, like[key] ?? null)]));
}

function changedDrift(stored: CheckpointResource, found: DiscoveredResource, path: string): Drift {
  const text = (value: Json | undefined): string => JSON.stringify(value ?? null).slice(0, DETAIL_LIMIT);
  const [wanted, has] = [text(valueAt(stored.inputs ?? {}, path)), text(valueAt(found.inputs, path))];
  return {
    urn: stored.urn,
    kind: 'Changed',
    property: path.slice(0, 253),
    old: wanted,
    new: has,
    detail: `wanted ${wanted}, found ${has}`,
  };
}

function brokenDrift({ urn }: CheckpointResource, failure: string): Drift {
  return { urn, kind: 'Changed', detail: `it does not work: ${failure}`.slice(0, FAILURE_LIMIT) };
}

/** Reads a property path such as `listeners[0].port`. Pure. */
export function valueAt(value: Json, path: string): Json | undefined {
  const keys = [...path.matchAll(/\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.[\]]+)/g)].map(
    ([, quoted, index, word]) => quoted ?? index ?? word ?? '',
  );
  let here: Json | undefined = value;
  for (const key of keys) {
    if (typeof here !== 'object' || here === null) return undefined;
    here = (here as { [key: string]: Json })[key];
  }
  return here;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
