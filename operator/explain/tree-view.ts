import type { Drift, PlannedOperation, StackResource } from '../../crds';
import type { Service } from '../kube/object';
import { targetState, type TargetFacts } from './targets';
import type { EndpointSlice, StoredLoadBalancer, StoredStack } from './kinds';
import { objectState, type Tone } from './object-state';

export interface TreeFacts {
  /** Absent: the CloudLoadBalancer was made by a person. */
  service: Service | undefined;
  /** Absent: the Service has none yet. */
  loadBalancer: StoredLoadBalancer | undefined;
  stack: StoredStack | undefined;
  /** What an extension adds beside the stack. */
  extra: StoredStack | undefined;
  /** undefined = nobody has looked at them. */
  nodes: TargetFacts[] | undefined;
  /** undefined = nobody has looked at them. */
  slices: EndpointSlice[] | undefined;
}

/** One line of the tree. */
export interface TreeNode {
  kind: string;
  name: string;
  state: string;
  tone: Tone;
  detail: string;
  children: TreeNode[];
}

/** Service → CloudLoadBalancer → CloudStack → what is in the cloud, and the targets, each with its state. Pure. */
export function treeOf(facts: TreeFacts): TreeNode[] {
  const below = facts.loadBalancer === undefined ? [] : [loadBalancerNode(facts.loadBalancer, facts)];
  return facts.service === undefined ? below : [serviceNode(facts.service, below)];
}

function serviceNode(service: Service, children: TreeNode[]): TreeNode {
  const { namespace, name } = service.metadata;
  const [first] = service.status?.loadBalancer?.ingress ?? [];
  const line = { kind: 'Service', name: `${namespace}/${name}`, children };
  if (service.metadata.deletionTimestamp !== undefined) return { ...line, state: 'Deleting', tone: 'waiting', detail: '' };
  if (service.spec.type !== 'LoadBalancer')
    return { ...line, state: 'NoLoadBalancer', tone: 'plain', detail: `type ${service.spec.type ?? 'ClusterIP'}` };
  if (first === undefined) return { ...line, state: 'Pending', tone: 'waiting', detail: `kubectl cloud explain ${name} -n ${namespace}` };
  return { ...line, state: 'Ready', tone: 'good', detail: first.hostname ?? first.ip ?? '' };
}

function loadBalancerNode(loadBalancer: StoredLoadBalancer, facts: TreeFacts): TreeNode {
  const { namespace, name } = loadBalancer.metadata;
  const { word, tone, condition } = objectState(loadBalancer);
  const stacks = [facts.stack, facts.extra].flatMap((stack) => (stack === undefined ? [] : [stackNode(stack, `${namespace}/${name}`)]));
  const targets = (facts.nodes ?? []).map((node) => targetNode(node, loadBalancer, facts.slices));
  const detail = word === 'Ready' ? (loadBalancer.status?.ports ?? '') : `${condition?.reason ?? ''}: ${condition?.message ?? ''}`;
  return { kind: 'CloudLoadBalancer', name: `${namespace}/${name}`, state: word, tone, detail, children: [...stacks, ...targets] };
}

function stackNode(stack: StoredStack, member: string): TreeNode {
  const { word, tone, condition } = objectState(stack);
  const { members = [], lastAttempt = '' } = stack.status ?? {};
  const shared = members.length > 1 ? `shared by ${members.length}; ` : '';
  const reason = word === 'Ready' ? '' : `${condition?.reason ?? ''}: `;
  const line = { kind: 'CloudStack', name: stack.metadata.name, state: word, tone, detail: `${shared}${reason}${lastAttempt}` };
  return { ...line, children: resourceNodes(stack, member) };
}

/** What the stack has, what only the cloud has, and what a plan would add. */
function resourceNodes({ status }: StoredStack, member: string): TreeNode[] {
  const { resources = [], drift = [], plans = [] } = status ?? {};
  const planned = plans.find((plan) => plan.member === member)?.operations ?? [];
  const others = [...new Set(drift.map(({ urn }) => urn))].filter((urn) => !resources.some((one) => one.urn === urn));
  const all = [...resources, ...others.map((urn) => ({ type: typeOf(urn), name: nameOf(urn), id: '', urn }))];
  return [
    ...all.map((resource) => resourceNode(resource, drift, planned)),
    ...planned.filter(({ op }) => op === 'create').map(plannedNode),
  ];
}

function resourceNode({ type, name, id, urn }: StackResource, drift: readonly Drift[], planned: readonly PlannedOperation[]): TreeNode {
  const line = { kind: shortType(type), name, children: [] };
  const differences = drift.filter((one) => one.urn === urn);
  const [first] = differences;
  if (first?.kind === 'Missing') return { ...line, state: 'Missing', tone: 'bad', detail: `gone from the cloud: ${id}` };
  if (first?.kind === 'Unknown')
    return { ...line, state: 'Unknown', tone: 'bad', detail: `in the cloud, and not in the stack: ${first.detail ?? ''}` };
  if (first !== undefined) return { ...line, state: 'Drifted', tone: 'waiting', detail: differences.map(differenceText).join(', ') };
  const operation = planned.find((one) => one.urn === urn && one.op !== 'create');
  if (operation !== undefined) return { ...line, state: 'Planned', tone: 'waiting', detail: `${operation.op} waits for approval` };
  return { ...line, state: 'Present', tone: 'good', detail: id };
}

function differenceText({ property, old, new: found }: Drift): string {
  return `${property ?? 'it'} is ${found ?? 'absent'}, wanted ${old ?? 'absent'}`;
}

function plannedNode({ type, name }: PlannedOperation): TreeNode {
  return { kind: shortType(type), name, state: 'Planned', tone: 'waiting', detail: 'create waits for approval', children: [] };
}

function targetNode(facts: TargetFacts, loadBalancer: StoredLoadBalancer, slices: readonly EndpointSlice[] | undefined): TreeNode {
  const { node, target, why } = targetState(facts, loadBalancer, slices);
  const line = { kind: 'Node', name: node, detail: why ?? '', children: [] };
  if (!target) return { ...line, state: 'NoTarget', tone: 'plain' };
  return why === undefined ? { ...line, state: 'Target', tone: 'good' } : { ...line, state: 'Quiet', tone: 'waiting' };
}

/** `aws:lb/loadBalancer:LoadBalancer` is `LoadBalancer` to people. */
function shortType(type: string): string {
  return type.slice(type.lastIndexOf(':') + 1);
}

/** `urn:pulumi:<stack>::<project>::<type>::<name>`, where the type may hold its parents, with `$` in between. */
function typeOf(urn: string): string {
  return (urn.split('::')[2] ?? urn).split('$').at(-1) ?? urn;
}

function nameOf(urn: string): string {
  return urn.split('::').slice(3).join('::');
}

/** The tree as rows of a table: what it is with its lines, state, detail. Pure. */
export function rowsOf(nodes: readonly TreeNode[]): { row: [string, string, string]; tone: Tone }[] {
  return nodes.flatMap((node) => rowsBelow(node, '', ''));
}

function rowsBelow(node: TreeNode, own: string, indent: string): { row: [string, string, string]; tone: Tone }[] {
  const row: [string, string, string] = [`${own}${node.kind} ${node.name}`, node.state, oneLine(node.detail)];
  const children = node.children.flatMap((child, at) => {
    const last = at === node.children.length - 1;
    return rowsBelow(child, `${indent}${last ? '└─ ' : '├─ '}`, `${indent}${last ? '   ' : '│  '}`);
  });
  return [{ row, tone: node.tone }, ...children];
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
