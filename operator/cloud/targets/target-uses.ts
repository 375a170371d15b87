import { canonicalJson } from '../../base/json';
import type { LabelSelector } from '../../base/label-selector';

/** A set of targets that somebody has acted on. */
export interface TargetUse {
  /** Absent = all of the provider's. */
  selector: LabelSelector | undefined;
  hash: string;
}

/** The sets of targets that were acted on since the last look, by provider: Nodes may come and go again between two looks, and a write in that time has them. */
export class TargetUses {
  private readonly byProvider = new Map<string, Map<string, TargetUse>>();

  note(provider: string, use: TargetUse): void {
    const uses = this.byProvider.get(provider) ?? new Map<string, TargetUse>();
    this.byProvider.set(provider, uses.set(`${use.hash} ${canonicalJson(use.selector ?? {})}`, use));
  }

  /** Those of a provider; they are forgotten. */
  take(provider: string): TargetUse[] {
    const uses = [...(this.byProvider.get(provider)?.values() ?? [])];
    this.byProvider.delete(provider);
    return uses;
  }
}
