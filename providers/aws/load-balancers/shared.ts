import type { CloudLoadBalancerSpec } from '../../../crds';
import { generationsOf } from '../../generations';
import type { LoadBalancerInput, NodeLabels } from '../../provider';
import type { LoadBalancerScope } from '../scope';
import { TAG } from '../tags';
import { isClassic } from './classic';
import { portsOf, renderListener, type RenderedListener } from './listeners';
import type { RenderedNetwork } from './load-balancers';
import { cloudName, hashedName } from './names';
import { fixedOf, isGrouped, renderSettings, stackTagsOf, tagsOf } from './network-settings';
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
import { renderBackend, renderGroups, renderRules, type RenderedRule, type RenderedSecurityGroup } from './security-groups';
import { addressesOf, isDualStack, renderAddresses, renderSubnets, takesSourcePrefixes } from './subnet-mappings';

/**
 * A Network Load Balancer that all CloudLoadBalancers of one placement share which agree on what AWS fixes when it is made. Nothing else of a member is
 * in its name or in what replaces it, so no change of one member cuts the others.
 */
export interface RenderedSharedLoadBalancer extends RenderedNetwork {
  members: RenderedMember[];
}

/** The part of one CloudLoadBalancer. */
export interface RenderedMember {
  uid: string;
  ownerUID: string;
  listeners: RenderedListener[];
  /** Of the group that all share: who may come in to its ports. */
  rules: RenderedRule[];
  /** Of the Nodes' groups, where the load balancer has none. */
  nodeRules?: RenderedNodeRules;
  formerRules?: RenderedFormerRules;
  /** On its listeners, target groups and rules. */
  tags: Record<string, string>;
  nodeLabels?: NodeLabels;
  retiring?: true;
}

/** Everything that names a placement, rendered. Pure. */
export function renderShared(stack: string, inputs: readonly LoadBalancerInput[], scope: LoadBalancerScope): RenderedSharedLoadBalancer[] {
  const doubled = doubledOf(inputs);
  const groups = new Map<string, BesideOthers[]>();
  for (const generation of generationsOf([...inputs].sort((a, b) => (a.uid < b.uid ? -1 : 1)))) {
    if (!isShared(generation.input.spec)) continue;
    const name = sharedName(generation.input, scope);
    groups.set(name, [...(groups.get(name) ?? []), { ...generation, waits: doubled.has(generation.input.uid) }]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, members]) => renderGroup(stack, { name, members }, scope));
}

/** Pure. */
export function isShared(spec: CloudLoadBalancerSpec): boolean {
  return spec.placement !== undefined && !isClassic(spec);
}

function renderGroup(
  stack: string,
  { name, members }: { name: string; members: BesideOthers[] },
  scope: LoadBalancerScope,
): RenderedSharedLoadBalancer[] {
  const [first] = members;
  if (first === undefined) return [];
  const rendered = members.map((member) => renderMember(stack, member, scope));
  const listeners = rendered.flatMap((member) => member.listeners);
  const specs = members.map(({ input }) => input.spec);
  const asOne = { ...first.input, spec: combined(specs, first.input.spec) };
  const subnets = renderSubnets(name, asOne, scope);
  const securityGroup = renderSharedGroup(name, members, scope);
  const settings = renderSettings(name, { spec: asOne.spec }, scope);
  const addresses = renderAddresses(name, { spec: asOne.spec, loadBalancer: settings.name }, scope);
  return [
    {
      name,
      settings,
      ...(subnets !== undefined && { subnets }),
      ...(addresses !== undefined && { addresses }),
      ...(securityGroup !== undefined && { securityGroup }),
      ...renderAccess(name, { listeners, made: securityGroup !== undefined, inputs: members.map(({ input }) => input) }, scope),
      ...renderGroups(name, first.input.spec.aws?.securityGroups?.groups ?? [], scope),
      // No owner in Kubernetes: it is everybody's.
      tags: { ...stackTagsOf(stack, scope), [TAG.owner]: `placement ${placementText(first.input)}` },
      vpcID: scope.vpcID ?? '',
      members: rendered,
    },
  ];
}

/** How all of them are let in to the Nodes: by one group. Who has none has rules for each member. */
function renderAccess(
  name: string,
  { listeners, made, inputs }: { listeners: readonly RenderedListener[]; made: boolean; inputs: readonly LoadBalancerInput[] },
  scope: LoadBalancerScope,
): Pick<RenderedNetwork, 'backend' | 'nodeRules'> {
  const lets = inputs.find(({ spec }) => spec.aws?.securityGroups?.backendRules !== 'None');
  if (lets === undefined || (!made && lets.spec.aws?.securityGroups?.groups === undefined)) return {};
  const access = nodeAccessOf(lets.spec, made ? 'Made' : 'Named', scope);
  if (access === 'Backend') return { backend: renderBackend(name, listeners.flatMap(portsOfNodes), scope) };
  const nodeRules = renderNodeRules(name, { input: lets, access, waits: false, listeners, shared: true }, scope);
  return nodeRules === undefined ? {} : { nodeRules };
}

function renderMember(stack: string, { input, retiring, waits }: BesideOthers, scope: LoadBalancerScope): RenderedMember {
  const { uid, ownerUID, spec, generation } = input;
  const name = cloudName(ownerUID, generation);
  const ports = portsOf(spec);
  const listeners = ports.map((port) => renderListener(name, port, input, scope)).sort((a, b) => (a.name < b.name ? -1 : 1));
  // Where the load balancer has a group, that is let in for all of them.
  const access = isGrouped(spec, scope) ? 'Backend' : nodeAccessOf(spec, 'None', scope);
  const nodeRules = renderNodeRules(name, { input, access, waits, listeners }, scope);
  const formerRules = renderFormerRules(name, { input, access, waits });
  return {
    uid,
    ownerUID,
    listeners,
    ...(nodeRules !== undefined && { nodeRules }),
    ...(formerRules !== undefined && { formerRules }),
    rules: ownsGroup(spec, scope) ? renderRules(`${name}-frontend`, ports, spec).filter((rule) => !isForAll(rule)) : [],
    tags: tagsOf(stack, input, scope),
    ...(spec.aws?.targetNodeLabels !== undefined && { nodeLabels: spec.aws.targetNodeLabels }),
    ...(retiring && { retiring }),
  };
}

/** The group of all; of its rules those that name no port, which more than one member may ask for. */
function renderSharedGroup(name: string, members: readonly BesideOthers[], scope: LoadBalancerScope): RenderedSecurityGroup | undefined {
  const [first] = members;
  if (first === undefined || !ownsGroup(first.input.spec, scope)) return undefined;
  const group = `${name}-frontend`;
  const rules = members.flatMap(({ input: { spec } }) => renderRules(group, portsOf(spec), spec)).filter(isForAll);
  const unique = [...new Map(rules.map((rule) => [rule.name, rule])).values()];
  return {
    name: group,
    groupName: hashedName(placementOf(first.input), [scope.clusterID, name, scope.vpcID]),
    description: `Clients of the load balancer of placement ${placementText(first.input)}`.slice(0, 255),
    rules: unique.sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function ownsGroup(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): boolean {
  return isGrouped(spec, scope) && spec.aws?.securityGroups?.groups === undefined;
}

function isForAll({ settings }: RenderedRule): boolean {
  return settings.ipProtocol.startsWith('icmp');
}

/** Of the fixed fields all say the same. The others are on as soon as one asks for it; the most of what is a figure; what is neither is as the first says it that says it. */
function combined(specs: readonly CloudLoadBalancerSpec[], first: CloudLoadBalancerSpec): CloudLoadBalancerSpec {
  const blocks = specs.map(({ aws }) => aws ?? { type: 'Network' as const });
  const logs = blocks.find(({ accessLogs }) => accessLogs !== undefined)?.accessLogs;
  const policy = blocks.find(({ dnsClientRoutingPolicy }) => dnsClientRoutingPolicy !== undefined)?.dnsClientRoutingPolicy;
  const { name, subnets, securityGroups } = first.aws ?? {};
  return {
    ...first,
    aws: {
      type: 'Network',
      ...(name !== undefined && { name }),
      ...(subnets !== undefined && { subnets }),
      ...(securityGroups !== undefined && { securityGroups }),
      ...addressesOf(first.aws),
      ipAddressType: specs.some(isDualStack) ? 'DualStack' : 'IPv4',
      crossZone: blocks.some(({ crossZone }) => crossZone === true),
      deletionProtection: blocks.some(({ deletionProtection }) => deletionProtection === true),
      zonalShift: blocks.some(({ zonalShift }) => zonalShift === true),
      ipv6SourceNAT: { enabled: blocks.some(takesSourcePrefixes) },
      minimumCapacityUnits: Math.max(...blocks.map(({ minimumCapacityUnits = 0 }) => minimumCapacityUnits)),
      secondaryIPsPerSubnet: Math.max(...blocks.map(({ secondaryIPsPerSubnet = 0 }) => secondaryIPsPerSubnet)),
      ...(logs !== undefined && { accessLogs: logs }),
      ...(policy !== undefined && { dnsClientRoutingPolicy: policy }),
    },
  };
}

/** Apart from those of every other cluster and placement, and of members that ask for something else that is fixed. Pure. */
export function sharedName(input: LoadBalancerInput, scope: LoadBalancerScope): string {
  // Of the subnets only what the member says: what the CloudProvider says holds for all.
  const fixed = fixedOf(input.spec, { ...scope, subnetIDs: undefined });
  return hashedName(placementOf(input), [scope.clusterID, placementText(input), fixed]);
}

function placementOf({ namespace, spec: { placement } }: LoadBalancerInput): { namespace: string; name: string } {
  return { namespace: placement?.namespace ?? namespace, name: placement?.name ?? '' };
}

function placementText(input: LoadBalancerInput): string {
  const { namespace, name } = placementOf(input);
  return `${namespace}/${name}`;
}
