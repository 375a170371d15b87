import type { SecurityGroup } from '@pulumi/aws/ec2/securityGroup';
import * as pulumi from '@pulumi/pulumi';
import type { MemberAccess } from '../members/member-access';
import { readRule, writeRule, type NodeRule } from '../nodes/node-rule';
import { rulesForPorts, rulesFrom } from '../nodes/node-rules';
import { BACKEND } from '../resources/backend-group';
import { NAMED_GROUPS } from '../resources/named-groups';
import { NODE_RULES, NODE_RULES_KEPT } from '../resources/node-rules';
import type { RenderedFormerRules, RenderedNodeRules } from './node-access';
import { declareSecurityGroup, dependingOn, type TagsOf } from './program-parts';
import type { RenderedBackend, RenderedGroups, RenderedSecurityGroup } from './security-groups';

/** The load balancer's part in the group that lets it in to the Nodes. Its own group is its claim on that, so it is there before, and goes after. */
class BackendGroup extends pulumi.CustomResource {
  declare readonly groupId: pulumi.Output<string>;

  constructor({ name, settings }: RenderedBackend, frontend: pulumi.Resource) {
    super(BACKEND, name, { ...settings, groupId: undefined }, { dependsOn: [frontend] });
  }
}

class NamedGroups extends pulumi.CustomResource {
  declare readonly groupIds: pulumi.Output<string[]>;

  constructor({ name, settings }: NonNullable<RenderedGroups['namedGroups']>) {
    super(NAMED_GROUPS, name, { ...settings, groupIds: undefined });
  }
}

/** A load balancer's own rules in the groups of the Nodes. */
class NodeRules extends pulumi.CustomResource {
  declare readonly rules: pulumi.Output<string[]>;

  constructor(name: string, args: pulumi.Inputs, options: pulumi.CustomResourceOptions) {
    super(NODE_RULES, name, { ...args, rules: undefined }, options);
  }
}

class NodeRulesKept extends pulumi.CustomResource {
  constructor(name: string, args: pulumi.Inputs, options: pulumi.CustomResourceOptions) {
    super(NODE_RULES_KEPT, name, args, options);
  }
}

/** What the limits of a target group's members go by. */
type CountedBy = Pick<MemberAccess, 'targetGroups' | 'crossZone'>;

/** What is rendered of a load balancer's security groups and its way to the Nodes. */
export interface RenderedAccess extends RenderedGroups {
  securityGroup?: RenderedSecurityGroup;
  backend?: RenderedBackend;
  nodeRules?: RenderedNodeRules;
}

/** A load balancer's security groups, and what must be there before a Node gets traffic from it. */
export interface DeclaredAccess {
  /** The group that is made for it. */
  frontend: SecurityGroup | undefined;
  /** Sorted, as AWS gives them back; none = it has none. */
  groups: pulumi.Output<string[]> | undefined;
  /** What members wait for. */
  backend: pulumi.Resource | undefined;
  /** What target groups wait for. */
  rules: pulumi.Resource | undefined;
  /** What the load balancer waits for, so that it goes before it: whether anybody has a named group is told by the load balancers that are there. */
  namedRules: pulumi.Resource | undefined;
  /** What the members path needs to know of a group with that port; undefined = nothing. */
  accessOf: (ports: readonly number[], of?: CountedBy) => pulumi.Output<MemberAccess> | undefined;
  /**
   * Called when all that sends traffic to Nodes is declared: what the rules were before is revoked after it.
   * @param shared ARN of the load balancer, where several share it: their target groups are told by that
   */
  close: (after: pulumi.Resource[], shared?: pulumi.Output<string>) => void;
}

/**
 * @param input with what is looked at before anything is made
 * @param more groups beside those
 */
export function declareAccess(
  input: RenderedAccess & { vpcID: string; looked?: pulumi.Resource | undefined },
  subnetIds: pulumi.Input<string[]>,
  tagsOf: TagsOf,
  more: readonly string[] = [],
): DeclaredAccess {
  const after = dependingOn(input.looked);
  const frontend = input.securityGroup === undefined ? undefined : declareSecurityGroup(input.securityGroup, input.vpcID, tagsOf, after);
  const backend = input.backend === undefined || frontend === undefined ? undefined : new BackendGroup(input.backend, frontend);
  const named = input.namedGroups === undefined ? pulumi.output(input.securityGroupIDs) : new NamedGroups(input.namedGroups).groupIds;
  const first = frontend?.id ?? named.apply(([id = '']) => id);
  const own = input.nodeRules === undefined ? undefined : declareNodeRules(input.nodeRules, first, subnetIds, after);
  return {
    frontend,
    groups: groupsOf(input, [frontend?.id, backend?.groupId], named, more),
    backend,
    rules: own?.resource,
    namedRules: namedRulesOf(input, own),
    accessOf: (ports, of) => {
      const rules = own?.rulesFor(ports) ?? backendRules(backend, input.backend?.settings.ports ?? [], ports);
      return accessWith(rules, own?.loadBalancer, of);
    },
    close: (after, shared) => own?.close(after, shared),
  };
}

/** The access of one of those that share a load balancer, with its own rules in place of theirs. */
export function withOwnRules(
  all: DeclaredAccess,
  nodeRules: RenderedNodeRules | undefined,
  subnetIds: pulumi.Input<string[]>,
): DeclaredAccess {
  if (nodeRules === undefined) return all;
  const own = declareNodeRules(nodeRules, pulumi.output(''), subnetIds);
  return {
    ...all,
    rules: own.resource,
    accessOf: (ports, of) => accessWith(own.rulesFor(ports), own.loadBalancer, of),
    close: own.close,
  };
}

/** Of one that is let in to the Nodes by a group which is not made for it. */
function namedRulesOf({ securityGroup, nodeRules }: RenderedAccess, own: DeclaredNodeRules | undefined): pulumi.Resource | undefined {
  return securityGroup === undefined && nodeRules?.clients === undefined ? own?.resource : undefined;
}

function groupsOf(
  { securityGroupIDs, namedGroups }: RenderedGroups,
  maybeMade: (pulumi.Output<string> | undefined)[],
  named: pulumi.Output<string[]>,
  more: readonly string[],
): DeclaredAccess['groups'] {
  const made = maybeMade.filter((id) => id !== undefined);
  if (made.length + more.length + securityGroupIDs.length === 0 && namedGroups === undefined) return undefined;
  return pulumi.all([pulumi.all(made), named]).apply(([own, others]) => [...new Set([...own, ...others, ...more])].sort());
}

function accessWith(
  rules: pulumi.Output<string[]> | undefined,
  loadBalancer: string | undefined,
  { targetGroups = 1, crossZone }: CountedBy = {},
): pulumi.Output<MemberAccess> | undefined {
  const counted = { ...(targetGroups > 1 && { targetGroups }), ...(crossZone === true && { crossZone }) };
  const more = { ...(loadBalancer !== undefined && { loadBalancer }), ...counted };
  if (rules !== undefined) return rules.apply((texts) => ({ ...more, rules: texts }));
  return Object.keys(counted).length > 0 ? pulumi.output({ ...more, rules: [] }) : undefined;
}

/** Ports beyond those that are open for all load balancers: the members path knows these by itself. */
function backendRules(
  backend: BackendGroup | undefined,
  extra: readonly string[],
  ports: readonly number[],
): pulumi.Output<string[]> | undefined {
  const wanted = rulesForPorts(extra).filter(({ from }) => ports.includes(from));
  return wanted.length === 0 ? undefined : backend?.groupId.apply((id) => rulesFrom(id, wanted).map(writeRule));
}

/** Called when all that sends traffic to Nodes is declared. */
export function closeFormerRules({ name, loadBalancer, ownerUID, waits }: RenderedFormerRules, after: pulumi.Resource[]): void {
  new NodeRulesKept(keptName(name), { loadBalancer, ownerUid: ownerUID, rules: [], waits }, { dependsOn: after });
}

/** The same whether there are rules or were: so those that were are revoked when there are none any more. */
function keptName(name: string): string {
  return `${name}-kept`;
}

interface DeclaredNodeRules extends Pick<DeclaredAccess, 'close'> {
  resource: pulumi.Resource;
  loadBalancer: string;
  rulesFor: (ports: readonly number[]) => pulumi.Output<string[]>;
}

function declareNodeRules(
  { name, settings, clients, ownerUID, waits }: RenderedNodeRules,
  first: pulumi.Output<string>,
  subnetIds: pulumi.Input<string[]>,
  after: pulumi.CustomResourceOptions = {},
): DeclaredNodeRules {
  const { loadBalancer } = settings;
  const group = clients === undefined ? { group: first } : {};
  const args = { ...settings, ...group, ...(clients !== undefined && { clients: { ...clients, subnetIds } }) };
  const resource = new NodeRules(name, args, after);
  return {
    resource,
    loadBalancer,
    rulesFor: (ports) => resource.rules.apply((rules) => rules.filter((rule) => isFor(readRule(rule), ports))),
    close: (after, shared) => {
      const own = ownerUID === undefined ? { loadBalancerArn: shared } : { ownerUid: ownerUID };
      const inputs = { loadBalancer, ...own, ...group, rules: resource.rules, waits };
      new NodeRulesKept(keptName(name), inputs, { dependsOn: after });
    },
  };
}

/** Rules of single ports are for the target groups that have them, all others for each. */
function isFor({ protocol, from, to }: NodeRule, ports: readonly number[]): boolean {
  return protocol === 'icmp' || from !== to || from < 0 || ports.includes(from);
}
