import { hashJson } from '../../../operator/base/json';
import { isEmptySelector } from '../../../operator/base/label-selector';
import type { Target, TargetsOf } from '../../provider';
import type { Configuration } from './eligible';

/**
 * Which of several load balancers each Node is behind, by the Node's name: Azure lets a machine be behind one public and one internal one. Those of its
 * `primaryVMSet` are a load balancer's own; others are spread over those whose `nodeSelector` takes them, or where none's does, over those that ask for
 * none. None stays without Nodes that could have one, and a Node that comes or goes moves hardly any other. Pure; the order of the Nodes does not matter.
 */
export function sharesOf(nodes: readonly Target[], targets: TargetsOf, balancers: readonly Configuration[]): Map<string, string> {
  const mayTake = candidatesOf(nodes, targets, balancers);
  const shares = new Map<string, string>();
  const isFree = ({ nodeName }: Target): boolean => !shares.has(nodeName);
  for (const { name } of [...balancers].sort(byName)) {
    const own = nodes.filter((node) => mayTake.get(node.nodeName)?.includes(name) === true);
    const isServed = own.some(({ nodeName }) => shares.get(nodeName) === name || mayTake.get(nodeName)?.length === 1);
    const best = isServed ? undefined : lightest(own.filter(isFree), ({ nodeName }) => [nodeName, name]);
    if (best !== undefined) shares.set(best.nodeName, name);
  }
  for (const { nodeName } of nodes.filter(isFree)) {
    const name = lightest(mayTake.get(nodeName) ?? [], (one) => [nodeName, one]);
    if (name !== undefined) shares.set(nodeName, name);
  }
  return shares;
}

/** Names of the load balancers that a Node may be behind, by the Node's name. */
function candidatesOf(nodes: readonly Target[], targets: TargetsOf, balancers: readonly Configuration[]): Map<string, string[]> {
  const labelled = balancers.map(({ name, nodeSelector = {} }) => ({
    name,
    nodes: isEmptySelector(nodeSelector) ? undefined : new Set(targets(nodeSelector).map(({ nodeName }) => nodeName)),
  }));
  const candidates = nodes.map(({ nodeName, providerID }): [string, string[]] => {
    const primary = balancers.filter(({ primaryVMSet }) => primaryVMSet !== undefined && isInScaleSet(providerID, primaryVMSet));
    if (primary.length > 0) return [nodeName, primary.map(({ name }) => name)];
    const asking = labelled.filter((one) => one.nodes?.has(nodeName) === true);
    return [nodeName, (asking.length > 0 ? asking : labelled.filter((one) => one.nodes === undefined)).map(({ name }) => name)];
  });
  return new Map(candidates);
}

function isInScaleSet(providerID: string, name: string): boolean {
  return providerID.toLowerCase().includes(`/virtualmachinescalesets/${name.toLowerCase()}/`);
}

function lightest<T>(all: readonly T[], of: (one: T) => string[]): T | undefined {
  const weighed = all.map((one) => ({ one, weight: hashJson(of(one)) }));
  return weighed.sort((a, b) => (a.weight < b.weight ? -1 : 1))[0]?.one;
}

function byName(a: Configuration, b: Configuration): number {
  return a.name < b.name ? -1 : 1;
}
