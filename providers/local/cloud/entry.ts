import type { Address, Collection, Instance, LoadBalancer, Operation, Resource, Route, RouteTable, TargetPool } from '../api';

/** What lives in each collection; operations are kept apart, because they are not resources. */
export interface Resources {
  instances: Instance;
  addresses: Address;
  loadbalancers: LoadBalancer;
  pools: TargetPool;
  routetables: RouteTable;
  routes: Route;
}

export type ResourceCollection = keyof Resources;
export type AnyResource = Resources[ResourceCollection];

export const RESOURCE_COLLECTIONS: readonly ResourceCollection[] = [
  'instances',
  'addresses',
  'loadbalancers',
  'pools',
  'routetables',
  'routes',
];

/** True where the text names a collection of resources. */
export function isResourceCollection(text: string): text is ResourceCollection {
  return (RESOURCE_COLLECTIONS as readonly string[]).includes(text);
}

/** True where the text names any collection. */
export function isCollection(text: string): text is Collection {
  return text === 'operations' || isResourceCollection(text);
}

/** A resource with what the cloud keeps about it and does not show. Never changed in place. */
export interface Entry<R extends Resource = AnyResource> {
  resource: R;
  /** Counts creations: the order of lists, and the page token. */
  order: number;
  /** Raised by every change of the spec; the etag is made of it. */
  generation: number;
  /** Index in the tier's address plan. */
  index?: number;
  /** The client token that made it, with the hash of that spec. */
  token?: { value: string; specHash: string };
}

/** One change of the state; in `merge`, null takes a field away. A commit is a list of them that the journal keeps as one record. */
export type Change =
  | { kind: 'put'; collection: ResourceCollection; entry: Entry }
  | { kind: 'merge'; collection: ResourceCollection; id: string; fields: Record<string, unknown>; generation?: number }
  | { kind: 'delete'; collection: ResourceCollection; id: string }
  | { kind: 'operation'; operation: Operation };

/** The etag of a resource's `generation`. */
export function etagOf(generation: number): string {
  return `g${generation}`;
}
