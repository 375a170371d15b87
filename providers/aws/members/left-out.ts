import type { LeftOut, Target } from '../../provider';
import { instanceIDOf } from '../nodes/provider-id';

/** Tells which Nodes are not targets, by the instances that could not be registered. */
export function tellLeftOut(targets: readonly Target[], dead: ReadonlySet<string>, left: LeftOut | undefined): void {
  if (dead.size === 0) return;
  for (const { nodeName, providerID } of targets) if (dead.has(instanceIDOf(providerID) ?? '')) left?.(nodeName);
}
