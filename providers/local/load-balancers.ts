import { z } from 'zod';
import type { PlannedOperation } from '../../crds';
import type { OperatorError } from '../../operator/base/errors';
import type { JsonObject } from '../../operator/base/json';
import type { LoadBalancerInput, LoadBalancerResult, LoadBalancers, Replacement } from '../provider';
import { renderAddresses, type RenderedAddress } from './addresses';
import { generationsOf, marksOf, type Generation } from '../generations';
import { replacementKeeping } from '../keeping-replacement';
import { cloudName, engineOf, modeOf, withGeneration, renderListener, renderSourceRanges, type RenderedListener } from './listeners';
import { madeFrom } from './made-from';
import { recognize } from './recognize';
import { address } from './resources/address';
import { loadBalancer } from './resources/load-balancer';
import { membersAtFault, renderShared, type RenderedSharedLoadBalancer } from './shared-load-balancers';
import { validateLoadBalancer } from './validation';

/** One load balancer, as `render` gives it to the program. */
export interface RenderedLoadBalancer {
  /** UID of the CloudLoadBalancer: key of its results in the stack's outputs. */
  uid: string;
  ownerUID: string;
  owner: string;
  /** Name of the load balancer in the program, and in the cloud where it has no other there; the others' names begin with it. */
  name: string;
  cloudName?: string;
  scheme: 'Public' | 'Internal';
  /** Left out where connections end at the load balancer. */
  mode?: 'passthrough';
  addresses: RenderedAddress[];
  listeners: RenderedListener[];
  sourceRanges: string[];
  /** It has replaced an earlier generation: it takes no traffic before its members are registered. */
  afterMembers?: true;
  /** An earlier generation, kept for clients that still have its address. */
  retiring?: true;
  /** It was taken over from another owner; false = it takes the place of one that was. */
  adopted?: boolean;
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
  mode: z.literal('passthrough').optional(),
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
    const all = generationsOf(inputs);
    const owned = all.filter(({ input }) => input.spec.placement === undefined);
    const loadBalancers = owned.map(renderOne).sort((a, b) => (`${a.uid} ${a.name}` < `${b.uid} ${b.name}` ? -1 : 1));
    const shared = renderShared(inputs, this.scope);
    const rendered: RenderedStack = { loadBalancers, ...(shared.length > 0 && { shared }) };
    return rendered as unknown as JsonObject;
  }

  attribute(error: OperatorError, inputs: LoadBalancerInput[]): string[] {
    return membersAtFault(error, inputs, this.scope);
  }

  /** Scheme, engine and name are fixed when a load balancer is made. An address that was asked for can't be on two at once. */
  replacement(accepted: LoadBalancerInput, wanted: LoadBalancerInput): Replacement | undefined {
    const [before, after] = [accepted.spec, wanted.spec];
    const what = [
      { field: 'spec.scheme', from: before.scheme, to: after.scheme },
      { field: 'spec.local.engine', from: engineOf(before), to: engineOf(after) },
      { field: 'spec.local.name', from: before.local?.name ?? 'none', to: after.local?.name ?? 'none' },
    ].find(({ from, to }) => from !== to);
    if (what === undefined) return undefined;
    const why = `the change of ${what.field} from ${what.from} to ${what.to} replaces the load balancer`;
    const once = (after.addresses ?? []).filter((address) => before.addresses?.includes(address));
    return replacementKeeping(why, once, after.placement !== undefined);
  }

  lossBy({ op, type, name }: PlannedOperation): string | undefined {
    return op === 'delete' && type === address.token ? `deletes Address ${name}` : undefined;
  }

  readonly entries = [loadBalancer.token];

  results = results;

  recognize = recognize;

  madeFrom = madeFrom;
}

function renderOne({ input, retiring }: Generation): RenderedLoadBalancer {
  const { uid, ownerUID, namespace, name: objectName, spec, generation } = input;
  const name = cloudName(ownerUID, generation);
  return {
    uid,
    ownerUID,
    owner: `${namespace}/${objectName}`,
    name,
    ...(spec.local?.name !== undefined && { cloudName: withGeneration(spec.local.name, generation) }),
    scheme: spec.scheme,
    ...modeOf(spec),
    addresses: renderAddresses(name, spec),
    listeners: spec.listeners.map((listener) => renderListener(name, listener, spec)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    sourceRanges: renderSourceRanges(spec),
    ...marksOf({ input, retiring }),
    ...(input.adopted !== undefined && { adopted: true }),
    ...(input.inPlaceOfAdopted === true && { adopted: false }),
  };
}

function results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined {
  const { data } = publishedLoadBalancer.safeParse(outputs[uid]);
  if (data === undefined) return undefined;
  // What packets that go on as they are look like to a Node: it may send its own there without the way round (KEP-1860).
  const ipMode = data.mode === 'passthrough' ? 'VIP' : 'Proxy';
  return { ingress: data.addresses.map((ip) => ({ ip, ipMode })), targetGroups: data.pools };
}
