import type { CloudLoadBalancerSpec, HealthCheck, Listener } from '../../crds';
import type { PoolHealthCheck } from './api';
import { defaultOf } from './annotations';

const NAME_LENGTH = 32;
const DEFAULT_TIMEOUT_MS = 1_000;
const DEFAULT_HEALTHY_THRESHOLD = 1;
const DEFAULT_UNHEALTHY_THRESHOLD = 2;
/** Where kube-proxy says that it serves. */
const KUBE_PROXY_PORT = 10_256;
/** Kubernetes' own (Service.spec.sessionAffinityConfig.clientIP.timeoutSeconds). */
const DEFAULT_AFFINITY_SECONDS = 10_800;

/** One listener, as `render` gives it to the program. */
export interface RenderedListener {
  name: string;
  protocol: 'TCP' | 'UDP';
  port: number;
  idleTimeoutMs: number;
  /** Where the members listen; the members path registers it. The listener's own port where packets go on as they are. */
  nodePort: number;
  pool: RenderedPool;
}

/** What is as usual is left out. */
export interface RenderedPool {
  name: string;
  healthCheck: PoolHealthCheck;
  drainMs: number;
  affinityMs?: number;
  proxyProtocol?: 'v1' | 'v2';
  failOpen?: false;
}

/** Upstream's name for a load balancer (contract 1.3, DefaultLoadBalancerName); later generations bear their number. */
export function cloudName(ownerUID: string, generation = 0): string {
  return withGeneration(`a${ownerUID.replaceAll('-', '')}`.slice(0, NAME_LENGTH), generation);
}

/** A name as a generation bears it. */
export function withGeneration(name: string, generation = 0): string {
  return generation === 0 ? name : `${name}-g${generation}`;
}

/** Pools are named after protocol and port, not after the listener's name: renaming a Service port moves no members. */
export function renderListener(base: string, { name, protocol, port, nodePort }: Listener, spec: CloudLoadBalancerSpec): RenderedListener {
  const local = spec.local ?? {};
  return {
    name,
    protocol: protocol === 'UDP' ? 'UDP' : 'TCP',
    port,
    idleTimeoutMs: (local.idleTimeoutSeconds ?? defaultOf('idleTimeoutSeconds')) * 1000,
    nodePort: engineOf(spec) === 'Passthrough' ? port : (nodePort ?? 0),
    pool: {
      name: `${base}-${protocol.toLowerCase()}-${port}`,
      healthCheck: renderHealthCheck(healthCheckOf(spec, { protocol, nodePort }), local),
      drainMs: (local.drainSeconds ?? defaultOf('drainSeconds')) * 1000,
      ...renderAffinity(spec),
      ...(protocol === 'TCP' && renderProxyProtocol(spec)),
      ...(spec.trafficPolicy === 'Local' && { failOpen: false }),
    },
  };
}

function renderAffinity({ sessionAffinity }: CloudLoadBalancerSpec): { affinityMs?: number } {
  if (sessionAffinity?.type !== 'ClientIP') return {};
  return { affinityMs: (sessionAffinity.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS) * 1000 };
}

function renderProxyProtocol({ local }: CloudLoadBalancerSpec): { proxyProtocol?: 'v1' | 'v2' } {
  const { proxyProtocol = 'None' } = local ?? {};
  return proxyProtocol === 'None' ? {} : { proxyProtocol: proxyProtocol === 'V1' ? 'v1' : 'v2' };
}

/** What moves the packets of a load balancer. */
export function engineOf({ local }: CloudLoadBalancerSpec): 'Node' | 'Passthrough' {
  return local?.engine ?? 'Node';
}

/** The mode of a load balancer in the cloud's API; left out for a proxy. */
export function modeOf(spec: CloudLoadBalancerSpec): { mode?: 'passthrough' } {
  return engineOf(spec) === 'Passthrough' ? { mode: 'passthrough' } : {};
}

/**
 * With packets that go on as they are, Nodes do not listen on the target's port: where the spec names no other, their node port is asked, else
 * kube-proxy itself (KEP-3836).
 */
function healthCheckOf(spec: CloudLoadBalancerSpec, { protocol, nodePort }: Pick<Listener, 'protocol' | 'nodePort'>): HealthCheck {
  const { healthCheck = { protocol: 'TCP' as const } } = spec;
  if (engineOf(spec) === 'Node' || healthCheck.port !== undefined) return healthCheck;
  if (protocol === 'TCP' && nodePort !== undefined) return { ...healthCheck, port: nodePort };
  return { ...healthCheck, protocol: 'HTTP', port: KUBE_PROXY_PORT, path: '/healthz' };
}

function renderHealthCheck(healthCheck: HealthCheck, local: CloudLoadBalancerSpec['local']): PoolHealthCheck {
  const { protocol, port, path, intervalSeconds, timeoutSeconds } = healthCheck;
  const timeoutMs = timeoutSeconds === undefined ? undefined : timeoutSeconds * 1000;
  const intervalMs = local?.healthCheckIntervalMs ?? defaultInterval(intervalSeconds, timeoutMs);
  return {
    protocol,
    ...(port !== undefined && { port }),
    ...(protocol === 'HTTP' && { path: path ?? '/' }),
    intervalMs,
    timeoutMs: timeoutMs ?? Math.min(DEFAULT_TIMEOUT_MS, intervalMs),
    healthyThreshold: healthCheck.healthyThreshold ?? DEFAULT_HEALTHY_THRESHOLD,
    unhealthyThreshold: healthCheck.unhealthyThreshold ?? DEFAULT_UNHEALTHY_THRESHOLD,
  };
}

/** Never shorter than a check may take. */
function defaultInterval(intervalSeconds: number | undefined, timeoutMs = 0): number {
  return intervalSeconds === undefined ? Math.max(defaultOf('healthCheckIntervalMs'), timeoutMs) : intervalSeconds * 1000;
}

/** Empty = everybody, which is what any range of length 0 means (contract 2.12, allow-all). */
export function renderSourceRanges({ sourceRanges = [] }: CloudLoadBalancerSpec): string[] {
  const ranges = [...new Set(sourceRanges)].sort();
  return ranges.some((range) => /^[0-9.]+\/0$/.test(range)) ? [] : ranges;
}
