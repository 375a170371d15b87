import { z } from 'zod';
import type { CloudLoadBalancerSpec } from '../../crds';
import type { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { LoadBalancerInput, LoadBalancerResult, LoadBalancers } from '../provider';
import { cloudName, renderListener, renderSourceRanges, type RenderedListener } from './listeners';
import { membersAtFault, renderShared, type RenderedSharedLoadBalancer } from './shared-load-balancers';
import { validateLoadBalancer } from './validation';

/** One load balancer, as `render` gives it to the program. */
export interface RenderedLoadBalancer {
  /** UID of the CloudLoadBalancer: key of its results in the stack's outputs. */
  uid: string;
  ownerUID: string;
  owner: string;
  /** Name of the load balancer in the cloud and in the program; the others' names begin with it. */
  name: string;
  scheme: 'Public' | 'Internal';
  addresses: RenderedAddress[];
  listeners: RenderedListener[];
  sourceRanges: string[];
}

export interface RenderedAddress {
  name: string;
  family: 'IPv4';
  requestedIP?: string;
}

/** What the program of a stack of load balancers gets. */
export interface RenderedStack {
  /** Each for one CloudLoadBalancer. */
  loadBalancers: RenderedLoadBalancer[];
  /** Each for all CloudLoadBalancers of one placement and scheme. */
  shared?: RenderedSharedLoadBalancer[];
}

/** What the program publishes for one CloudLoadBalancer. */
const publishedLoadBalancer = z.object({
  addresses: z.array(z.string()).min(1),
  pools: z.array(z.object({ id: z.string(), port: z.number().int() })),
});
export type PublishedLoadBalancer = z.infer<typeof publishedLoadBalancer>;

/** Where load balancers are made: what keeps their names apart from those of others in the same cloud. */
export interface NameScope {
  clusterID: string;
  providerName: string;
}

/** Load balancers of the local cloud: one for each CloudLoadBalancer, or one for all of a placement. */
export class LocalLoadBalancers implements LoadBalancers {
  constructor(private readonly scope: NameScope) {}

  /** Its own; by UID, so that a load balancer made again under the same name never meets its predecessor's state. */
  defaultPlacement({ uid }: LoadBalancerInput): string {
    return uid;
  }

  validate = validateLoadBalancer;

  render(_stack: string, inputs: LoadBalancerInput[]): JsonObject {
    const owned = inputs.filter(({ spec }) => spec.placement === undefined);
    const loadBalancers = owned.sort((a, b) => (a.uid < b.uid ? -1 : 1)).map(renderOne);
    const shared = renderShared(inputs, this.scope);
    const rendered: RenderedStack = { loadBalancers, ...(shared.length > 0 && { shared }) };
    return rendered as unknown as JsonObject;
  }

  attribute(error: OperatorError, inputs: LoadBalancerInput[]): string[] {
    return membersAtFault(error, inputs, this.scope);
  }

  results = results;
}

function renderOne({ uid, ownerUID, namespace, name: objectName, spec }: LoadBalancerInput): RenderedLoadBalancer {
  const name = cloudName(ownerUID);
  return {
    uid,
    ownerUID,
    owner: `${namespace}/${objectName}`,
    name,
    scheme: spec.scheme,
    addresses: renderAddresses(name, spec),
    listeners: spec.listeners.map((listener) => renderListener(name, listener, spec)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    sourceRanges: renderSourceRanges(spec),
  };
}

/** An address asked for has a name of its own: asking for another one makes the new one before the old one goes. */
function renderAddresses(base: string, { addresses = [] }: CloudLoadBalancerSpec): RenderedLoadBalancer['addresses'] {
  const [requestedIP] = addresses;
  if (requestedIP === undefined) return [{ name: `${base}-v4`, family: 'IPv4' }];
  return [{ name: `${base}-${requestedIP}`, family: 'IPv4', requestedIP }];
}

function results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined {
  const { data } = publishedLoadBalancer.safeParse(outputs[uid]);
  if (data === undefined) return undefined;
  return { ingress: data.addresses.map((ip) => ({ ip, ipMode: 'Proxy' })), targetGroups: data.pools };
}
