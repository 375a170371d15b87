import { z } from 'zod';
import type { CloudLoadBalancerSpec, Listener } from '../../crds';
import type { JsonObject } from '../../operator/base/json';
import type { LoadBalancerInput, LoadBalancerResult, LoadBalancers, Problem } from '../provider';
import type { PoolHealthCheck } from './api';
import { defaultOf } from './annotations';
import { validateLoadBalancer } from './validation';

const NAME_LENGTH = 32;
const DEFAULT_TIMEOUT_MS = 1_000;
const DEFAULT_HEALTHY_THRESHOLD = 1;
const DEFAULT_UNHEALTHY_THRESHOLD = 2;

/** One load balancer, as `render` gives it to the program. */
export interface RenderedLoadBalancer {
  /** UID of the CloudLoadBalancer: key of its results in the stack's outputs. */
  uid: string;
  ownerUID: string;
  owner: string;
  /** Name of the load balancer in the cloud and in the program; the others' names begin with it. */
  name: string;
  scheme: 'Public' | 'Internal';
  addresses: { name: string; family: 'IPv4'; requestedIP?: string }[];
  listeners: RenderedListener[];
  sourceRanges: string[];
}

export interface RenderedListener {
  name: string;
  protocol: 'TCP' | 'UDP';
  port: number;
  idleTimeoutMs: number;
  /** Where the members listen; the members path registers it. */
  nodePort: number;
  pool: { name: string; healthCheck: PoolHealthCheck; drainMs: number };
}

/** What the program publishes for one load balancer. */
const publishedLoadBalancer = z.object({
  addresses: z.array(z.string()).min(1),
  pools: z.array(z.object({ id: z.string(), port: z.number().int() })),
});
export type PublishedLoadBalancer = z.infer<typeof publishedLoadBalancer>;

/** Load balancers of the local cloud: one cloud load balancer for each CloudLoadBalancer. */
export const loadBalancers: LoadBalancers = {
  /** Its own; by UID, so that a load balancer made again under the same name never meets its predecessor's state. */
  defaultPlacement: ({ uid }) => uid,
  validate: (spec): Problem[] => validateLoadBalancer(spec),
  render: (_stack, inputs): JsonObject => ({
    loadBalancers: [...inputs].sort((a, b) => (a.uid < b.uid ? -1 : 1)).map((input) => renderOne(input) as unknown as JsonObject),
  }),
  results,
};

/** Upstream's name for a load balancer (contract 1.3, DefaultLoadBalancerName). */
export function cloudName(ownerUID: string): string {
  return `a${ownerUID.replaceAll('-', '')}`.slice(0, NAME_LENGTH);
}

function renderOne({ uid, ownerUID, namespace, name: objectName, spec }: LoadBalancerInput): RenderedLoadBalancer {
  const name = cloudName(ownerUID);
  return {
    uid,
    ownerUID,
    owner: `${namespace}/${objectName}`,
    name,
    scheme: spec.scheme,
    addresses: renderAddresses(name, spec),
    listeners: spec.listeners.map((listener) => renderListener(name, listener, spec)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    sourceRanges: renderSourceRanges(spec),
  };
}

/** An address asked for has a name of its own: asking for another one makes the new one before the old one goes. */
function renderAddresses(base: string, { addresses = [] }: CloudLoadBalancerSpec): RenderedLoadBalancer['addresses'] {
  const [requestedIP] = addresses;
  if (requestedIP === undefined) return [{ name: `${base}-v4`, family: 'IPv4' }];
  return [{ name: `${base}-${requestedIP}`, family: 'IPv4', requestedIP }];
}

/** Pools are named after protocol and port, not after the listener's name: renaming a Service port moves no members. */
function renderListener(base: string, { name, protocol, port, nodePort }: Listener, spec: CloudLoadBalancerSpec): RenderedListener {
  const local = spec.local ?? {};
  return {
    name,
    protocol: protocol === 'UDP' ? 'UDP' : 'TCP',
    port,
    idleTimeoutMs: (local.idleTimeoutSeconds ?? defaultOf('idleTimeoutSeconds')) * 1000,
    nodePort: nodePort ?? 0,
    pool: {
      name: `${base}-${protocol.toLowerCase()}-${port}`,
      healthCheck: renderHealthCheck(spec),
      drainMs: (local.drainSeconds ?? defaultOf('drainSeconds')) * 1000,
    },
  };
}

function renderHealthCheck({ healthCheck = { protocol: 'TCP' }, local }: CloudLoadBalancerSpec): PoolHealthCheck {
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
function renderSourceRanges({ sourceRanges = [] }: CloudLoadBalancerSpec): string[] {
  const ranges = [...new Set(sourceRanges)].sort();
  return ranges.some((range) => /^[0-9.]+\/0$/.test(range)) ? [] : ranges;
}

function results(outputs: JsonObject, uid: string): LoadBalancerResult | undefined {
  const { data } = publishedLoadBalancer.safeParse(outputs[uid]);
  if (data === undefined) return undefined;
  return { ingress: data.addresses.map((ip) => ({ ip, ipMode: 'Proxy' })), targetGroups: data.pools };
}
