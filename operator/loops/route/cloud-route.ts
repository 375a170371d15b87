import { createHash } from 'node:crypto';
import { API_VERSION, CloudRouteKind, type CloudRouteSpec, GROUP } from '../../../crds';
import type { Node } from '../../kube/object';
import { parseAddress } from '../cidr';
import type { StoredCloudRoute } from '../kinds';
import { isSubset } from '../subset';

/** On CloudRoutes that the route loop made; those of people are never changed or deleted. */
export const MANAGED_BY = { label: `${GROUP}/managed-by`, value: 'route-loop' } as const;

const MAX_NAME = 253;

export interface CloudRouteBody {
  apiVersion: string;
  kind: string;
  metadata: { name: string; uid?: string; labels: Record<string, string>; ownerReferences: object[] };
  spec: CloudRouteSpec;
}

export function isManaged(route: StoredCloudRoute): boolean {
  return route.metadata.labels?.[MANAGED_BY.label] === MANAGED_BY.value;
}

/** The Node whose route it is: by its owner, whatever somebody has written into the spec. */
export function nodeOf({ metadata, spec }: StoredCloudRoute): string {
  return metadata.ownerReferences?.find(({ kind }) => kind === 'Node')?.name ?? spec.nodeName;
}

/** Always the same for a Node's name and a CIDR, readable, and valid: `n1-10.244.1.0-24`. */
export function routeName(nodeName: string, cidr: string): string {
  const suffix = cidr.toLowerCase().replaceAll(/[:/]/g, '-');
  const name = `${nodeName}-${suffix}`;
  if (name.length <= MAX_NAME) return name;
  const hash = createHash('sha256').update(`${nodeName} ${cidr}`).digest('hex').slice(0, 10);
  const room = MAX_NAME - suffix.length - hash.length - 2;
  return `${nodeName.slice(0, room).replace(/[-.]+$/, '')}-${hash}-${suffix}`;
}

/** The CloudRoute that takes a PodCIDR to its Node. Pure. */
export function bodyOf(node: Node, cidr: string, provider: string, existing: StoredCloudRoute | undefined): CloudRouteBody {
  const { name, uid } = node.metadata;
  const addresses = internalAddresses(node);
  return {
    apiVersion: API_VERSION,
    kind: CloudRouteKind.kind,
    metadata: {
      name: routeName(name, cidr),
      ...(existing === undefined ? {} : { uid: existing.metadata.uid }),
      labels: { [MANAGED_BY.label]: MANAGED_BY.value },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name, uid, controller: true, blockOwnerDeletion: false }],
    },
    spec: {
      provider,
      destinationCIDR: cidr,
      nodeName: name,
      nodeUID: uid,
      ...(node.spec.providerID === undefined || node.spec.providerID === '' ? {} : { providerID: node.spec.providerID }),
      ...(addresses.length === 0 ? {} : { nodeAddresses: addresses }),
    },
  };
}

/** True when nothing must be applied. Fields that a Node can lose are compared both ways. */
export function isUpToDate(existing: StoredCloudRoute, body: CloudRouteBody): boolean {
  const owner = existing.metadata.ownerReferences?.some(({ kind, uid }) => kind === 'Node' && uid === body.spec.nodeUID) === true;
  const lost = (['providerID', 'nodeAddresses'] as const).some(
    (field) => existing.spec[field] !== undefined && body.spec[field] === undefined,
  );
  return owner && !lost && isSubset(body.metadata.labels, existing.metadata.labels ?? {}) && isSubset(body.spec, existing.spec);
}

/** Only addresses inside the network: a new public address must not run the engine. */
function internalAddresses(node: Node): string[] {
  const addresses = node.status?.addresses ?? [];
  return addresses
    .filter(({ type, address }) => type === 'InternalIP' && parseAddress(address) !== undefined)
    .map(({ address }) => address);
}
