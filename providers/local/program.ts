import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../operator/base/json';
import type { PublishedLoadBalancer, RenderedLoadBalancer, RenderedStack } from './load-balancers';
import type { RenderedRoute } from './routes';
import { address, type AddressInputs } from './resources/address';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import { route, type RouteInputs } from './resources/route';
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

class Route extends pulumi.CustomResource {
  constructor(name: string, args: Args<RouteInputs>) {
    super(route.token, name, args);
  }
}

type Inputs = Partial<RenderedStack> & { routes?: RenderedRoute[] };
type Published = pulumi.Output<PublishedLoadBalancer>;

/**
 * The program of every stack: `inputs` are what `LoadBalancers.render` or `Routes.render` gave.
 * @returns the stack's outputs: a PublishedLoadBalancer for each UID
 */
export function program(inputs: JsonObject): Promise<Record<string, Published>> {
  const { loadBalancers = [], shared = [], routes = [] } = inputs as Inputs;
  routes.forEach(({ uid, ...args }) => new Route(args.name, { ...args, ownerUID: uid }));
  const own = loadBalancers.map((input): [string, Published] => [input.uid, declare(input)]);
  return Promise.resolve(Object.fromEntries([...own, ...shared.flatMap(declareShared)]));
}

/** Addresses and pools first, side by side; the load balancer waits for their ids, and is deleted before them. */
function declare({ ownerUID, owner, name, ...input }: RenderedLoadBalancer): Published {
  const common = { ownerUID, owner };
  const addresses = input.addresses.map((args) => new Address(args.name, { ...args, ...common }));
  const listeners = input.listeners.map(({ pool, nodePort, ...listener }) => {
    const { id } = new TargetPool(pool.name, { ...pool, protocol: listener.protocol, ...common });
    return { args: { ...listener, poolID: id }, published: { id, port: nodePort } };
  });
  new LoadBalancer(name, {
    name,
    ...common,
    scheme: input.scheme,
    addressIDs: pulumi.all(addresses.map(({ id }) => id)),
    listeners: listeners.map(({ args }) => args),
    sourceRanges: input.sourceRanges,
  });
  return pulumi.output({ addresses: addresses.map(({ ip }) => ip), pools: listeners.map(({ published }) => published) });
}

/** As `declare`, for all who share it; each gets the addresses and pools of its own. */
function declareShared(shared: RenderedSharedLoadBalancer): [string, Published][] {
  const { name, ownerUID, owner, scheme } = shared;
  const addresses = new Map(shared.addresses.map((args) => [args.name, new Address(args.name, { ...args, ownerUID, owner })]));
  const addressesOf = (member: RenderedMember): Address[] => member.addresses.flatMap((address) => addresses.get(address) ?? []);
  const listeners = listenersOf(shared).map(({ member, listener: { pool, nodePort, ...listener } }) => {
    const { uid, sourceRanges } = member;
    const common = { ownerUID: member.ownerUID, owner: member.owner };
    const { id } = new TargetPool(pool.name, { ...pool, protocol: listener.protocol, ...common });
    const addressIDs = pulumi.all(addressesOf(member).map((address) => address.id));
    return { uid, args: { ...listener, poolID: id, addressIDs, sourceRanges, ...common }, published: { id, port: nodePort } };
  });
  new LoadBalancer(name, {
    ...{ name, ownerUID, owner, scheme },
    addressIDs: pulumi.all([...addresses.values()].map(({ id }) => id)),
    listeners: listeners.map(({ args }) => args),
    sourceRanges: [],
  });
  return shared.members.map((member) => {
    const pools = listeners.filter(({ uid }) => uid === member.uid).map(({ published }) => published);
    return [member.uid, pulumi.output({ addresses: addressesOf(member).map(({ ip }) => ip), pools })];
  });
}
