import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../operator/base/json';
import type { PublishedLoadBalancer, RenderedLoadBalancer, RenderedStack } from './load-balancers';
import type { RenderedRoute } from './routes';
import { address, type AddressInputs } from './resources/address';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import { route, type RouteInputs } from './resources/route';
import { MEMBERS_READY, type MembersReadyInputs } from '../resource-provider/members-ready';
import type { RenderedListener } from './listeners';
import { listenersOf, type RenderedMember, type RenderedSharedLoadBalancer } from './shared-load-balancers';
import { targetPool, type TargetPoolInputs } from './resources/target-pool';

/** The values of a resource's inputs, each of which may be another resource's output. */
type Args<T> = { [K in keyof T]: pulumi.Input<T[K]> };

class Address extends pulumi.CustomResource {
  declare readonly ip: pulumi.Output<string>;

  constructor(name: string, args: Args<AddressInputs>) {
    super(address.token, name, { ...args, ip: undefined });
  }
}

class TargetPool extends pulumi.CustomResource {
  constructor(name: string, args: Args<TargetPoolInputs>) {
    super(targetPool.token, name, args);
  }
}

class LoadBalancer extends pulumi.CustomResource {
  constructor(
    name: string,
    args: Omit<Args<LoadBalancerInputs>, 'listeners'> & { listeners: Args<LoadBalancerInputs['listeners'][number]>[] },
  ) {
    super(loadBalancer.token, name, args);
  }
}

/** The members of a pool are registered once this is made. */
class MembersReady extends pulumi.CustomResource {
  declare readonly group: pulumi.Output<string>;

  constructor(name: string, args: Args<MembersReadyInputs>) {
    super(`local${MEMBERS_READY}`, name, args);
  }
}

class Route extends pulumi.CustomResource {
  constructor(name: string, args: Args<RouteInputs>) {
    super(route.token, name, args);
  }
}

type Inputs = Partial<RenderedStack> & { routes?: RenderedRoute[] };

/** What one generation of a load balancer publishes. */
interface Published {
  uid: string;
  retiring: boolean;
  mode: 'passthrough' | undefined;
  addresses: pulumi.Output<string>[];
  pools: PublishedPool[];
}

interface PublishedPool {
  id: pulumi.Output<string>;
  port: number;
}

/**
 * The program of every stack: `inputs` are what `LoadBalancers.render` or `Routes.render` gave.
 * @returns the stack's outputs: a PublishedLoadBalancer for each UID
 */
export function program(inputs: JsonObject): Promise<Record<string, pulumi.Output<PublishedLoadBalancer>>> {
  const { loadBalancers = [], shared = [], routes = [] } = inputs as Inputs;
  routes.forEach(({ uid, ...args }) => new Route(args.name, { ...args, ownerUID: uid }));
  const published = [...loadBalancers.map(declare), ...shared.flatMap(declareShared)];
  const uids = [...new Set(published.map(({ uid }) => uid))];
  return Promise.resolve(Object.fromEntries(uids.map((uid) => [uid, outputsOf(published.filter((one) => one.uid === uid))])));
}

/** The newest generation's addresses, and the pools of all. */
function outputsOf(generations: Published[]): pulumi.Output<PublishedLoadBalancer> {
  const current = generations.filter(({ retiring }) => !retiring);
  const addresses = current.flatMap((generation) => generation.addresses);
  const mode = current[0]?.mode;
  return pulumi.output({ ...(mode !== undefined && { mode }), addresses, pools: generations.flatMap(({ pools }) => pools) });
}

/** Addresses and pools first, side by side; the load balancer waits for their ids, and is deleted before them. */
function declare({ uid, ownerUID, owner, name, ...input }: RenderedLoadBalancer): Published {
  const common = { ownerUID, owner, ...(input.adopted === true && { adopted: true as const }) };
  const addresses = input.addresses.map((args) => new Address(args.name, { ...args, ...common }));
  const listeners = input.listeners.map((listener) => declareListener(listener, common, input.afterMembers));
  new LoadBalancer(name, {
    name: input.cloudName ?? name,
    ...common,
    // Its addresses and pools stay as they were taken over: they are in use.
    ...(input.adopted !== undefined && { adopted: input.adopted }),
    scheme: input.scheme,
    ...(input.mode !== undefined && { mode: input.mode }),
    addressIDs: pulumi.all(addresses.map(({ id }) => id)),
    listeners: listeners.map(({ args }) => args),
    sourceRanges: input.sourceRanges,
  });
  const pools = listeners.map(({ pool }) => pool);
  return { uid, retiring: input.retiring === true, mode: input.mode, addresses: addresses.map(({ ip }) => ip), pools };
}

/** As `declare`, for all who share it; each gets the addresses and pools of its own. */
function declareShared(shared: RenderedSharedLoadBalancer): Published[] {
  const { name, ownerUID, owner, scheme, mode } = shared;
  const addresses = new Map(shared.addresses.map((args) => [args.name, new Address(args.name, { ...args, ownerUID, owner })]));
  const addressesOf = (member: RenderedMember): Address[] => member.addresses.flatMap((address) => addresses.get(address) ?? []);
  const listeners = listenersOf(shared).map(({ member, listener }) => {
    const { sourceRanges } = member;
    const common = { ownerUID: member.ownerUID, owner: member.owner };
    const { args, pool } = declareListener(listener, common, member.afterMembers);
    const addressIDs = pulumi.all(addressesOf(member).map((address) => address.id));
    return { member, args: { ...args, addressIDs, sourceRanges, ...common }, pool };
  });
  new LoadBalancer(name, {
    ...{ name, ownerUID, owner, scheme, ...(mode !== undefined && { mode }) },
    addressIDs: pulumi.all([...addresses.values()].map(({ id }) => id)),
    listeners: listeners.map(({ args }) => args),
    sourceRanges: [],
  });
  return shared.members.map((member) => {
    const pools = listeners.filter((listener) => listener.member === member).map(({ pool }) => pool);
    return { uid: member.uid, retiring: member.retiring === true, mode, addresses: addressesOf(member).map(({ ip }) => ip), pools };
  });
}

/** A listener with its pool; after a replacement it waits until the pool has its members. */
function declareListener(
  { pool, nodePort, ...listener }: RenderedListener,
  common: { ownerUID: string; owner: string; adopted?: true },
  afterMembers: true | undefined,
): { args: Args<LoadBalancerInputs['listeners'][number]>; pool: PublishedPool } {
  const { id } = new TargetPool(pool.name, { ...pool, protocol: listener.protocol, ...common });
  const poolID = afterMembers === undefined ? id : new MembersReady(pool.name, { group: id, port: nodePort }).group;
  return { args: { ...listener, poolID }, pool: { id, port: nodePort } };
}
