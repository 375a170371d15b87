import { hashJson } from '../../../operator/base/json';
import type { LoadBalancerInput } from '../../provider';
import { sameID } from '../client/resource-id';
import type { AzureScope } from './scope';
import { networkSubscriptionOf } from './scope';
import type { BalancerPlace } from './arguments';
import { isOpen } from './eligible';
import { placesOf } from './entries';

/** What decides which load balancer carries it. */
type Placed = Pick<LoadBalancerInput, 'uid'> & { spec: Pick<LoadBalancerInput['spec'], 'scheme' | 'ipFamilies' | 'addresses' | 'azure'> };

/**
 * Which one of several load balancers (load-balancer-configurations) carries it; without several, the one that there is. Of several that may carry it, always
 * the same one is chosen, the same for all that ask for one address (cloud-provider-azure#9867), and another one more takes only those that it would have had
 * from the beginning. Pure.
 */
export function configurationOf({ uid, spec }: Placed, settings: AzureScope['settings']): string {
  const { clusterName, loadBalancerName, loadBalancers = [] } = settings;
  const open = loadBalancers.filter(isOpen).map(({ name }) => name);
  const named = spec.azure?.configurations?.map((name) => loadBalancers.find((one) => sameID(one.name, name))?.name ?? name);
  const among = loadBalancers.length === 0 ? [] : (named ?? open);
  const [address = uid] = placesOf(spec);
  const weight = (name: string): string => hashJson([address, name]);
  const [chosen] = [...among].sort((a, b) => (weight(a) < weight(b) ? -1 : 1));
  return chosen ?? loadBalancerName ?? clusterName;
}

/** Upstream's name of the load balancer that carries it: one for all of a scheme, or one of several. Pure. */
export function balancerNameOf(input: Placed, { settings }: Pick<AzureScope, 'settings'>): string {
  const name = configurationOf(input, settings);
  return input.spec.scheme === 'Internal' ? `${name}-internal` : name;
}

/** Where the load balancer is that carries it. Pure. */
export function placeOf(input: Placed, scope: AzureScope): BalancerPlace {
  const { settings, location } = scope;
  return {
    subscriptionID: networkSubscriptionOf(settings),
    resourceGroup: settings.loadBalancerResourceGroup ?? settings.resourceGroup,
    name: balancerNameOf(input, scope),
    location,
    settings,
  };
}
