import { membersReady } from '../../resource-provider/members-ready';
import type { ResourceType } from '../../resource-provider/resource-provider';
import type { UpdateContext } from '../../worker-module';
import type { LocalCloudClient } from '../client';
import { address } from './address';
import { loadBalancer } from './load-balancer';
import { OwnedResource } from './owned-resource';
import { route } from './route';
import { targetPool } from './target-pool';

/** Every type of the package `local`. */
export function resourceTypes(client: LocalCloudClient, update: UpdateContext): ResourceType[] {
  return [
    new OwnedResource(address, client, update),
    new OwnedResource(targetPool, client, update),
    new OwnedResource(loadBalancer, client, update),
    new OwnedResource(route, client, update),
    membersReady('local', update),
  ];
}
