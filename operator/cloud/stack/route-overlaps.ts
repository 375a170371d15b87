import ipaddr from 'ipaddr.js';
import { WARNING, type Warning } from '../conditions';
import type { StoredRoute } from './route-stacks';

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/**
 * What is to be said of a route that a person made: other Nodes' routes that its destination has addresses in common with. Nodes' own PodCIDRs are
 * not looked at: who gives them out keeps them apart. Pure.
 */
export function overlapWarnings(route: StoredRoute, all: readonly StoredRoute[]): Warning[] {
  if (route.metadata.ownerReferences?.some(({ kind }) => kind === 'Node') === true) return [];
  const range = rangeOf(route);
  const others = all.filter((other) => isOther(route, other) && overlap(range, rangeOf(other)));
  const [first] = others;
  if (first === undefined) return [];
  const more = others.length === 1 ? '' : ` and ${others.length - 1} more`;
  const { destinationCIDR, nodeName } = first.spec;
  const message = `${route.spec.destinationCIDR} overlaps ${destinationCIDR} to Node ${nodeName} (CloudRoute ${first.metadata.name})${more}: the narrower route takes what both have`;
  return [{ type: WARNING, reason: 'RouteOverlap', message }];
}

function isOther(route: StoredRoute, other: StoredRoute): boolean {
  return (
    other.metadata.uid !== route.metadata.uid && other.spec.provider === route.spec.provider && other.spec.nodeName !== route.spec.nodeName
  );
}

function rangeOf({ spec }: StoredRoute): Range {
  return ipaddr.parseCIDR(spec.destinationCIDR);
}

/** Of two ranges with common addresses, one holds the other. */
function overlap([a, aPrefix]: Range, [b, bPrefix]: Range): boolean {
  return a.kind() === b.kind() && a.match(b, Math.min(aPrefix, bPrefix));
}
