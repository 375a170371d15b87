import type { AWSHealthCheck, AWSLoadBalancer, AWSTargetGroup, CloudLoadBalancerSpec, HealthCheck, Listener } from '../../../crds';
import type { LoadBalancerInput } from '../../provider';
import { hashedName } from './names';
import type { ListenerInputs } from '../resources/listener';
import { cutsByDefault, type TargetGroupInputs } from '../resources/target-group';
import type { TargetGroupHealth } from '../resources/target-group-health';
import type { LoadBalancerScope } from '../scope';
import { isIPv6Alone } from './subnet-mappings';

const DEFAULT_IDLE_TIMEOUT = 350;
const DEFAULT_DEREGISTRATION_DELAY = 300;

/** One listener with its target group, as `render` gives it to the program. */
export interface RenderedListener {
  /** Name in the program. */
  name: string;
  settings: Omit<ListenerInputs, 'loadBalancerArn' | 'defaultActions' | 'tags'>;
  /** ARNs of those beside the default one, which is in the settings; absent = none. */
  certificates?: string[];
  targetGroup: RenderedTargetGroup;
}

export interface RenderedTargetGroup {
  /** Name in the program. */
  name: string;
  /** Where the members listen; the members path registers it. */
  settings: Omit<TargetGroupInputs, 'tags'>;
}

/** A port with the transport that AWS knows: TCP and UDP on one port may be one listener. */
export interface Port extends Omit<Listener, 'protocol'> {
  protocol: 'TCP' | 'UDP' | 'TCP_UDP';
}

/** The ports of a spec, TCP and UDP of one number together where that is asked for. Pure. */
export function portsOf({ listeners, aws }: CloudLoadBalancerSpec): Port[] {
  const both = (at: Listener): boolean =>
    aws?.tcpUDPListeners === true && listeners.some((other) => other.port === at.port && other.protocol !== at.protocol);
  return listeners.flatMap((at): Port[] => {
    if (!both(at)) return [{ ...at, protocol: at.protocol === 'UDP' ? 'UDP' : 'TCP' }];
    return at.protocol === 'TCP' ? [{ ...at, protocol: 'TCP_UDP' }] : [];
  });
}

/**
 * Listeners are named after their port alone, since a load balancer has one for each: another protocol is a change in place. Target groups are
 * named after protocol and port. Neither is named after the Service port's name: renaming that moves nothing. Pure.
 */
export function renderListener(base: string, port: Port, input: LoadBalancerInput, scope: LoadBalancerScope): RenderedListener {
  const { aws = { type: 'Network' } } = input.spec;
  const protocol = speaksTLS(port, aws) ? 'TLS' : port.protocol;
  const [, ...certificates] = protocol === 'TLS' ? (aws.tls?.certificateARNs ?? []) : [];
  const idle = aws.listeners?.find((of) => of.port === port.port)?.tcpIdleTimeoutSeconds ?? DEFAULT_IDLE_TIMEOUT;
  return {
    name: `${base}-${port.port}`,
    settings: {
      port: port.port,
      protocol,
      ...(protocol === 'TLS' && tlsOf(aws)),
      ...(protocol === 'TCP' && { tcpIdleTimeoutSeconds: idle }),
    },
    ...(certificates.length > 0 && { certificates }),
    targetGroup: renderTargetGroup(base, port, input, scope),
  };
}

/** Certificates are for TCP ports: for all, or for those that are named. Pure. */
export function speaksTLS({ name, port, protocol }: Port, { tls }: AWSLoadBalancer): boolean {
  if (tls === undefined || protocol !== 'TCP') return false;
  return tls.ports === undefined || tls.ports.includes(name) || tls.ports.includes(String(port));
}

/** What AWS recommends. Its APIs take ELBSecurityPolicy-2016-08 where none is named, with TLS 1.0 and 1.1; so does upstream. */
const DEFAULT_TLS_POLICY = 'ELBSecurityPolicy-TLS13-1-2-2021-06';

function tlsOf({ tls }: AWSLoadBalancer): Pick<ListenerInputs, 'certificateArn' | 'sslPolicy' | 'alpnPolicy'> {
  const [certificate] = tls?.certificateARNs ?? [];
  const alpn = tls?.alpnPolicy;
  return {
    ...(certificate !== undefined && { certificateArn: certificate }),
    sslPolicy: tls?.policy ?? DEFAULT_TLS_POLICY,
    ...(alpn !== undefined && alpn !== 'None' && { alpnPolicy: alpn }),
  };
}

function renderTargetGroup(base: string, port: Port, input: LoadBalancerInput, scope: LoadBalancerScope): RenderedTargetGroup {
  const { spec, uid, generation = 0 } = input;
  const { aws } = spec;
  // AWS lets a listener of TLS alone forward to a target group of TLS.
  const protocol = aws?.backendProtocol === 'SSL' && speaksTLS(port, aws) ? 'TLS' : port.protocol;
  const ipAddressType = isIPv6Alone(spec) ? 'ipv6' : 'ipv4';
  const place = { port: port.nodePort ?? 0, protocol, targetType: 'instance', ipAddressType, vpcId: scope.vpcID ?? '' } as const;
  const healthCheck = renderHealthCheck(spec, scope);
  const name = hashedName(input, [scope.clusterID, uid, generation, port.port, place, healthCheck.protocol]);
  return {
    name: `${base}-${port.protocol.toLowerCase()}-${port.port}-${name.slice(-10)}`,
    settings: { name, ...place, healthCheck, ...renderAttributes(spec, port.port, protocol) },
  };
}

type Attributes = Pick<
  TargetGroupInputs,
  'deregistrationDelay' | 'connectionTermination' | 'proxyProtocolV2' | 'preserveClientIp' | 'loadBalancingCrossZoneEnabled' | 'stickiness'
> &
  TargetGroupHealth;

const CROSS_ZONE = { Enabled: 'true', Disabled: 'false', LoadBalancer: 'use_load_balancer_configuration' } as const;

/** What is said of the port stands before what is said of all. */
function hasProxyHeader(aws: CloudLoadBalancerSpec['aws'], port: number): boolean {
  const ofPort = aws?.listeners?.find((listener) => listener.port === port);
  return ofPort?.proxyProtocolV2 ?? aws?.targetGroup?.proxyProtocolV2 ?? false;
}

function renderAttributes(
  { aws, sessionAffinity }: CloudLoadBalancerSpec,
  port: number,
  protocol: TargetGroupInputs['protocol'],
): Attributes {
  const group = aws?.targetGroup ?? {};
  // UDP always keeps the client's address; AWS refuses to have it otherwise.
  const preserves = group.preserveClientIP ?? true;
  const sticky = group.stickiness === undefined ? sessionAffinity?.type === 'ClientIP' : group.stickiness === 'SourceIP';
  return {
    deregistrationDelay: group.deregistrationDelaySeconds ?? DEFAULT_DEREGISTRATION_DELAY,
    connectionTermination: group.connectionTermination ?? cutsByDefault(protocol),
    proxyProtocolV2: hasProxyHeader(aws, port),
    preserveClientIp: preserves || cutsByDefault(protocol) ? 'true' : 'false',
    loadBalancingCrossZoneEnabled: CROSS_ZONE[group.crossZone ?? 'LoadBalancer'],
    stickiness: { type: 'source_ip', enabled: sticky },
    ...renderHealth(group, protocol),
  };
}

/** What is done about Nodes that are not healthy; only TCP has connections to cut. */
function renderHealth(group: AWSTargetGroup, protocol: TargetGroupInputs['protocol']): TargetGroupHealth {
  const {
    unhealthyConnectionTermination: cuts = true,
    unhealthyDrainingIntervalSeconds: drains = 0,
    dnsFailover,
    unhealthyStateRouting,
  } = group;
  const states = [{ enableUnhealthyConnectionTermination: cuts, unhealthyDrainingInterval: drains }];
  return {
    ...(!cutsByDefault(protocol) && { targetHealthStates: states }),
    targetGroupHealth: {
      dnsFailover: {
        minimumHealthyTargetsCount: dnsFailover?.count === 0 ? 'off' : String(dnsFailover?.count ?? 1),
        minimumHealthyTargetsPercentage: percentageOf(dnsFailover),
      },
      unhealthyStateRouting: {
        minimumHealthyTargetsCount: unhealthyStateRouting?.count ?? 1,
        minimumHealthyTargetsPercentage: percentageOf(unhealthyStateRouting),
      },
    },
  };
}

function percentageOf(healthy: AWSTargetGroup['dnsFailover']): string {
  return healthy?.percentage === undefined ? 'off' : String(healthy.percentage);
}

type Check = TargetGroupInputs['healthCheck'];

/** The cloud's block stands before the portable one, field by field; upstream's defaults after both (providers 2.1). Pure. */
export function renderHealthCheck(spec: CloudLoadBalancerSpec, scope: LoadBalancerScope): Check {
  const isLocal = spec.trafficPolicy === 'Local';
  const portable = spec.healthCheck ?? probeOf(isLocal, scope);
  const own = spec.aws?.healthCheck ?? {};
  const protocol = own.protocol ?? portable.protocol ?? 'TCP';
  return {
    enabled: true,
    protocol,
    port: own.port ?? String(portable.port ?? 'traffic-port'),
    ...(protocol !== 'TCP' && { path: own.path ?? portable.path ?? '/', matcher: own.successCodes ?? '200-399' }),
    ...renderPace(own, portable, isLocal),
  };
}

/** The CloudProvider's one check for all Services; with policy Local each has its own. Pure. */
export function probeOf(isLocal: boolean, { healthProbe }: LoadBalancerScope): Partial<HealthCheck> {
  if (isLocal || healthProbe?.mode !== 'Shared') return {};
  return { protocol: 'HTTP', port: healthProbe.port, path: healthProbe.path };
}

type Pace = Pick<Check, 'interval' | 'timeout' | 'healthyThreshold' | 'unhealthyThreshold'>;

/** A check that takes longer than the time between two AWS refuses; where nothing is said of that, it takes no longer. */
const PACE = { Cluster: { interval: 30, threshold: 3 }, Local: { interval: 10, threshold: 2 }, timeout: 10 };

function renderPace(own: AWSHealthCheck, portable: Partial<HealthCheck>, isLocal: boolean): Pace {
  const { interval: usual, threshold } = isLocal ? PACE.Local : PACE.Cluster;
  const interval = own.intervalSeconds ?? portable.intervalSeconds ?? usual;
  return {
    interval,
    timeout: own.timeoutSeconds ?? portable.timeoutSeconds ?? Math.min(PACE.timeout, interval),
    healthyThreshold: own.healthyThreshold ?? portable.healthyThreshold ?? threshold,
    unhealthyThreshold: own.unhealthyThreshold ?? portable.unhealthyThreshold ?? threshold,
  };
}
