import { hashText } from '../operator/base/json';

/** One member of a target set. */
export interface SetMember {
  instanceID: string;
  port: number;
}

/** The instances of a target set, sorted, with a hash of their own: it is worked out once for a thousand pools that differ in their port only. */
export interface InstanceSet {
  ids: readonly string[];
  hash: string;
}

/** Sorts, and drops what is there twice. Pure. */
export function instanceSet(ids: Iterable<string>): InstanceSet {
  const sorted = [...new Set(ids)].sort();
  return { ids: sorted, hash: hashText(sorted.join('\n')) };
}

/** Digest of a target set that has one port. Pure. */
export function digestOfPort({ ids, hash }: InstanceSet, port: number): string {
  return hashText(ids.length === 0 ? '' : lineOf(port, hash));
}

/** Digest of any target set: equal where the same targets are in it, in whatever order. Pure. */
export function targetsDigest(targets: readonly SetMember[]): string {
  const byPort = new Map<number, string[]>();
  for (const { instanceID, port } of targets) {
    const ids = byPort.get(port);
    if (ids === undefined) byPort.set(port, [instanceID]);
    else ids.push(instanceID);
  }
  const ports = [...byPort].sort(([a], [b]) => a - b);
  return hashText(ports.map(([port, ids]) => lineOf(port, instanceSet(ids).hash)).join('\n'));
}

function lineOf(port: number, hash: string): string {
  return `${port} ${hash}`;
}
