import { cloudName } from './load-balancers/names';
import { classicByName } from './resources/classic-load-balancer';
import type { Api } from './resources/description';
import { emptyWhenGone, withTags } from './resources/elb-tags';
import { holderOf, TAG } from './tags';

/**
 * Cloud.leftFor. Cloud-provider-aws finds a load balancer again by its name alone, which is made of the Service's UID (contract 1.3); so it is found here.
 * One that bears our marks, released or not, is not its own any more.
 */
export async function leftFor(api: Api, serviceUID: string): Promise<string | undefined> {
  const name = cloudName(serviceUID);
  const named = await emptyWhenGone(api.elb.loadBalancers({ Names: [name] }, api.options));
  const [network] = await withTags(named, ({ LoadBalancerArn }) => LoadBalancerArn, api);
  const found = network ?? (await classicByName(name, api));
  if (found === undefined || found.tags[TAG.clusterID] !== undefined) return undefined;
  const kind = network === undefined ? 'Classic load balancer' : 'load balancer';
  return `${kind} ${found.id} of ${holderOf(found.tags)}`;
}
