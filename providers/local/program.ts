import * as pulumi from '@pulumi/pulumi';
import type { JsonObject } from '../../operator/base/json';
import type { PublishedLoadBalancer, RenderedLoadBalancer } from './load-balancers';
import type { RenderedRoute } from './routes';
import { address, type AddressInputs } from './resources/address';
import { loadBalancer, type LoadBalancerInputs } from './resources/load-balancer';
import { route, type RouteInputs } from './resources/route';
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

interface Inputs {
  loadBalancers?: RenderedLoadBalancer[];
  routes?: RenderedRoute[];
}

/**
 * The program of every stack: `inputs` are what `LoadBalancers.render` or `Routes.render` gave.
 * @returns the stack's outputs: a PublishedLoadBalancer for each UID
 */
export function program(inputs: JsonObject): Promise<Record<string, pulumi.Output<PublishedLoadBalancer>>> {
  const { loadBalancers = [], routes = [] } = inputs as Inputs;
  routes.forEach(({ uid, ...args }) => new Route(args.name, { ...args, ownerUID: uid }));
  return Promise.resolve(Object.fromEntries(loadBalancers.map((input) => [input.uid, declare(input)])));
}

/** Addresses and pools first, side by side; the load balancer waits for their ids, and is deleted before them. */
function declare({ ownerUID, owner, name, ...input }: RenderedLoadBalancer): pulumi.Output<PublishedLoadBalancer> {
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
