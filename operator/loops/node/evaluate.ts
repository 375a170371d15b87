import { OperatorError, toOperatorError } from '../../base/errors';
import { hasTaint, TAINT_UNINITIALIZED } from '../../kube/node';
import type { Node } from '../../kube/object';
import type { InstanceLookup, InstanceMetadata } from '../instances';
import { addressesFor, addressPatch } from './addresses';
import { initialLabels, labelPatch } from './labels';

/** What a pass does for one Node, in this order. */
export type Action =
  | { kind: 'Event'; type: 'Normal' | 'Warning'; reason: string; message: string }
  /** Strategic merge patch of the Node; one with a resourceVersion is refused when the Node has changed since. */
  | { kind: 'PatchNode'; patch: object }
  | { kind: 'PatchStatus'; patch: object }
  /** Comes back later: nobody can say yet whose machine this is. */
  | { kind: 'Retry' };

/** Reason of the Event that ends an initialization. */
export const SYNCED = 'Synced';

/** Value and effect are ignored (contract 3.2). */
export function isUninitialized(node: Node): boolean {
  return hasTaint(node, TAINT_UNINITIALIZED);
}

/** A Node without the taint: only its labels are kept in step, without asking the cloud (contract 3.5). */
export function evaluateLabels(node: Node): Action[] {
  const patch = labelPatch(node);
  return patch === undefined ? [] : [{ kind: 'PatchNode', patch }];
}

/**
 * A Node with the taint. Pure.
 * @throws OperatorError in upstream's words when the metadata don't do; the taint stays and the Node is tried again
 */
export function evaluateInitialize(node: Node, lookup: InstanceLookup): Action[] {
  switch (lookup.state) {
    case 'Found':
      return initialize(node, lookup.metadata);
    case 'Missing':
      return keepTaint(
        'InstanceNotFound',
        `CloudProvider "${lookup.provider}" has no machine for this Node yet; the taint stays until it has`,
      );
    case 'Unclaimed':
      return keepTaint('InstanceUnclaimed', `${lookup.message}; the taint ${TAINT_UNINITIALIZED} stays`);
    case 'Unmanaged':
      return initializeUnmanaged(node, lookup.message);
    case 'Ambiguous':
      return keepTaint('InstanceAmbiguous', `${lookup.message}; the taint ${TAINT_UNINITIALIZED} stays`);
  }
}

/** The periodic look at a Node without the taint: addresses only (contract 3.4). Whatever is wrong leaves the Node alone. */
export function evaluateAddresses(node: Node, metadata: InstanceMetadata): Action[] {
  const patch = addressPatch(node, addressesFor(node, metadata.addresses));
  return patch === undefined ? [] : [{ kind: 'PatchStatus', patch }];
}

function initialize(node: Node, metadata: InstanceMetadata): Action[] {
  const { name, resourceVersion } = node.metadata;
  const providerID = node.spec.providerID ?? '';
  if (providerID === '' && metadata.providerID === '') {
    throw new OperatorError('Invalid', `cloud provider does not set node provider ID for node ${name}`);
  }
  const addresses = wantedAddresses(node, metadata);
  const labels = initialLabels(node, metadata);
  const patch = {
    metadata: { resourceVersion, ...(Object.keys(labels).length === 0 ? {} : { labels }) },
    spec: {
      ...(providerID === '' ? { providerID: metadata.providerID } : {}),
      taints: initializedTaints(node),
    },
  };
  const status = addressPatch(node, addresses);
  return [
    { kind: 'PatchNode', patch },
    ...(status === undefined ? [] : [{ kind: 'PatchStatus', patch: status } as const]),
    { kind: 'Event', type: 'Normal', reason: SYNCED, message: 'Node synced successfully' },
  ];
}

/**
 * A Node of which its cloud has nothing to say: without metadata it is initialized where it has a providerID, and otherwise not (contract 3.3); its
 * addresses are the kubelet's.
 */
function initializeUnmanaged(node: Node, why: string): Action[] {
  if ((node.spec.providerID ?? '') === '') {
    const remedy = 'Start its kubelet with --provider-id, or take the taint off by hand';
    return keepTaint('InstanceUnmanaged', `${why}, and it has no providerID; the taint ${TAINT_UNINITIALIZED} stays. ${remedy}`);
  }
  const patch = { metadata: { resourceVersion: node.metadata.resourceVersion }, spec: { taints: initializedTaints(node) } };
  return [
    { kind: 'PatchNode', patch },
    { kind: 'Event', type: 'Normal', reason: SYNCED, message: 'Node synced successfully' },
  ];
}

function initializedTaints({ spec: { taints = [] } }: Node): object[] {
  return taints.filter(({ key }) => key !== TAINT_UNINITIALIZED);
}

function wantedAddresses(node: Node, metadata: InstanceMetadata): ReturnType<typeof addressesFor> {
  try {
    return addressesFor(node, metadata.addresses);
  } catch (thrown) {
    const { code, message } = toOperatorError(thrown);
    const text = `failed to get node modifiers from cloud provider: provided node ip for node "${node.metadata.name}" is not valid: ${message}`;
    throw new OperatorError(code, text, { cause: thrown });
  }
}

function keepTaint(reason: string, message: string): Action[] {
  return [{ kind: 'Event', type: 'Warning', reason, message }, { kind: 'Retry' }];
}
