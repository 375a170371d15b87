import type { CheckpointResource } from '../../checkpoint';

/** Resources under the names that they have now: references to a former name (an alias) follow, as in what the engine stores itself. Pure. */
export function withCurrentNames(resources: CheckpointResource[]): CheckpointResource[] {
  const aliased = resources.filter(({ aliases }) => aliases !== undefined && aliases.length > 0);
  if (aliased.length === 0) return resources;
  const current = new Map(aliased.flatMap(({ urn, aliases = [] }) => aliases.map((alias) => [alias, urn] as const)));
  const named = (urn: string): string => current.get(urn) ?? urn;
  return resources.map((resource) => {
    const { provider } = resource;
    const renamed = { ...resource, ...references(resource, (urn) => [named(urn)]) };
    delete renamed.aliases;
    return provider === undefined ? renamed : { ...renamed, provider: providerNamed(provider, named) };
  });
}

/**
 * Resources without references to what a refresh has found gone. Pure.
 * @param resources each after those that it refers to
 */
export function withoutDangling(resources: CheckpointResource[]): CheckpointResource[] {
  const there = new Set<string>();
  return resources.map((resource) => {
    const { parent } = resource;
    const cleaned = { ...resource, ...references(resource, (urn) => (there.has(urn) ? [urn] : [])) };
    if (parent !== undefined && !there.has(parent)) delete cleaned.parent;
    there.add(resource.urn);
    return cleaned;
  });
}

/** The fields that name other resources, each name changed, or left out where there is none. */
function references(resource: CheckpointResource, change: (urn: string) => string[]): Partial<CheckpointResource> {
  const { parent, dependencies, propertyDependencies, deletedWith } = resource;
  const ofProperties = Object.entries(propertyDependencies ?? {}).map(([key, urns]) => [key, (urns ?? []).flatMap(change)] as const);
  return {
    ...(parent === undefined ? {} : { parent: change(parent)[0] ?? parent }),
    ...(dependencies === undefined ? {} : { dependencies: dependencies.flatMap(change) }),
    ...(propertyDependencies === undefined ? {} : { propertyDependencies: Object.fromEntries(ofProperties) }),
    ...(deletedWith === undefined || deletedWith === '' ? {} : { deletedWith: change(deletedWith)[0] ?? '' }),
  };
}

/** `<URN>::<id>` */
function providerNamed(reference: string, named: (urn: string) => string): string {
  const at = reference.lastIndexOf('::');
  return `${named(reference.slice(0, at))}${reference.slice(at)}`;
}
