import type { Drift } from '../../../crds';
import type { DiscoveredResource } from '../../../providers/provider';
import type { Updates } from '../../updates/update';
import type { CloudRegistry } from '../providers/registry';

/** Who is told of what a comparison has found. */
export interface Comparing {
  /** A lever keeps something of the stack as it is. */
  isHeld(stack: string): boolean;
  /** Says what was found, and asks for a pass that heals it. */
  found(stack: string, provider: string, drift: Drift[]): void;
  /** Says what was found and is left as it is: nothing, in most cases. */
  reported(stack: string, provider: string, drift: Drift[]): void;
}

/** What the cloud has of a stack. */
export interface Compared {
  stack: string;
  provider: string;
  found: DiscoveredResource[];
  /** When the cloud was asked. */
  since: number;
}

/**
 * Compares a stack's state with what its cloud has. With `driftPolicy: Report` or a lever, the state stays as it is, so that no later update heals by the way
 * what was only to be reported.
 * @returns what differs; undefined when an update came in between: what was found is of before
 */
export async function compareStack(
  { stack, provider, found, since }: Compared,
  { registry, updates }: { registry: Pick<CloudRegistry, 'connected'>; updates: Pick<Updates, 'adoptFindings' | 'compare'> },
  comparing: Comparing,
): Promise<Drift[] | undefined> {
  const { spec } = registry.connected(provider);
  const heals = spec.driftPolicy === 'Heal' && !spec.freeze && !comparing.isHeld(stack);
  const drift = await (heals ? updates.adoptFindings(stack, found, since) : updates.compare(stack, found, since));
  if (drift === undefined) return undefined;
  if (heals && drift.length > 0) comparing.found(stack, provider, drift);
  else comparing.reported(stack, provider, drift);
  return drift;
}
