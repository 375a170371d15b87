import type { Instance as Ec2Instance } from '@aws-sdk/client-ec2';
import { OperatorError, toOperatorError } from '../../../operator/base/errors';
import type { NodeMachines } from '../../provider';
import type { CallOptions } from '../../client-options';
import { chunks } from '../client/chunks';
import type { Ec2 } from '../client/ec2';
import { fromAwsTags, toAwsTags, type Tags } from '../tags';
import { instanceIDOf } from './provider-id';

/** Mark of an instance that has tags of ours: the cluster's id, then their keys. What it names is what is taken off again. */
export const NODE_TAGS = 'cloud-operator.dev/node-tags';

/** Instances of one call: it takes 1,000, but one that is gone fails all of them. */
const BATCH = 200;

/** Tags of one instance, beside those that only AWS can set. */
const MOST_TAGS = 50;
/** Of more instances it is enough to know that there are more. */
const MOST_NAMED = 10;

/** One write for all instances that need the same. */
type Write = { ids: string[] } & ({ set: Tags } | { remove: string[] });
/** Or what can't be written: these have no place for what they lack. AWS would refuse the others with them. */
export type NodeTagChange = Write | { ids: string[]; full: true };

/** The tags that every Node's instance is to have, and whose they are. */
export interface NodeTagScope {
  clusterID: string;
  nodeTags: Tags;
}

/**
 * What brings the tags of a cluster's instances to what is wanted: on those of its Nodes, and off those that are no Node's any more, as upstream's
 * tagging controller does when a Node comes or goes. Tags that others set stay, and so does what another cluster's mark speaks of. Pure.
 * @param own ids of the instances that get the tags
 * @param all ids of the instances of all Nodes, also where it is not known yet whose they are
 */
export function nodeTagChanges(
  instances: readonly Ec2Instance[],
  { own, all }: { own: ReadonlySet<string>; all: ReadonlySet<string> },
  scope: NodeTagScope,
): NodeTagChange[] {
  const changes = new Map<string, NodeTagChange>();
  const add = (id: string, change: { set: Tags } | { remove: string[] } | { full: true }): void => {
    const key = JSON.stringify(change);
    const known = changes.get(key) ?? { ids: [], ...change };
    known.ids.push(id);
    changes.set(key, known);
  };
  for (const { InstanceId: id = '', Tags, State } of instances) {
    if (State?.Name === 'terminated' || (all.has(id) && !own.has(id))) continue;
    const has = fromAwsTags(Tags);
    const wanted = own.has(id) ? wantedTags(scope) : {};
    const missing = Object.fromEntries(Object.entries(wanted).filter(([key, value]) => has[key] !== value));
    const remove = markedKeys(has, scope.clusterID).filter((key) => wanted[key] === undefined);
    if (remove.length > 0) add(id, { remove });
    const kept = Object.keys(has).filter((key) => !remove.includes(key));
    const isFull = new Set([...kept, ...Object.keys(missing)]).size > MOST_TAGS;
    if (Object.keys(missing).length > 0) add(id, isFull ? { full: true } : { set: missing });
  }
  // What is no longer wanted goes first: until then the mark speaks of it, and it takes the place of what is to come.
  const found = [...changes.values()];
  return [...found.filter((change) => 'remove' in change), ...found.filter((change) => !('remove' in change))];
}

/** @throws OperatorError Invalid where the mark has no place for so many keys */
export function assertNodeTags(scope: NodeTagScope): void {
  const most = 256;
  const length = markOf(scope).length;
  if (length <= most) return;
  const field = 'spec.aws.nodeTags';
  const message = `${field}: the keys are too long together: with the cluster's id, ${length} characters where a tag that names them has ${most}`;
  throw new OperatorError('Invalid', message, { field, remedy: 'Have fewer tags, or shorter keys.' });
}

function wantedTags(scope: NodeTagScope): Tags {
  return Object.keys(scope.nodeTags).length === 0 ? {} : { ...scope.nodeTags, [NODE_TAGS]: markOf(scope) };
}

function markOf({ clusterID, nodeTags }: NodeTagScope): string {
  return [clusterID, ...Object.keys(nodeTags).sort()].join(' ');
}

/** Keys of the tags that this cluster has set, with the mark itself. */
function markedKeys(has: Tags, clusterID: string): string[] {
  const [whose, ...keys] = has[NODE_TAGS]?.split(' ') ?? [];
  return whose === clusterID ? [...keys, NODE_TAGS].filter((key) => has[key] !== undefined) : [];
}

/**
 * Instances.tagNodes.
 * @param listed the cluster's instances, of which some Nodes may not be
 * @throws OperatorError Quota once all others are tagged, naming the instances that have no place for more tags
 */
export async function tagNodes(
  ec2: Ec2,
  { own, all }: NodeMachines,
  scope: NodeTagScope & { listed: readonly Ec2Instance[]; isValid: () => boolean },
): Promise<number> {
  const [ownIDs, allIDs] = [own, all].map((ids) => new Set(ids.map(instanceIDOf).filter((id) => id !== undefined)));
  const machines = { own: ownIDs ?? new Set<string>(), all: allIDs ?? new Set<string>() };
  const listed = new Set(scope.listed.map(({ InstanceId }) => InstanceId));
  const others = await instancesOf(
    ec2,
    [...machines.own].filter((id) => !listed.has(id)),
  );
  const options = { assertValid: () => assertMayTag(scope.isValid) };
  let writes = 0;
  const full: string[] = [];
  for (const change of nodeTagChanges([...scope.listed, ...others], machines, scope)) {
    if ('full' in change) full.push(...change.ids);
    else for (const ids of chunks(change.ids, BATCH)) writes += await write(ec2, { ...change, ids }, options);
  }
  if (full.length > 0) throw noRoom(full);
  return writes;
}

function noRoom(ids: readonly string[]): OperatorError {
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : '';
  const remedy = 'Take tags off them that nobody needs, or have fewer in spec.aws.nodeTags.';
  const message = `AWS takes ${MOST_TAGS} tags for an instance: no room for spec.aws.nodeTags on ${ids.slice(0, MOST_NAMED).join(', ')}${more}. ${remedy}`;
  return new OperatorError('Quota', message, { field: 'spec.aws.nodeTags', remedy });
}

async function instancesOf(ec2: Ec2, ids: readonly string[]): Promise<Ec2Instance[]> {
  const found: Ec2Instance[] = [];
  for (const batch of chunks(ids, BATCH)) found.push(...(await ec2.instances([{ Name: 'instance-id', Values: batch }])));
  return found;
}

/** AWS refuses a whole call for one instance that is gone; the others must not wait for that. */
async function write(ec2: Ec2, change: Write, options: CallOptions): Promise<number> {
  const send = (ids: string[]): Promise<void> =>
    'set' in change ? ec2.createTags(ids, toAwsTags(change.set), options) : ec2.deleteTags(ids, change.remove, options);
  try {
    await send(change.ids);
    return 1;
  } catch (thrown) {
    const error = toOperatorError(thrown);
    if (error.code !== 'NotFound') throw error;
    const living = (await instancesOf(ec2, change.ids)).map(({ InstanceId = '' }) => InstanceId);
    if (living.length === change.ids.length) throw error;
    if (living.length === 0) return 0;
    await send(living);
    return 1;
  }
}

/** @throws OperatorError Canceled when this operator may not write any more */
function assertMayTag(isValid: () => boolean): void {
  if (!isValid()) throw new OperatorError('Canceled', 'tags of instances are not written: this operator may not write any more');
}
