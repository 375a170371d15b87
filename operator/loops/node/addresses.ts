import { isDeepStrictEqual } from 'node:util';
import type { Node } from '../../kube/object';
import { ANNOTATION_PROVIDED_NODE_IP } from '../../kube/well-known';
import { type NodeAddress, preferNodeIPs } from './node-ip';

/**
 * The addresses that a Node should show, of those that the cloud gives its machine (contract 3.4); empty = leave what is there.
 * @throws OperatorError Invalid when the annotation provided-node-ip doesn't fit
 */
export function addressesFor(node: Node, fromCloud: readonly NodeAddress[]): NodeAddress[] {
  if (fromCloud.length === 0) return [];
  const hostnames = fromCloud.some(({ type }) => type === 'Hostname')
    ? []
    : currentAddresses(node).filter(({ type }) => type === 'Hostname');
  const addresses = [...fromCloud, ...hostnames].map(({ type, address }) => ({ type, address }));
  const nodeIP = node.metadata.annotations?.[ANNOTATION_PROVIDED_NODE_IP];
  return nodeIP === undefined ? addresses : preferNodeIPs(addresses, nodeIP);
}

/**
 * Strategic merge patch of nodes/status; undefined when nothing changed. The whole lists are compared, in order, where upstream compares
 * the last address of each type and so patches dual-stack Nodes for ever.
 */
export function addressPatch(node: Node, wanted: readonly NodeAddress[]): object | undefined {
  const current = currentAddresses(node);
  if (wanted.length === 0 || !addressesChanged(current, wanted)) return undefined;
  const replace = current.length === 0 ? [] : [{ $patch: 'replace' }];
  return { status: { addresses: [...wanted, ...replace] } };
}

export function addressesChanged(current: readonly NodeAddress[], wanted: readonly NodeAddress[]): boolean {
  const plain = ({ type, address }: NodeAddress): NodeAddress => ({ type, address });
  return !isDeepStrictEqual(current.map(plain), wanted.map(plain));
}

function currentAddresses(node: Node): NodeAddress[] {
  return node.status?.addresses ?? [];
}
