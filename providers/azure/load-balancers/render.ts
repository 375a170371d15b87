import { AZURE_LIMITS, type AzureLimits } from '../../../crds';
import { OperatorError } from '../../../operator/base/errors';
import { generationsOf, type Generation } from '../../generations';
import type { LoadBalancerInput, Target, TargetsOf } from '../../provider';
import { renderLinks, type RenderedLinks } from '../private-links/links';
import type { AccessSpec } from '../security-groups/wanted-rules';
import { mergedTags, TAG } from '../tags';
import { type AzureInput, balancerID, loadBalancerArguments, type LoadBalancerArguments } from './arguments';
import { entriesOf, type Entry } from './entries';
import { ruleNameOf } from './names';
import { nodesBehind } from './nodes-behind';
import { placeOf } from './placement';
import { renderPublicAddress, type RenderedPublicAddress } from './public-addresses';
import { settingsOf } from './probes';
import { securityGroupIDOf, type AzureScope } from './scope';
import { forwardsAll, hasFloatingIP } from './rules';

/** A load balancer of Azure with all that it carries, as `render` gives it to the program. */
export interface RenderedBalancer {
  /** Without the resource's own tag, which the program adds. */
  loadBalancer: LoadBalancerArguments & { tags: Record<string, string> };
  addresses: RenderedPublicAddress[];
  named: RenderedNamed[];
  members: RenderedMember[];
  /** Where clients are let in to the Nodes; absent = by hand. */
  securityGroup?: RenderedSecurityGroup;
  /** Absent = it can't have any. */
  links?: RenderedLinks;
}

/** A public address that is there already. */
export interface RenderedNamed {
  /** Of its frontend. */
  frontend: string;
  family: Entry['family'];
  resourceGroupName: string;
  by: { name: string } | { address: string };
  /** namespace/name of those that ask for it. */
  users: string[];
}

/** One generation of a CloudLoadBalancer. */
export interface RenderedMember {
  uid: string;
  ownerUID: string;
  /** Names of its frontends. */
  frontends: string[];
  /** Rules that lead to Nodes, and their node ports. */
  targetGroups: { id: string; port: number }[];
  access: AccessSpec;
  /** Families in which Nodes see their own addresses, and not the frontend's. */
  nodeFamilies: Entry['family'][];
  retiring?: true;
}

export interface RenderedSecurityGroup {
  id: string;
  limits: Pick<AzureLimits, 'rulesPerSecurityGroup' | 'addressesPerSecurityGroup'>;
  /** What Nodes see as destination where floating IP is off. */
  nodeAddresses: string[];
}

/** What the program of a stack of load balancers gets. */
export interface RenderedStack {
  balancers: RenderedBalancer[];
}

/** Pure; neither the order of the inputs nor that of the Nodes matters. */
export function renderStack(stack: string, inputs: readonly LoadBalancerInput[], targets: TargetsOf, scope: AzureScope): RenderedStack {
  const groups = new Map<string, Generation[]>();
  const ordered = generationsOf(inputs).sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  for (const generation of ordered) {
    const { name } = placeOf(generation.input, scope);
    groups.set(name, [...(groups.get(name) ?? []), generation]);
  }
  const all = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, generations]) => renderBalancer(stack, generations, targets, scope));
  return { balancers: all };
}

function orderOf({ input: { uid, generation = 0 } }: Generation): string {
  return `${uid} ${String(generation).padStart(9, '0')}`;
}

function renderBalancer(stack: string, generations: Generation[], targets: TargetsOf, scope: AzureScope): RenderedBalancer {
  const [first] = generations;
  if (first === undefined) throw new Error('a load balancer carries something');
  const place = placeOf(first.input, scope);
  const inputs = generations.map(({ input }) => input as AzureInput);
  const entries = inputs.map((input) => ({ input, entries: entriesOf(input, place) }));
  const made = entries.flatMap(({ input, entries: own }) =>
    own.flatMap((entry) => (entry.kind === 'Made' ? [renderPublicAddress(stack, { input, entry }, scope)] : [])),
  );
  const nodes = nodesBehind(place.name, targets, scope.settings);
  const securityGroup = renderSecurityGroup(nodes, scope);
  const args = loadBalancerArguments(inputs, nodes, place);
  assertFits(args, scope.settings.limits);
  const links = renderLinks(stack, generations, place, scope);
  return {
    loadBalancer: { ...args, tags: tagsOf(stack, place.name, scope) },
    addresses: made,
    named: renderNamed(entries),
    members: generations.map((generation) => renderMember(generation, place)),
    ...(securityGroup !== undefined && { securityGroup }),
    ...(links !== undefined && { links }),
  };
}

/**
 * Nobody asks Azure for more than it gives: who is one too many is left out, and the others go on.
 * @throws OperatorError Quota with the figures
 */
function assertFits({ loadBalancerName: name, ...args }: LoadBalancerArguments, limits: AzureLimits = AZURE_LIMITS): void {
  const figures: [string, number, number][] = [
    ['frontends', args.frontendIPConfigurations.length, limits.frontendsPerLoadBalancer],
    ['rules', args.loadBalancingRules.length, limits.rulesPerLoadBalancer],
  ];
  for (const [what, count, limit] of figures) {
    if (count <= limit) continue;
    const remedy =
      'Delete Services that nobody needs, have several load balancers (spec.azure.loadBalancers of the CloudProvider), or raise its limits if the subscription has more.';
    throw new OperatorError(
      'Quota',
      `load balancer ${name} has no room: it would have ${count} ${what}, and may have ${limit}. ${remedy}`,
      { remedy },
    );
  }
}

/** Each once, with all that ask for it. */
function renderNamed(all: readonly { input: AzureInput; entries: readonly Entry[] }[]): RenderedNamed[] {
  const named = new Map<string, RenderedNamed>();
  for (const { input, entries } of all) {
    for (const entry of entries) {
      if (entry.kind !== 'Named') continue;
      const { frontend, family, resourceGroup: resourceGroupName, by } = entry;
      const users = new Set([...(named.get(frontend)?.users ?? []), `${input.namespace}/${input.name}`]);
      named.set(frontend, { frontend, family, resourceGroupName, by, users: [...users].sort() });
    }
  }
  return [...named.values()];
}

function renderMember({ input, retiring }: Generation, place: ReturnType<typeof placeOf>): RenderedMember {
  const own = input as AzureInput;
  const { uid, ownerUID, spec } = own;
  const { listeners, sourceRanges, scheme, azure } = spec;
  const entries = entriesOf(own, place);
  const [family = 'IPv4'] = spec.ipFamilies;
  const first = listeners.find(({ port }) => settingsOf(spec, port)?.rule !== false);
  const rules = forwardsAll(spec)
    ? listeners.map((listener) => ({ listener, rule: first ?? listener }))
    : listeners.map((listener) => ({ listener, rule: listener }));
  return {
    uid,
    ownerUID,
    frontends: entries.map(({ frontend }) => frontend),
    targetGroups: rules
      .filter(({ listener }) => settingsOf(spec, listener.port)?.rule !== false)
      .map(({ listener, rule }) => ({
        id: balancerID(place, 'loadBalancingRules', ruleNameOf(own, rule, family)),
        port: listener.nodePort ?? listener.port,
      })),
    access: {
      listeners,
      scheme,
      ...(sourceRanges !== undefined && { sourceRanges }),
      ...(azure !== undefined && { azure: { access: azure.access, floatingIP: azure.floatingIP } }),
    },
    nodeFamilies: spec.ipFamilies.filter((one) => !hasFloatingIP(spec, one)),
    ...(retiring && { retiring }),
  };
}

function renderSecurityGroup(nodes: readonly Target[], { settings }: AzureScope): RenderedSecurityGroup | undefined {
  const id = securityGroupIDOf(settings);
  if (id === undefined) return undefined;
  const { rulesPerSecurityGroup, addressesPerSecurityGroup } = settings.limits ?? AZURE_LIMITS;
  const nodeAddresses = [...new Set(nodes.flatMap(({ addresses }) => addresses))].sort();
  return { id, limits: { rulesPerSecurityGroup, addressesPerSecurityGroup }, nodeAddresses };
}

/** Of what several share: the load balancer's name stands where others have the owner. */
function tagsOf(stack: string, name: string, { clusterID, settings }: AzureScope): Record<string, string> {
  const ours = { [TAG.clusterID]: clusterID, [TAG.stack]: stack, [TAG.ownerUID]: name, [TAG.owner]: `load balancer ${name}` };
  return mergedTags(ours, settings.tags);
}
