import { maskedCIDR, type CloudLoadBalancerSpec } from '../../../crds';
import type { Generation } from '../../generations';
import type { LoadBalancerInput } from '../../provider';
import { EVERYBODY } from '../nodes/client-rules';
import { isShared } from '../nodes/node-rules';
import type { NodeRulesInputs } from '../resources/node-rules';
import type { LoadBalancerScope } from '../scope';
import type { RenderedListener } from './listeners';
import { isDualStack, isIPv6Alone, onceOf } from './subnet-mappings';

/** A generation, and whether the other one of its load balancer is there too. */
export type BesideOthers = Generation & { waits: boolean };

/** UIDs of load balancers of which two generations are there. Pure. */
export function doubledOf(inputs: readonly LoadBalancerInput[]): Set<string> {
  return new Set(inputs.filter(({ retiring }) => retiring !== undefined).map(({ uid }) => uid));
}

/** The rules of one load balancer in the groups of the Nodes, where the backend group is not what lets it in. */
export interface RenderedNodeRules {
  /** Name in the program. */
  name: string;
  settings: Omit<NodeRulesInputs, 'clients' | 'group'>;
  /** Absent = the load balancer's first group is let in. Its subnets' ids are the program's to add. */
  clients?: Omit<NonNullable<NodeRulesInputs['clients']>, 'subnetIds'>;
  /** Absent = several share the load balancer. */
  ownerUID?: string;
  /** Another generation of it is there. */
  waits: boolean;
}

/** Rules that a load balancer may have had for its clients, and needs no more: those of another generation, or from before it was let in by hand. */
export interface RenderedFormerRules {
  /** Name in the program. */
  name: string;
  /** Its name, which their descriptions bear. */
  loadBalancer: string;
  ownerUID: string;
  /** Another generation of it is there. */
  waits: boolean;
}

/** How a load balancer comes to the Nodes. Backend = by the cluster's group; Clients = as upstream; Group = by a group of its own. */
export type NodeAccess = 'Backend' | 'Clients' | 'Group' | 'None';

/**
 * Which way a load balancer is let in to the Nodes. Pure.
 * @param has which security groups it has: one that is made for it, others that are named, or none
 */
export function nodeAccessOf(spec: CloudLoadBalancerSpec, has: 'Made' | 'Named' | 'None', { nodeRules }: LoadBalancerScope): NodeAccess {
  if (nodeRules === 'None' || spec.aws?.securityGroups?.backendRules === 'None') return 'None';
  if (has === 'None') return 'Clients';
  return nodeRules === 'Shared' && has === 'Made' ? 'Backend' : 'Group';
}

export interface AccessWish extends Pick<BesideOthers, 'input' | 'waits'> {
  access: NodeAccess;
  /** Several have their listeners on the load balancer. */
  shared?: true;
  /** Absent = it is a Classic load balancer, whose group is let in by all ports, as upstream has it. */
  listeners?: readonly RenderedListener[];
}

/** @param name of the load balancer in the program. Pure. */
export function renderNodeRules(name: string, wish: AccessWish, scope: LoadBalancerScope): RenderedNodeRules | undefined {
  const { input, access, waits, listeners, shared } = wish;
  if (access !== 'Clients' && access !== 'Group') return undefined;
  const { spec, ownerUID } = input;
  const common = { name: `${name}-nodes`, ...(shared !== true && { ownerUID }), waits };
  if (listeners === undefined) return { ...common, settings: { loadBalancer: name, groupPorts: 'All' } };
  if (access === 'Clients') return { ...common, settings: { loadBalancer: name }, clients: clientsOf(spec, listeners) };
  const ports = [...new Set(listeners.flatMap(portsOfNodes))].sort();
  if (scope.nodeRules !== 'Shared') return { ...common, settings: { loadBalancer: name, groupPorts: 'Own', ports } };
  return { ...common, settings: { loadBalancer: name, groupPorts: 'Shared', ports: ports.filter(isBeyondShared) } };
}

/** Undefined where there can't be any, or its rules of today take their place. @param name of the load balancer in the program. Pure. */
export function renderFormerRules(name: string, { input, access, waits }: AccessWish): RenderedFormerRules | undefined {
  // With an address that exists once it is replaced within one generation.
  const wasReplaced = (input.generation ?? 0) > 0 || onceOf(input.spec).length > 0;
  const mayHave = access === 'None' || (access === 'Backend' && wasReplaced);
  return mayHave ? { name: `${name}-nodes`, loadBalancer: name, ownerUID: input.ownerUID, waits } : undefined;
}

function clientsOf(spec: CloudLoadBalancerSpec, listeners: readonly RenderedListener[]): NonNullable<RenderedNodeRules['clients']> {
  const { sourceRanges = [], aws } = spec;
  const { prefixListIDs = [], pathMTUDiscovery = true } = aws?.securityGroups ?? {};
  // Target groups are of one family: who comes by the other one arrives with an address of the load balancer's.
  const family = isIPv6Alone(spec) ? 'IPv6' : 'IPv4';
  const ofFamily = sourceRanges.filter((range) => range.includes(':') === (family === 'IPv6'));
  const given = [...ofFamily.map(maskedCIDR), ...prefixListIDs];
  const isOpen = sourceRanges.length === 0 && prefixListIDs.length === 0;
  const hides = listeners.some(({ targetGroup: { settings } }) => settings.preserveClientIp === 'false');
  return {
    ...(family === 'IPv6' && { family }),
    ranges: isOpen ? [EVERYBODY[family]] : [...new Set(given)].sort(),
    ports: [...new Set(listeners.flatMap(trafficPorts))].sort(),
    checks: [...new Set(listeners.map(checkPort))].sort(),
    hidesClients: hides || isDualStack(spec),
    pathMtu: pathMTUDiscovery,
  };
}

/** Ports of Nodes that a listener needs, such as tcp/30080. Pure. */
export function portsOfNodes(listener: RenderedListener): string[] {
  return [...new Set([...trafficPorts(listener), checkPort(listener)])];
}

/** Pure. */
export function isBeyondShared(port: string): boolean {
  return !isShared(Number(port.split('/')[1]));
}

function trafficPorts({ targetGroup: { settings } }: RenderedListener): string[] {
  const { port, protocol } = settings;
  const transports = protocol === 'TCP_UDP' ? ['tcp', 'udp'] : [protocol === 'UDP' ? 'udp' : 'tcp'];
  return transports.map((transport) => `${transport}/${port}`);
}

function checkPort({ targetGroup: { settings } }: RenderedListener): string {
  const { port, healthCheck } = settings;
  return `tcp/${healthCheck.port === 'traffic-port' ? port : healthCheck.port}`;
}
