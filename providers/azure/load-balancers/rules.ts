import type { AzureLoadBalancer, AzureProviderSettings, CloudLoadBalancerSpec, IPFamily, Listener } from '../../../crds';
import { ruleNameOf } from './names';
import { type Probe, type Probed, probeOf, settingsOf } from './probes';

/** A load balancing rule as programs write it (azure-native:network:LoadBalancingRule). */
export interface LoadBalancingRule {
  name: string;
  protocol: 'Tcp' | 'Udp' | 'All';
  frontendPort: number;
  backendPort: number;
  frontendIPConfiguration: { id: string };
  backendAddressPools: { id: string }[];
  probe?: { id: string };
  enableFloatingIP: boolean;
  /** For connections of TCP. */
  enableTcpReset?: boolean;
  idleTimeoutInMinutes?: number;
  loadDistribution: 'Default' | 'SourceIP';
  disableOutboundSnat: boolean;
}

/** Ids of what rules lead from and to, of one family. */
export interface RulePlace {
  family: IPFamily;
  frontendID: string;
  poolID: string;
  /** The id of a probe by its name. */
  probeID(name: string): string;
}

type Settings = Pick<AzureProviderSettings, 'outboundSNAT' | 'healthProbe'>;
export type Ruled = Probed & { spec: Probed['spec'] & Pick<CloudLoadBalancerSpec, 'scheme' | 'sessionAffinity'> };

/** The rules of one load balancer in one family, and the probes that they need. Pure. */
export function rulesOf(input: Ruled, place: RulePlace, settings: Settings): { rules: LoadBalancingRule[]; probes: Probe[] } {
  const { spec } = input;
  const listeners = spec.listeners.filter(({ port }) => settingsOf(spec, port)?.rule !== false);
  const pairs = listeners.map((listener) => ({ listener, probe: probeOf(input, listener, place.family, settings.healthProbe) }));
  const [first] = pairs;
  const probes = new Map(pairs.flatMap(({ probe }) => (probe === undefined ? [] : [[probe.name, probe]])));
  if (first === undefined) return { rules: [], probes: [] };
  if (!forwardsAll(spec)) {
    const rules = pairs.map(({ listener, probe }) => ruleOf(input, { listener, probe }, { place, settings }));
    return { rules, probes: [...probes.values()] };
  }
  // One rule has one probe: the first that there is.
  const probe = pairs.find((one) => one.probe !== undefined)?.probe;
  const rule = ruleOf(input, { listener: first.listener, probe }, { place, settings });
  // Connections of TCP come to it whatever the first listener is.
  const all = { ...rule, ...connectionsOf(spec), protocol: 'All' as const, frontendPort: 0, backendPort: 0 };
  return { rules: [all], probes: probe === undefined ? [] : [probe] };
}

/** All ports, because that was asked for, or because it is how Azure forwards SCTP. Pure. */
export function forwardsAll({ scheme, azure, listeners }: Pick<Ruled['spec'], 'scheme' | 'azure' | 'listeners'>): boolean {
  return scheme === 'Internal' && (azure?.allPorts === true || listeners.some(({ protocol }) => protocol === 'SCTP'));
}

/** With floating IP a Node sees the frontend's address and port; Azure has none for internal IPv6. Pure. */
export function hasFloatingIP(
  { scheme, azure }: Pick<CloudLoadBalancerSpec, 'scheme'> & { azure?: Pick<AzureLoadBalancer, 'floatingIP'> | undefined },
  family: IPFamily,
): boolean {
  return azure?.floatingIP !== false && !(scheme === 'Internal' && family === 'IPv6');
}

function connectionsOf({ azure }: Pick<Ruled['spec'], 'azure'>): Pick<LoadBalancingRule, 'enableTcpReset' | 'idleTimeoutInMinutes'> {
  return { enableTcpReset: azure?.tcpReset ?? true, idleTimeoutInMinutes: azure?.idleTimeoutMinutes ?? 4 };
}

function ruleOf(
  input: Ruled,
  { listener, probe }: { listener: Listener; probe: Probe | undefined },
  { place, settings }: { place: RulePlace; settings: Settings },
): LoadBalancingRule {
  const { spec } = input;
  const enableFloatingIP = hasFloatingIP(spec, place.family);
  const isTCP = listener.protocol !== 'UDP';
  return {
    name: ruleNameOf(input, listener, place.family),
    protocol: isTCP ? 'Tcp' : 'Udp',
    frontendPort: listener.port,
    backendPort: enableFloatingIP ? listener.port : (listener.nodePort ?? listener.port),
    frontendIPConfiguration: { id: place.frontendID },
    backendAddressPools: [{ id: place.poolID }],
    ...(probe !== undefined && { probe: { id: place.probeID(probe.name) } }),
    enableFloatingIP,
    ...(isTCP && connectionsOf(spec)),
    loadDistribution: spec.sessionAffinity?.type === 'ClientIP' ? 'SourceIP' : 'Default',
    disableOutboundSnat: !settings.outboundSNAT,
  };
}
