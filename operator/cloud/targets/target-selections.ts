import type { NodeLabels } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';

/** The labels by which target groups want their Nodes, by who has the groups: a change of these labels counts while somebody has them. */
export class TargetSelections {
  private readonly byHolder = new Map<string, Map<string, NodeLabels>>();
  private current: { all: ReadonlyMap<string, NodeLabels>; keys: ReadonlySet<string> } | undefined;

  /** Each set of labels once, by its canonical JSON, in a fixed order. */
  get all(): ReadonlyMap<string, NodeLabels> {
    return this.gathered().all;
  }

  /** Keys of all these labels. */
  get keys(): ReadonlySet<string> {
    return this.gathered().keys;
  }

  /** @param selections instead of those that it had; no labels select nothing */
  hold(holder: string, selections: readonly (NodeLabels | undefined)[]): void {
    const selecting = selections.filter((labels) => labels !== undefined && Object.keys(labels).length > 0) as NodeLabels[];
    const some = new Map(selecting.map((labels) => [canonicalJson(labels), labels]));
    const had = this.byHolder.get(holder);
    if (some.size === 0) return this.drop(holder);
    if (had?.size === some.size && [...some.keys()].every((text) => had.has(text))) return;
    this.byHolder.set(holder, some);
    this.current = undefined;
  }

  drop(holder: string): void {
    if (this.byHolder.delete(holder)) this.current = undefined;
  }

  private gathered(): { all: ReadonlyMap<string, NodeLabels>; keys: ReadonlySet<string> } {
    if (this.current !== undefined) return this.current;
    const all = [...this.byHolder.values()].flatMap((held) => [...held]).sort(([a], [b]) => (a < b ? -1 : 1));
    return (this.current = { all: new Map(all), keys: new Set(all.flatMap(([, labels]) => Object.keys(labels))) });
  }
}
