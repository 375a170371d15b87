import type { Family, PoolTarget } from '../../../api';
import type { PoolPlan } from '../../data-plane';
import { familyOf } from '../ip-range';

/** A pool with the targets' addresses of one family. */
export type FamilyPoolPlan = Omit<PoolPlan, 'targets'> & { targets: (PoolTarget & { address: string })[] };

export function poolKey(id: string, family: Family): string {
  return family === 'IPv4' ? id : `${id}|${family}`;
}

/** The id of the pool that a key stands for. */
export function poolIDOf(key: string): string {
  return key.split('|')[0] ?? '';
}

/**
 * A pool as the listeners of one family see it: IPv6 clients go to the targets' IPv6 addresses, so that what they meet there is what they would
 * meet without a load balancer. A target without one is reached by what it has. Pure.
 */
export function poolOfFamily(plan: PoolPlan, family: Family): FamilyPoolPlan {
  const targets = plan.targets.map(({ addresses, ...target }) => {
    return { ...target, address: addresses.find((address) => familyOf(address) === family) ?? addresses[0] ?? '' };
  });
  return { ...plan, id: poolKey(plan.id, family), targets };
}
