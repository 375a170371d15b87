import { CONDITION_NETWORK_UNAVAILABLE } from '../kube/node';
import type { Node } from '../kube/object';
import type { StoredRoute } from './kinds';
import { conditionFindings, finding, type Finding } from './finding';
import { leverFindings } from './levers';
import { providerFindings, stackFindings, type MadeFacts } from './load-balancer';

export interface RouteFacts extends MadeFacts {
  route: StoredRoute;
  /** The next hop. */
  node: Node | undefined;
}

/** Why a CloudRoute is as it is. Pure. */
export function explainRoute({ route, node, provider, stack }: RouteFacts): Finding[] {
  const { name } = route.metadata;
  return [
    ...providerFindings(route.spec.provider, provider),
    ...leverFindings(route, provider),
    ...conditionFindings('CloudRoute', name, route),
    ...stackFindings(name, stack),
    nextHop(route.spec.nodeName, node),
  ];
}

function nextHop(name: string, node: Node | undefined): Finding {
  if (node === undefined) return finding('bad', `its Node ${name} is not there`, 'docs/conditions.md, NodeNotFound');
  if ((node.spec.providerID ?? '') === '')
    return finding('waiting', `its Node ${name} has no providerID yet`, `kubectl cloud explain node/${name}`);
  const network = node.status?.conditions?.find(({ type }) => type === CONDITION_NETWORK_UNAVAILABLE);
  if (network?.status === 'True')
    return finding('waiting', `Node ${name} waits for its network: ${network.message ?? network.reason ?? ''}`);
  return finding('good', `Node ${name} is the next hop`);
}
