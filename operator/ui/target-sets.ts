import type { Node } from '../kube/object';
import { targetState, type TargetFacts } from '../explain/targets';
import type { StoredInstance, StoredLoadBalancer } from '../explain/kinds';

/** Nodes that several load balancers have as their targets. */
export interface TargetSet {
  /** Names of those that take traffic, as far as that depends on the Node. */
  busy: string[];
  /** Names of targets that take none, such as one whose kubelet is not ready. */
  quiet: string[];
}

/** The target sets of many load balancers: worked out once for all that ask for the same Nodes. */
export class TargetSets {
  readonly all: TargetSet[] = [];
  private readonly nodes: TargetFacts[];
  private readonly places = new Map<string, number>();

  constructor(nodes: readonly Node[], instances: readonly StoredInstance[]) {
    const known = new Map(instances.map((instance) => [instance.spec.nodeName, instance]));
    this.nodes = nodes.map((node) => ({ node, instance: known.get(node.metadata.name) }));
  }

  /** @returns place of its set in `all` */
  placeOf(loadBalancer: StoredLoadBalancer): number {
    const { provider, aws } = loadBalancer.spec;
    const key = JSON.stringify([provider, aws?.targetNodeLabels]);
    const known = this.places.get(key);
    if (known !== undefined) return known;
    // What depends on the Service's endpoints is not in the caches.
    const states = this.nodes.map((facts) => targetState(facts, loadBalancer, undefined)).filter(({ target }) => target);
    const names = (busy: boolean): string[] => states.filter(({ why }) => (why === undefined) === busy).map(({ node }) => node);
    this.places.set(key, this.all.push({ busy: names(true), quiet: names(false) }) - 1);
    return this.all.length - 1;
  }
}
