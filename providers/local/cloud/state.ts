import type { Operation } from '../api';
import { etagOf, RESOURCE_COLLECTIONS, type AnyResource, type Change, type Entry, type ResourceCollection, type Resources } from './entry';

/** Operations are a record of the past: the oldest go. */
const KEPT_OPERATIONS = 1000;

/** The whole state as JSON, for the snapshot. */
export interface StateImage {
  nextOrder: number;
  entries: [ResourceCollection, Entry][];
  operations: Operation[];
}

interface Shelf {
  byID: Map<string, Entry>;
  idOfName: Map<string, string>;
  idOfToken: Map<string, string>;
}

/** Everything the cloud knows, in memory, with its indexes. Changes only by `apply`. */
export class State {
  private readonly shelves = new Map<ResourceCollection, Shelf>();
  private readonly operationsByID = new Map<string, { operation: Operation; order: number }>();
  private nextOperation = 1;
  private nextOrder = 1;

  constructor() {
    for (const collection of RESOURCE_COLLECTIONS) {
      this.shelves.set(collection, { byID: new Map(), idOfName: new Map(), idOfToken: new Map() });
    }
  }

  /** The entry of a resource that exists. */
  get<C extends ResourceCollection>(collection: C, id: string): Entry<Resources[C]> | undefined {
    return this.shelf(collection).byID.get(id) as Entry<Resources[C]> | undefined;
  }

  /** All entries, oldest first. */
  all<C extends ResourceCollection>(collection: C): Entry<Resources[C]>[] {
    return [...this.shelf(collection).byID.values()] as Entry<Resources[C]>[];
  }

  count(collection: ResourceCollection): number {
    return this.shelf(collection).byID.size;
  }

  /** The entry that holds the name. */
  named(collection: ResourceCollection, name: string): Entry | undefined {
    const id = this.shelf(collection).idOfName.get(name);
    return id === undefined ? undefined : this.shelf(collection).byID.get(id);
  }

  /** The entry that the client token made. */
  tokened(collection: ResourceCollection, token: string): Entry | undefined {
    const id = this.shelf(collection).idOfToken.get(token);
    return id === undefined ? undefined : this.shelf(collection).byID.get(id);
  }

  operation(id: string): Operation | undefined {
    return this.operationsByID.get(id)?.operation;
  }

  /** Oldest first. */
  operations(): { operation: Operation; order: number }[] {
    return [...this.operationsByID.values()];
  }

  /** The order number for the next creation. */
  takeOrder(): number {
    return this.nextOrder++;
  }

  apply(change: Change): void {
    if (change.kind === 'operation') return this.keepOperation(change.operation);
    const shelf = this.shelf(change.collection);
    if (change.kind === 'put') return this.put(shelf, change.entry);
    const entry = shelf.byID.get(change.id);
    if (entry === undefined) return;
    if (change.kind === 'delete') {
      unindex(shelf, entry);
      shelf.byID.delete(change.id);
    } else {
      this.put(shelf, merged(entry, change));
    }
  }

  image(): StateImage {
    const entries = RESOURCE_COLLECTIONS.flatMap((collection) =>
      this.all(collection).map((entry): [ResourceCollection, Entry] => [collection, entry]),
    );
    return { nextOrder: this.nextOrder, entries, operations: this.operations().map(({ operation }) => operation) };
  }

  /** Fills an empty state from a snapshot. */
  restore(image: StateImage): void {
    for (const [collection, entry] of image.entries) this.put(this.shelf(collection), entry);
    for (const operation of image.operations) this.keepOperation(operation);
    this.nextOrder = Math.max(this.nextOrder, image.nextOrder);
  }

  private put(shelf: Shelf, entry: Entry): void {
    const old = shelf.byID.get(entry.resource.id);
    if (old !== undefined) unindex(shelf, old);
    shelf.byID.set(entry.resource.id, entry);
    if (holdsName(entry.resource)) shelf.idOfName.set(entry.resource.name, entry.resource.id);
    if (entry.token !== undefined) shelf.idOfToken.set(entry.token.value, entry.resource.id);
    this.nextOrder = Math.max(this.nextOrder, entry.order + 1);
  }

  private keepOperation(operation: Operation): void {
    const order = this.operationsByID.get(operation.id)?.order ?? this.nextOperation++;
    this.operationsByID.set(operation.id, { operation, order });
    if (this.operationsByID.size <= KEPT_OPERATIONS) return;
    for (const [id, { operation: oldest }] of this.operationsByID) {
      if (oldest.state === 'running') continue;
      this.operationsByID.delete(id);
      return;
    }
  }

  private shelf(collection: ResourceCollection): Shelf {
    const shelf = this.shelves.get(collection);
    if (shelf === undefined) throw new Error(`no collection ${String(collection)}`);
    return shelf;
  }
}

/** The entry with the fields of `change`; null takes a field away. */
export function merged(entry: Entry, change: Extract<Change, { kind: 'merge' }>): Entry {
  const generation = change.generation ?? entry.generation;
  const fields = Object.entries({ ...entry.resource, ...change.fields, etag: etagOf(generation) });
  const resource = Object.fromEntries(fields.filter(([, value]) => value !== null)) as unknown as AnyResource;
  return { ...entry, resource, generation };
}

/** A terminated instance is still listed, but its name is free. */
function holdsName(resource: AnyResource): boolean {
  return !('power' in resource && resource.power === 'terminated');
}

function unindex(shelf: Shelf, entry: Entry): void {
  const { id, name } = entry.resource;
  if (shelf.idOfName.get(name) === id) shelf.idOfName.delete(name);
  if (entry.token !== undefined && shelf.idOfToken.get(entry.token.value) === id) shelf.idOfToken.delete(entry.token.value);
}
