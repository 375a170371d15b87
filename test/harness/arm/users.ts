import { isSameOrPart, referencesOf, type Resource } from './resource';

interface Reference {
  from: string;
  /** The resource that `from` is, or is a part of. */
  by: string;
  /** In lower case: what is named, and what that is a part of. */
  to: string[];
}

/** Who names which resource, or which part of one. A load balancer of hundreds is asked about hundreds of addresses: so it is read once, until it changes. */
export class Users {
  private readonly read = new WeakMap<Resource, { etag: string; references: Reference[] }>();
  private index: Map<string, Reference[]> | undefined;

  constructor(private readonly all: () => Iterable<Resource>) {}

  /** Something has come, gone or changed. */
  forget(): void {
    this.index = undefined;
  }

  /** Ids of resources, or of their parts, that name this one or a part of it; its own do not count. */
  of(id: string): string[] {
    this.index ??= this.indexed();
    const named = this.index.get(id.toLowerCase()) ?? [];
    return named.filter(({ by }) => !isSameOrPart(id, by)).map(({ from }) => from);
  }

  private indexed(): Map<string, Reference[]> {
    const index = new Map<string, Reference[]>();
    for (const resource of this.all()) {
      const pairs = this.referencesIn(resource).flatMap((reference) => reference.to.map((id) => ({ id, reference })));
      for (const { id, reference } of pairs) {
        const users = index.get(id);
        if (users === undefined) index.set(id, [reference]);
        else users.push(reference);
      }
    }
    return index;
  }

  private referencesIn(resource: Resource): Reference[] {
    const { etag, id: by } = resource;
    const known = this.read.get(resource);
    if (known?.etag === etag) return known.references;
    const others = referencesOf(resource).filter(({ to }) => !isSameOrPart(to, by));
    const references = others.map(({ from, to }) => ({ from, by, to: wholesOf(to.toLowerCase()) }));
    this.read.set(resource, { etag, references });
    return references;
  }
}

/** An id, and those of what it is a part of, up to the resource in its group: `/subscriptions/…/providers/<namespace>/<type>/<name>`. */
function wholesOf(id: string): string[] {
  const words = id.split('/');
  const count = Math.max(1, Math.floor((words.length - 7) / 2));
  return Array.from({ length: count }, (_, parts) => words.slice(0, words.length - 2 * parts).join('/'));
}
