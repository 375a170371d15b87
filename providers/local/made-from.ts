import type { CloudLoadBalancerSpec } from '../../crds';
import type { DiscoveredResource, LoadBalancerInput } from '../provider';
import { cloudName, engineOf, withGeneration } from './listeners';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import { targetPool } from './resources/target-pool';

/** LoadBalancers.madeFrom: scheme, engine and name. Pure. */
export function madeFrom(found: readonly DiscoveredResource[], input: LoadBalancerInput): CloudLoadBalancerSpec {
  const { spec } = input;
  const standing = standingIn(found, cloudName(input.ownerUID, input.generation));
  if (standing === undefined) return spec;
  const engine: ReturnType<typeof engineOf> = standing.mode === 'passthrough' ? 'Passthrough' : 'Node';
  const local = { ...spec.local, ...(engine !== engineOf(spec) && { engine }) };
  return { ...spec, scheme: standing.scheme, local: spec.placement === undefined ? named(local, standing.name, input) : local };
}

/** The load balancer that hands connections to the pools whose names begin with `base`. */
function standingIn(found: readonly DiscoveredResource[], base: string): LoadBalancerInputs | undefined {
  const pools = found.filter(({ type, name }) => type === targetPool.token && name.startsWith(`${base}-`)).map(({ id }) => id);
  const all = found.filter(({ type }) => type === loadBalancer.token).map(({ inputs }) => inputs as unknown as LoadBalancerInputs);
  return all.find(({ listeners }) => listeners.some(({ poolID }) => pools.includes(poolID)));
}

/** The block with the name that the spec must have asked for; none where it is the one that is made of the owner's UID. */
function named(
  { name: asked, ...local }: NonNullable<CloudLoadBalancerSpec['local']>,
  standing: string,
  { ownerUID, generation = 0 }: LoadBalancerInput,
): NonNullable<CloudLoadBalancerSpec['local']> {
  if (standing === cloudName(ownerUID, generation)) return local;
  const name = asked !== undefined && withGeneration(asked, generation) === standing ? asked : withoutGeneration(standing, generation);
  return { ...local, name };
}

function withoutGeneration(name: string, generation: number): string {
  const suffix = withGeneration('', generation);
  return name.endsWith(suffix) ? name.slice(0, name.length - suffix.length) : name;
}
