import type { CloudStackSpec, StackResource } from '../../../crds';
import type { DiscoveredResource } from '../../../providers/provider';
import { kindsOf } from '../../../providers/stack-kinds';
import { hashJson } from '../../base/json';
import type { StoredStack } from '../stack/stack-record';

/** Begins the incarnation of a stack that a sweep has found: no update has given it one. */
const FOUND = 'found-';

/** A stack that the cloud has and nothing in the cluster accounts for. */
export interface Leftover {
  stack: string;
  kind: CloudStackSpec['kind'];
  resources: StackResource[];
  /** Stands for exactly these resources: who releases the leftover by it means what was shown. */
  incarnation: string;
}

/**
 * What is in the cloud for stacks that nobody knows. Pure.
 * @param found what bears this cluster's mark, by stack
 * @param known every stack with a record or members, and what an extension may have made beside it
 */
export function leftoversOf(found: ReadonlyMap<string, readonly DiscoveredResource[]>, known: ReadonlySet<string>): Leftover[] {
  return [...found]
    .filter(([stack, resources]) => !known.has(stack) && resources.length > 0)
    .map(([stack, resources]) => {
      const listed = resources.map(({ type, name, id }) => ({ type, name, id, urn: '' }));
      const identity = listed.map(({ type, id }) => `${type} ${id}`).sort();
      return {
        stack,
        kind: kindsOf([stack]).loadBalancers ? ('LoadBalancer' as const) : ('Routes' as const),
        resources: listed,
        incarnation: `${FOUND}${hashJson(identity).slice(0, 10)}`,
      };
    })
    .sort((a, b) => (a.stack < b.stack ? -1 : 1));
}

/** A CloudStack stands for something that nothing accounted for when it was found. Pure. */
export function isLeftover({ status }: Pick<StoredStack, 'status'>): boolean {
  return status?.incarnation?.startsWith(FOUND) ?? false;
}
