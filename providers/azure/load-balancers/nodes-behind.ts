import type { AzureProviderSettings, CloudLoadBalancerSpec } from '../../../crds';
import type { NodeLabels, Target, TargetsOf } from '../../provider';
import { sharesOf } from './node-shares';

/** Labels of the control plane's Nodes, with the values that kubeadm, k3s and upstream's oldest clusters give them. */
const CONTROL_PLANE: readonly NodeLabels[] = [
  { 'node-role.kubernetes.io/control-plane': '' },
  { 'node-role.kubernetes.io/control-plane': 'true' },
  { 'node-role.kubernetes.io/master': '' },
  { 'kubernetes.io/role': 'master' },
];

type Pools = Pick<AzureProviderSettings, 'preConfiguredPools'>;

/** True where somebody else looks after the Nodes behind a load balancer: its pools are not ours. @param name the public or the internal one's. Pure. */
export function isPreConfigured(name: string, settings: Pools): boolean {
  return arePreConfigured(isInternal(name) ? 'Internal' : 'Public', settings);
}

/** The same of all load balancers of a scheme. Pure. */
export function arePreConfigured(scheme: CloudLoadBalancerSpec['scheme'], { preConfiguredPools: of }: Pools): boolean {
  return of === 'All' || of === (scheme === 'Internal' ? 'Internal' : 'External');
}

/**
 * The Nodes behind one load balancer: all that may take traffic, whether they are ready or not, because they may need it for their connections outwards
 * (kubernetes-sigs/cloud-provider-azure#3500); of several load balancers its share of them. Pure.
 * @param name of the load balancer, the public or the internal one
 */
export function nodesBehind(
  name: string,
  targets: TargetsOf,
  { loadBalancers = [], excludeControlPlane }: Pick<AzureProviderSettings, 'loadBalancers' | 'excludeControlPlane'>,
): readonly Target[] {
  const left = new Set(
    excludeControlPlane ? CONTROL_PLANE.flatMap((matchLabels) => targets({ matchLabels }).map(({ nodeName }) => nodeName)) : [],
  );
  const all = targets().filter(({ nodeName }) => !left.has(nodeName));
  if (loadBalancers.length === 0) return all;
  const shares = sharesOf(all, targets, loadBalancers);
  return all.filter(({ nodeName }) => isOf(name, shares.get(nodeName)));
}

function isOf(balancer: string, name: string | undefined): boolean {
  return name !== undefined && (balancer === name || balancer === `${name}-internal`);
}

function isInternal(name: string): boolean {
  return name.endsWith('-internal');
}
