import type { DiscoveredResource } from '../../providers/provider';
import type { Json } from '../base/json';
import {
  type Checkpoint,
  type CheckpointResource,
  type Deployment,
  isCloudResource,
  providerReference,
  rootUrn,
  seedCheckpoint,
} from './checkpoint';
import { changedProperties, failureOf, type Matches, match } from './drift';

/**
 * Writes what was found into a checkpoint, as a refresh would (design: Crashes and drift). Pure.
 * - changed: the cloud's values of the properties that the program sets, so that the next update sees the difference;
 * - gone: dropped, and with it what depended on it and is gone too; what depended on it and still exists stays, without the edge;
 * - found but unknown: inserted, so that the next update takes it over, or deletes it when the program has no use for it.
 *   A twin of a known resource (same URN, another id) is inserted as "to be deleted";
 * - broken, by the cloud's own word: marked so that the next update touches it;
 * - pending operations: dropped, since what they may have done is known now.
 */
export function adoptFindings(
  deployment: Deployment | null,
  found: DiscoveredResource[],
  stack: { project: string; name: string },
): Deployment {
  const packages = [...new Set(found.map((resource) => resource.type.split(':')[0] ?? ''))];
  const base = deployment?.deployment ?? undefined;
  const start = base === undefined ? seedCheckpoint(stack.project, stack.name, packages) : (deployment as Deployment);
  const checkpoint = start.deployment as Checkpoint;
  const resources = checkpoint.resources ?? [];
  const begun = (checkpoint.pending_operations ?? []).map(({ resource }) => resource);
  const matches = match(resources, found, stack, begun);
  const kept = withoutGone(withActual(resources, matches), matches);
  const inserted = insertUnknown(kept, matches, stack);
  return { ...start, deployment: { ...withoutPending(checkpoint), resources: inOrder(inserted) } };
}

/** Forgets operations in flight, for stacks that nobody can discover: their creates must find what is there (by name or client token). Pure. */
export function dropPending(deployment: Deployment | null): Deployment | null {
  if (deployment?.deployment === undefined || deployment.deployment === null) return deployment;
  return { ...deployment, deployment: withoutPending(deployment.deployment) };
}

function withoutPending(checkpoint: Checkpoint): Checkpoint {
  const copy = { ...checkpoint };
  delete copy.pending_operations;
  return copy;
}

function withActual(resources: CheckpointResource[], matches: Matches): CheckpointResource[] {
  const found = new Map(matches.pairs.map((pair) => [pair.stored, pair.found]));
  return resources.map((stored) => {
    const twin = found.get(stored);
    if (twin === undefined) return stored;
    const actual = changedProperties(stored, twin);
    if (Object.keys(actual).length === 0) return stored;
    const outputs = Object.fromEntries(Object.keys(actual).map((key) => [key, twin.outputs[key] ?? actual[key] ?? null]));
    return { ...stored, inputs: { ...stored.inputs, ...actual }, outputs: { ...stored.outputs, ...outputs } };
  });
}

function withoutGone(resources: CheckpointResource[], matches: Matches): CheckpointResource[] {
  const goneIds = new Set(matches.gone.map((stored) => `${stored.urn} ${stored.id ?? ''}`));
  const left = resources.filter((resource) => !isCloudResource(resource) || !goneIds.has(`${resource.urn} ${resource.id ?? ''}`));
  const living = new Set(left.map((resource) => resource.urn));
  return left.map((resource) => withoutEdges(resource, living));
}

/** Removes references to resources that are no longer there: the engine refuses a checkpoint that has them. */
function withoutEdges(resource: CheckpointResource, living: Set<string>): CheckpointResource {
  const { dependencies, propertyDependencies, deletedWith, ...rest } = resource;
  const alive = (urns: string[]): string[] => urns.filter((urn) => living.has(urn));
  return {
    ...rest,
    ...(dependencies === undefined ? {} : { dependencies: alive(dependencies) }),
    ...(propertyDependencies === undefined
      ? {}
      : { propertyDependencies: Object.fromEntries(Object.entries(propertyDependencies).map(([key, urns]) => [key, alive(urns ?? [])])) }),
    ...(deletedWith !== undefined && living.has(deletedWith) ? { deletedWith } : {}),
  };
}

function insertUnknown(resources: CheckpointResource[], matches: Matches, stack: { project: string; name: string }): CheckpointResource[] {
  const taken = new Set(resources.filter((resource) => resource.delete !== true).map((resource) => resource.urn));
  const all = [...resources];
  for (const { urn, found } of matches.unknown) {
    const provider = providerReference(all, found.type) ?? addProvider(all, found.type, stack);
    const twin = taken.has(urn);
    taken.add(urn);
    all.push({
      urn,
      custom: true,
      ...(twin ? { delete: true } : {}),
      id: found.id,
      type: found.type,
      inputs: { ...found.inputs, ...failureOf(found) },
      outputs: found.outputs,
      parent: rootUrn(stack.project, stack.name),
      provider,
    });
  }
  return withInferredEdges(all, new Map(matches.unknown.map(({ found }) => [found.id, found])));
}

function addProvider(all: CheckpointResource[], type: string, stack: { project: string; name: string }): string {
  const seed = seedCheckpoint(stack.project, stack.name, [type.split(':')[0] ?? '']).deployment?.resources?.at(-1);
  if (seed === undefined) return '';
  all.push(seed);
  return `${seed.urn}::${seed.id ?? ''}`;
}

/**
 * An inserted resource has no recorded dependencies; whoever's id stands in its inputs is one, which puts deletions in the right order. What the cloud takes along
 * with another one goes with that, and not before: where that one's deletion is refused, it is still needed.
 */
function withInferredEdges(all: CheckpointResource[], inserted: Map<string, DiscoveredResource>): CheckpointResource[] {
  const urnById = new Map(all.filter(isCloudResource).map((resource) => [resource.id ?? '', resource.urn]));
  const twins = new Set(all.filter((resource) => resource.delete === true).map((resource) => resource.urn));
  return all.map((resource) => {
    const found = inserted.get(resource.id ?? '');
    if (found === undefined || !isCloudResource(resource)) return resource;
    const edges = new Set(stringsIn(resource.inputs ?? {}).flatMap((text) => urnById.get(text) ?? []));
    edges.delete(resource.urn);
    const deletedWith = urnById.get(found.deletedWith ?? '');
    // Of two with one URN the engine could not tell which is meant.
    const isKnown = deletedWith !== undefined && !twins.has(deletedWith);
    return { ...resource, dependencies: [...edges].sort(), ...(isKnown && { deletedWith }) };
  });
}

function stringsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}

/** The engine wants everything after what it refers to: parents, providers, dependencies. Otherwise the order stays. */
function inOrder(resources: CheckpointResource[]): CheckpointResource[] {
  const byUrn = new Map<string, CheckpointResource[]>();
  for (const resource of resources) byUrn.set(resource.urn, [...(byUrn.get(resource.urn) ?? []), resource]);
  const ordered: CheckpointResource[] = [];
  const visited = new Set<CheckpointResource>();
  const visit = (resource: CheckpointResource): void => {
    if (visited.has(resource)) return;
    visited.add(resource);
    const providerUrn = resource.provider?.split('::').slice(0, 4).join('::');
    for (const urn of [resource.parent, providerUrn, resource.deletedWith, ...(resource.dependencies ?? [])]) {
      // A twin that is to be deleted is of the same URN: it isn't what others refer to.
      for (const other of byUrn.get(urn ?? '') ?? []) if (other.urn !== resource.urn) visit(other);
    }
    ordered.push(resource);
  };
  resources.forEach(visit);
  return ordered;
}
