import { hashJson } from '../../../operator/base/json';

/** Of load balancers and target groups. */
const NAME_LENGTH = 32;
const PART_LENGTH = 8;
const HASH_LENGTH = 10;

/** Upstream's name for a load balancer (contract 1.3, DefaultLoadBalancerName); later generations bear their number in place of its end. */
export function cloudName(ownerUID: string, generation = 0): string {
  return withGeneration(`a${ownerUID.replaceAll('-', '')}`, generation);
}

/** Upstream's name for the security group that is made for a Classic load balancer (providers 2.1). */
export function classicGroupName(loadBalancer: string): string {
  return `k8s-elb-${loadBalancer}`;
}

/** A name that was asked for, or made, as a generation bears it. Pure. */
export function withGeneration(name: string, generation = 0): string {
  const suffix = generation === 0 ? '' : `-g${generation}`;
  return `${name.slice(0, NAME_LENGTH - suffix.length)}${suffix}`;
}

/**
 * A name in upstream's form for what belongs to one object: `k8s-<namespace>-<name>-<hash>`.
 * @param of everything that AWS can't change in place, and what tells this one from others: another one has another name, so that the new one
 *   can be made before the old one goes
 */
export function hashedName({ namespace, name }: { namespace: string; name: string }, of: unknown): string {
  const part = (text: string): string => text.replaceAll(/[^a-zA-Z0-9]/g, '').slice(0, PART_LENGTH);
  return `k8s-${part(namespace)}-${part(name)}-${hashJson(of).slice(0, HASH_LENGTH)}`;
}
