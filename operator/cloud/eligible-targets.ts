import { isDeepStrictEqual } from 'node:util';
import type { Target } from '../../providers/provider';
import type { Store, StoreChange } from '../kube/api';
import { eligibleForLoadBalancers, excludedFromLoadBalancers } from '../kube/node';
import type { Node } from '../kube/object';
import type { Ownership } from './node-owners';
import type { CloudRegistry } from './registry';

interface TargetSets {
  byProvider: Map<string, Target[]>;
  /** Eligible Nodes of which it is not known yet whose they are. */
  undecided: string[];
}

/** The Nodes that may take traffic, by the provider that has them; worked out once for each change of the Nodes, not for each target group. */
export class EligibleTargets {
  private sets: TargetSets | undefined;

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

  /** Eligible Nodes of a provider, in the order of their names: only Nodes of the load balancer's own provider are ever targets. */
  of(provider: string): Target[] {
    return this.current().byProvider.get(provider) ?? [];
  }

  /** Names of eligible Nodes of which it is not known yet whose they are. */
  get undecided(): readonly string[] {
    return this.current().undecided;
  }

  /** A change of a Node after which the sets may be others. @param promptRemoval as of `mayChangeTargets` */
  mayBeChangedBy({ previous, current }: StoreChange<Node>, promptRemoval: boolean): boolean {
    if (previous === undefined || current === undefined || mayChangeTargets(previous, current, promptRemoval)) return true;
    return !isDeepStrictEqual(this.ownership(previous), this.ownership(current));
  }

  private current(): TargetSets {
    this.sets ??= this.workOut();
    return this.sets;
  }

  private workOut(): TargetSets {
    const sets: TargetSets = { byProvider: new Map(), undecided: [] };
    const eligible = this.nodes.list().filter(eligibleForLoadBalancers);
    for (const node of eligible.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
      const ownership = this.ownership(node);
      if (ownership === 'Undecided') sets.undecided.push(node.metadata.name);
      else if (ownership !== 'Nobody') {
        const targets = sets.byProvider.get(ownership.owner) ?? [];
        targets.push(targetOf(node));
        sets.byProvider.set(ownership.owner, targets);
      }
    }
    return sets;
  }

  private ownership({ metadata, spec: { providerID = '' } }: Node): Ownership {
    return providerID === '' ? 'Nobody' : this.registry.owners.of({ name: metadata.name, labels: metadata.labels ?? {}, providerID });
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

function targetOf(node: Node): Target {
  return {
    nodeName: node.metadata.name,
    providerID: node.spec.providerID ?? '',
    addresses: (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address),
  };
}
