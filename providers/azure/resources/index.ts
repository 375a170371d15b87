import type { z } from 'zod';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import type { WorkerSettings } from '../worker-settings';
import { LabelHandover } from './label-handover';
import { loadBalancer } from './load-balancer';
import { NamedAddress } from './named-address';
import { narrowedRules } from './narrowed-rules';
import { OwnedResource } from './owned-resource';
import { PartOfResource } from './part-of-resource';
import { privateLinkService } from './private-link-service';
import { publicIPAddress } from './public-ip-address';
import { routes } from './routes';
import { securityRules } from './security-rules';
import { StandingLinks } from './standing-links';
import { subnetPolicy } from './subnet-policy';

/** What is served of the package `azure-native`: official tokens and property names. */
export const DESCRIPTIONS: readonly { token: string; replaceOn: readonly string[]; schema: z.ZodType }[] = [
  publicIPAddress('subscription'),
  loadBalancer('subscription', { clusterName: 'cluster' }),
  privateLinkService('subscription'),
];

/** The types of the package `azure-native` that our own provider serves, and types of our own. */
export function resourceTypes(
  arm: ArmClient,
  { networkSubscriptionID, ...settings }: Pick<WorkerSettings, 'networkSubscriptionID' | 'clusterName' | 'preConfiguredPools'>,
  update: UpdateContext,
): { official: ResourceType[]; own: ResourceType[] } {
  const addresses = new OwnedResource(publicIPAddress(networkSubscriptionID, arm), arm, update);
  const links = new OwnedResource(privateLinkService(networkSubscriptionID), arm, update);
  return {
    official: [
      new LabelHandover(addresses, arm, networkSubscriptionID, update),
      new OwnedResource(loadBalancer(networkSubscriptionID, settings), arm, update),
      links,
    ],
    own: [
      new NamedAddress(arm, networkSubscriptionID, update),
      new PartOfResource(securityRules, arm, update),
      new PartOfResource(narrowedRules, arm, update),
      new PartOfResource(routes, arm, update),
      new StandingLinks(links, arm, networkSubscriptionID, update),
      new PartOfResource(subnetPolicy, arm, update),
    ],
  };
}
