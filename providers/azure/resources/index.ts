import type { z } from 'zod';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { ArmClient } from '../client/arm-client';
import type { WorkerSettings } from '../worker-settings';
import { loadBalancer } from './load-balancer';
import { NamedAddress } from './named-address';
import { OwnedResource } from './owned-resource';
import { PartOfResource } from './part-of-resource';
import { publicIPAddress } from './public-ip-address';
import { routes } from './routes';
import { securityRules } from './security-rules';

/** What is served of the package `azure-native`: official tokens and property names. */
export const DESCRIPTIONS: readonly { token: string; replaceOn: readonly string[]; schema: z.ZodType }[] = [
  publicIPAddress('subscription'),
  loadBalancer('subscription', { clusterName: 'cluster' }),
];

/** The types of the package `azure-native` that our own provider serves, and types of our own. */
export function resourceTypes(
  arm: ArmClient,
  { networkSubscriptionID, ...settings }: Pick<WorkerSettings, 'networkSubscriptionID' | 'clusterName' | 'preConfiguredPools'>,
  update: UpdateContext,
): { official: ResourceType[]; own: ResourceType[] } {
  return {
    official: [
      new OwnedResource(publicIPAddress(networkSubscriptionID, arm), arm, update),
      new OwnedResource(loadBalancer(networkSubscriptionID, settings), arm, update),
    ],
    own: [
      new NamedAddress(arm, networkSubscriptionID, update),
      new PartOfResource(securityRules, arm, update),
      new PartOfResource(routes, arm, update),
    ],
  };
}
