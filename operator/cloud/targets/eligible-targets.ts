import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../../../providers/provider';
import { canonicalJson } from '../../base/json';
import { isEmptySelector, selects, type LabelSelector } from '../../base/label-selector';
import type { Store, StoreChange } from '../../kube/api';
import { eligibleForLoadBalancers, excludedFromLoadBalancers } from '../../kube/node';
import type { Node } from '../../kube/object';
import type { NodeIdentity, Ownership } from '../instances/node-owners';
import type { CloudRegistry } from '../providers/registry';
import { TargetSelections } from './target-selections';

interface TargetSets {
  byProvider: Map<string, Target[]>;
  /** Those that a selector takes, by provider and selector. */
  selected: Map<string, Target[]>;
  /** Eligible Nodes of which it is not known yet whose they are, by the providers that may have them. */
  undecided: Map<string, string[]>;
}

/** The Nodes that may take traffic, by the provider that has them; worked out once for each change of the Nodes, not for each target group. */
export class EligibleTargets {
  private sets: TargetSets | undefined;
  /** Those of the groups and stacks that are looked after. */
  readonly selections = new TargetSelections();

  constructor(
    private readonly nodes: Store<Node>,
    private readonly registry: CloudRegistry,
  ) {
    const outdated = (): void => {
      this.sets = undefined;
    };
    // Heartbeats change nothing here, and thousands of Nodes have many.
    nodes.onChange((change) => {
      if (this.mayBeChangedBy(change, true)) outdated();
    });
    registry.onChange(outdated);
    registry.owners.onChange(outdated);
  }

  /**
   * Eligible Nodes of a provider, in the order of their names: only Nodes of the load balancer's own provider are ever targets.
   * @param selector only those that it takes
   */
  of(provider: string, selector: LabelSelector = {}): Target[] {
    const sets = this.current();
    const all = sets.byProvider.get(provider) ?? [];
    if (isEmptySelector(selector)) return all;
    const selection = canonicalJson(selector);
    const key = `${provider} ${selection}`;
    const selected =
      sets.selected.get(key) ?? all.filter(({ nodeName }) => selects(selector, this.nodes.get(nodeName)?.metadata.labels ?? {}));
    // Of labels that nobody has, a change would not be noticed.
    if (this.selections.all.has(selection)) sets.selected.set(key, selected);
    return selected;
  }

  /** All sets of a provider's targets that groups have, in a fixed order. */
  setsOf(provider: string): Target[][] {
    return [this.of(provider), ...[...this.selections.all.values()].map((selector) => this.of(provider, selector))];
  }

  /** Names of eligible Nodes that the provider may have, of which it is not known yet whose they are. */
  undecidedOf(provider: string): readonly string[] {
    return this.current().undecided.get(provider) ?? [];
  }

  /** A change of a Node after which the sets may be others. @param promptRemoval as of `mayChangeTargets` */
  mayBeChangedBy({ previous, current }: StoreChange<Node>, promptRemoval: boolean): boolean {
    if (previous === undefined || current === undefined || mayChangeTargets(previous, current, promptRemoval)) return true;
    if ([...this.selections.keys].some((key) => previous.metadata.labels?.[key] !== current.metadata.labels?.[key])) return true;
    return !isDeepStrictEqual(this.ownership(previous), this.ownership(current));
  }

  private current(): TargetSets {
    this.sets ??= this.workOut();
    return this.sets;
  }

  private workOut(): TargetSets {
    const sets: TargetSets = { byProvider: new Map(), selected: new Map(), undecided: new Map() };
    const eligible = this.nodes.list().filter(eligibleForLoadBalancers);
    for (const node of eligible.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const ownership = this.ownership(node);
      if (ownership === 'Undecided') {
        for (const provider of this.registry.owners.candidates(identityOf(node))) listIn(sets.undecided, provider).push(node.metadata.name);
      } else if (ownership !== 'Nobody') listIn(sets.byProvider, ownership.owner).push(targetOf(node));
    }
    return sets;
  }

  private ownership(node: Node): Ownership {
    const identity = identityOf(node);
    return identity.providerID === '' ? 'Nobody' : this.registry.owners.of(identity);
  }
}

/**
 * An update of a Node for which the targets are to be looked at (contract 2.9): the exclude label's answer, the providerID and, other than
 * upstream, the addresses that are targets. Pure.
 * @param promptRemoval the autoscaler's taint and a deletion timestamp count too
 */
export function mayChangeTargets(before: Node, after: Node, promptRemoval: boolean): boolean {
  return (
    excludedFromLoadBalancers(before) !== excludedFromLoadBalancers(after) ||
    !isDeepStrictEqual(targetOf(before), targetOf(after)) ||
    (promptRemoval && eligibleForLoadBalancers(before) !== eligibleForLoadBalancers(after))
  );
}

function identityOf({ metadata: { name, labels = {} }, spec: { providerID = '' } }: Node): NodeIdentity {
  return { name, labels, providerID };
}

/** The list of a key, which is made where there is none. */
function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function targetOf(node: Node): Target {
  return {
    nodeName: node.metadata.name,
    providerID: node.spec.providerID ?? '',
    addresses: (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
  };
}
