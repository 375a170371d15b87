import type { ResourceCollection } from '../entry';
import { addressRules } from './addresses';
import { instanceRules } from './instances';
import { loadBalancerRules } from './loadbalancers';
import { poolRules } from './pools';
import { routeRules } from './routes';
import { routeTableRules } from './routetables';
import type { CollectionRules } from './rules';

/** The rules of every collection. Their own types are checked where they are written; the cloud treats all alike. */
const RULES = {
  instances: instanceRules,
  addresses: addressRules,
  loadbalancers: loadBalancerRules,
  pools: poolRules,
  routetables: routeTableRules,
  routes: routeRules,
};

export function rulesOf(collection: ResourceCollection): CollectionRules<ResourceCollection> {
  return RULES[collection];
}
