import type { NodeLabels } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';
import { isEmptySelector, keysOf, type LabelSelector } from '../../base/label-selector';

/** A target group's own selection of Nodes; undefined = all. Pure. */
export function selectorOf(nodeLabels: NodeLabels | undefined): LabelSelector | undefined {
  return nodeLabels && { matchLabels: nodeLabels };
}

/** The selectors by which target groups and stacks want their Nodes, by who has them: a change of their labels counts while somebody does. */
export class TargetSelections {
  private readonly byHolder = new Map<string, Map<string, LabelSelector>>();
  private current: { all: ReadonlyMap<string, LabelSelector>; keys: ReadonlySet<string> } | undefined;

  /** Each selector once, by its canonical JSON, in a fixed order. */
  get all(): ReadonlyMap<string, LabelSelector> {
    return this.gathered().all;
  }

  /** Keys of all labels that they depend on. */
  get keys(): ReadonlySet<string> {
    return this.gathered().keys;
  }

  /** @param selectors instead of those that it had; one that asks for nothing is none */
  hold(holder: string, selectors: readonly (LabelSelector | undefined)[]): void {
    const selecting = selectors.filter((one): one is LabelSelector => one !== undefined && !isEmptySelector(one));
    const some = new Map(selecting.map((one) => [canonicalJson(one), one]));
    const had = this.byHolder.get(holder);
    if (some.size === 0) return this.drop(holder);
    if (had?.size === some.size && [...some.keys()].every((text) => had.has(text))) return;
    this.byHolder.set(holder, some);
    this.current = undefined;
  }

  drop(holder: string): void {
    if (this.byHolder.delete(holder)) this.current = undefined;
  }

  private gathered(): { all: ReadonlyMap<string, LabelSelector>; keys: ReadonlySet<string> } {
    if (this.current !== undefined) return this.current;
    const all = [...this.byHolder.values()].flatMap((held) => [...held]).sort(([a], [b]) => (a < b ? -1 : 1));
    return (this.current = { all: new Map(all), keys: new Set(all.flatMap(([, selector]) => keysOf(selector))) });
  }
}
