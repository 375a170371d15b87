import { z } from 'zod';
import type { CloudLoadBalancerSpec } from '../../../crds';
import type { OperatorError } from '../../../operator/base/errors';
import { canonicalJson, type JsonObject } from '../../../operator/base/json';
import { generationsOf, type Generation } from '../../generations';
import { replacementKeeping } from '../../keeping-replacement';
import type {
  DiscoveredResource,
  KeptDifference,
  LoadBalancerInput,
  LoadBalancerResult,
  LoadBalancers,
  NodeLabels,
  Replacement,
} from '../../provider';
import { keepNetwork, keptOf, withOwnGroup } from './adopted';
import { keptDifferences, standingOf } from './kept-differences';
import { isClassic, renderClassic, type RenderedClassic } from './classic';
import { portsOf, renderListener, type RenderedListener } from './listeners';
import { memberAccess } from '../members/member-access';
import { cloudName } from './names';
import { asksForLess, FIXED, fixedOf, renderSettings, tagsOf, type NetworkSettings } from './network-settings';
import {
  doubledOf,
  nodeAccessOf,
  portsOfNodes,
  renderFormerRules,
  renderNodeRules,
  type BesideOthers,
  type RenderedFormerRules,
  type RenderedNodeRules,
} from './node-access';
import { madeFrom } from '../made-from';
import { named } from '../named';
import { recognize } from '../recognize';
import { classicLoadBalancer } from '../resources/classic-load-balancer';
import { loadBalancer } from '../resources/load-balancer';
import type { LoadBalancerScope } from '../scope';
import { TAG } from '../tags';
import {
  renderBackend,
  renderGroups,
  renderSecurityGroup,
  type RenderedBackend,
  type RenderedGroups,
  type RenderedSecurityGroup,
} from './security-groups';
import { isShared, renderShared, sharedName, type RenderedSharedLoadBalancer } from './shared';
import { onceOf, renderAddresses, renderSubnets, type RenderedAddresses, type RenderedSubnets } from './subnet-mappings';
import { validateLoadBalancer } from '../validation';

/** One Network Load Balancer by itself, as `render` gives it to the program. */
export interface RenderedNetwork extends RenderedGroups {
  /** Name in the program; the others' names begin with it. */
  name: string;
  settings: NetworkSettings;
  /** Absent = they are in the settings, by id. */
  subnets?: RenderedSubnets;
  /** Absent = it asks for no addresses of its own. */
  addresses?: RenderedAddresses;
  securityGroup?: RenderedSecurityGroup;
  /** Its part in the group that lets it in to the Nodes. */
  backend?: RenderedBackend;
  /** Its own rules in the groups of the Nodes, where it has no part in the backend group. */
  nodeRules?: RenderedNodeRules;
  /** On everything; the program adds the resource's own name. */
  tags: Record<string, string>;
  /** On the load balancer alone; absent = none. */
  ownTags?: Record<string, string>;
  vpcID: string;
}

/** One for one CloudLoadBalancer. */
export interface RenderedLoadBalancer extends RenderedNetwork {
  /** UID of the CloudLoadBalancer: key of its results in the stack's outputs. */
  uid: string;
  ownerUID: string;
  listeners: RenderedListener[];
  /** Of the Nodes' groups, where it has none now. */
  formerRules?: RenderedFormerRules;
  /** Of the Nodes that may be targets; absent = of all. */
  nodeLabels?: NodeLabels;
  /** An earlier generation, kept for clients that still have its address. */
  retiring?: true;
  /** It was taken over from another owner. */
  adopted?: true;
}

/** What the program of a stack of load balancers gets. */
export interface RenderedStack {
  networkLoadBalancers: RenderedLoadBalancer[];
  /** Those of placements; absent = none. */
  sharedLoadBalancers?: RenderedSharedLoadBalancer[];
  /** Absent = none. */
  classicLoadBalancers?: RenderedClassic[];
}

const targetGroup = z.object({
  id: z.string().min(1),
  port: z.number().int(),
  nodeLabels: z.record(z.string(), z.string()).optional(),
  access: memberAccess.optional(),
});

/** What the program publishes for one CloudLoadBalancer. */
const publishedLoadBalancer = z.object({
  hostname: z.string().min(1),
  targetGroups: z.array(targetGroup),
});
export type PublishedLoadBalancer = z.infer<typeof publishedLoadBalancer>;

/** Network and Classic load balancers: one for each CloudLoadBalancer, or one Network Load Balancer for those of a placement. */
export class AwsLoadBalancers implements LoadBalancers {
  constructor(private readonly scope: LoadBalancerScope) {}

  /** Its own; by UID, so that a load balancer made again under the same name never meets its predecessor's state. */
  defaultPlacement({ uid }: LoadBalancerInput): string {
    return uid;
  }

  validate(spec: CloudLoadBalancerSpec): ReturnType<LoadBalancers['validate']> {
    return validateLoadBalancer(spec, this.scope);
  }

  render(stack: string, inputs: LoadBalancerInput[]): JsonObject {
    const doubled = doubledOf(inputs);
    const all = generationsOf(inputs).map((generation) => ({ ...generation, waits: doubled.has(generation.input.uid) }));
    const network = all
      .filter(({ input }) => !isClassic(input.spec) && !isShared(input.spec))
      .map((generation) => renderNetwork(stack, generation, this.scope));
    const classic = all
      .filter(({ input }) => isClassic(input.spec))
      .map((generation) => renderClassic(generation, tagsOf(stack, generation.input, this.scope), this.scope));
    const shared = renderShared(stack, inputs, this.scope);
    const rendered: RenderedStack = {
      networkLoadBalancers: network.sort(byOwner),
      ...(shared.length > 0 && { sharedLoadBalancers: shared }),
      ...(classic.length > 0 && { classicLoadBalancers: classic.sort(byOwner) }),
    };
    return rendered as unknown as JsonObject;
  }

  /** Every name in the program begins with that of its load balancer; what a placement shares is nobody's fault. */
  attribute(error: OperatorError, inputs: LoadBalancerInput[]): string[] {
    const failed = error.resource?.split('::').at(-1);
    if (failed === undefined) return [];
    const owners = generationsOf(inputs).filter(({ input }) => {
      const name = cloudName(input.ownerUID, input.generation);
      return failed === name || failed.startsWith(`${name}-`);
    });
    return [...new Set(owners.map(({ input }) => input.uid))];
  }

  /** What AWS fixes when it makes a Network Load Balancer. An address that was asked for can't be on two at once. */
  replacement(accepted: LoadBalancerInput, wanted: LoadBalancerInput): Replacement | undefined {
    const [before, after] = [accepted.spec, wanted.spec].map((spec) => fixedOf(spec, this.scope));
    const kept = keptOf(accepted);
    const standing = kept === undefined ? {} : standingOf(kept);
    const isAsked = (key: string, by: Record<string, unknown> | undefined): boolean =>
      canonicalJson(by?.[key]) === canonicalJson(after?.[key]);
    // What was taken over with a difference, and is asked for as it is now, stays.
    const field = Object.keys(FIXED).find((key) => !isAsked(key, before) && !(key in standing && isAsked(key, standing)));
    if (field === undefined) return lessOf(accepted, wanted);
    const why = `the change of ${FIXED[field]}${fromTo(before?.[field], after?.[field])} replaces the load balancer`;
    const [had, asked] = [accepted.spec, wanted.spec].map(onceOf);
    const once = (asked ?? []).filter((address) => had?.includes(address));
    return replacementKeeping(why, once, isShared(wanted.spec));
  }

  keptDifferences(input: LoadBalancerInput): KeptDifference[] {
    return keptDifferences(input, this.scope);
  }

  exclusive = onceOf;

  together(input: LoadBalancerInput): ReturnType<NonNullable<LoadBalancers['together']>> {
    return isShared(input.spec) ? { addresses: onceOf(input.spec), by: sharedName(input, this.scope) } : undefined;
  }

  named = named;

  readonly entries = [loadBalancer.token, classicLoadBalancer.token];

  results = results;

  recognize = recognize;

  madeFrom(found: readonly DiscoveredResource[], input: LoadBalancerInput): CloudLoadBalancerSpec {
    return madeFrom(found, input, this.scope);
  }
}

/** Of what is one word; all else is known by its field. */
function fromTo(before: unknown, after: unknown): string {
  return typeof before === 'string' && typeof after === 'string' ? ` from ${before} to ${after}` : '';
}

/** Where an address of its own can't be on two at once, it keeps what it has: that is no reason for a gap. */
function lessOf({ spec: before }: LoadBalancerInput, { spec: after }: LoadBalancerInput): Replacement | undefined {
  if (!asksForLess(before, after) || onceOf(after).length > 0) return undefined;
  return { why: 'fewer addresses in spec.aws.secondaryIPsPerSubnet replace the load balancer, because AWS takes none back', gap: false };
}

function byOwner(a: { uid: string; name: string }, b: { uid: string; name: string }): number {
  return `${a.uid} ${a.name}` < `${b.uid} ${b.name}` ? -1 : 1;
}

/** Pure. */
export function renderNetwork(stack: string, generation: Generation, scope: LoadBalancerScope): RenderedLoadBalancer {
  const kept = keptOf(generation.input);
  const input = kept?.ownGroup === true ? withOwnGroup(generation.input) : generation.input;
  const rendered = renderOne(stack, { waits: false, ...generation, input }, scope);
  return kept === undefined ? rendered : keepNetwork(rendered, kept, input.spec);
}

function renderOne(stack: string, { input, retiring, waits }: BesideOthers, scope: LoadBalancerScope): RenderedLoadBalancer {
  const { uid, ownerUID, spec, generation } = input;
  const name = cloudName(ownerUID, generation);
  const ports = portsOf(spec);
  const settings = renderSettings(name, input, scope);
  const subnets = renderSubnets(name, input, scope);
  const addresses = renderAddresses(name, { spec, loadBalancer: settings.name }, scope);
  const securityGroup = renderSecurityGroup(name, ports, input, scope);
  const listeners = ports.map((port) => renderListener(name, port, input, scope)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    uid,
    ownerUID,
    name,
    settings,
    ...(subnets !== undefined && { subnets }),
    ...(addresses !== undefined && { addresses }),
    ...(securityGroup !== undefined && { securityGroup }),
    ...renderAccess(name, { input, waits, listeners, made: securityGroup !== undefined }, scope),
    ...renderGroups(name, spec.aws?.securityGroups?.groups ?? [], scope),
    listeners,
    tags: tagsOf(stack, input, scope),
    // Its target groups and its group stay as they were taken over: AWS deletes nothing that is in use.
    ...(input.inPlaceOfAdopted === true && { ownTags: { [TAG.adopted]: 'false' } }),
    vpcID: scope.vpcID ?? '',
    ...(spec.aws?.targetNodeLabels !== undefined && { nodeLabels: spec.aws.targetNodeLabels }),
    ...(retiring && { retiring }),
  };
}

interface Way extends Pick<BesideOthers, 'input' | 'waits'> {
  listeners: readonly RenderedListener[];
  /** It has a group that is made for it. */
  made: boolean;
}

/** Which groups it has. One that was taken over without any can never get one, whatever the spec says. */
function groupsOf(input: LoadBalancerInput, made: boolean): 'Made' | 'Named' | 'None' {
  if (keptOf(input)?.grouped === false) return 'None';
  if (made) return 'Made';
  return input.spec.aws?.securityGroups?.groups === undefined ? 'None' : 'Named';
}

/** How it is let in to the Nodes. */
function renderAccess(
  name: string,
  { input, waits, listeners, made }: Way,
  scope: LoadBalancerScope,
): Pick<RenderedLoadBalancer, 'backend' | 'nodeRules' | 'formerRules'> {
  const access = nodeAccessOf(input.spec, groupsOf(input, made), scope);
  const nodeRules = renderNodeRules(name, { input, access, waits, listeners }, scope);
  const formerRules = renderFormerRules(name, { input, access, waits });
  return {
    ...(access === 'Backend' && { backend: renderBackend(name, listeners.flatMap(portsOfNodes), scope) }),
    ...(nodeRules !== undefined && { nodeRules }),
    ...(formerRules !== undefined && { formerRules }),
  };
}

function results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined {
  const { data } = publishedLoadBalancer.safeParse(outputs[uid]);
  if (data === undefined) return undefined;
  const targetGroups = data.targetGroups.map(({ nodeLabels, access, ...group }) => ({
    ...group,
    ...(nodeLabels !== undefined && { nodeLabels }),
    ...(access !== undefined && { access: access as JsonObject }),
  }));
  return { ingress: [{ hostname: data.hostname }], targetGroups };
}
