/**
 * The local cloud's HTTP API: JSON over 127.0.0.1 or a unix socket, `Authorization: Bearer <token>`, `X-Caller: <who>` for the call counts.
 *
 * | call | does |
 * |---|---|
 * | `POST /v1/<collection>` `{...spec, clientToken?}` | creates → 201 `{resource, operation}`; the same clientToken again gives the same resource → 200 |
 * | `GET /v1/<collection>?cluster=&stack=&name=&pageSize=&pageToken=` | lists, oldest first → `{items, nextPageToken?}`; pageSize 1…10000, 500 when absent |
 * | `GET /v1/<collection>/<id>` | one resource, `ETag` header |
 * | `PATCH /v1/<collection>/<id>` (If-Match: etag, optional) | each given spec field replaces the old one whole → `{resource, operation}` |
 * | `DELETE /v1/<collection>/<id>` (If-Match: etag, optional) | → `{operation}`; 404 when gone; 409 `InUse` while something refers to it |
 * | `PUT /v1/pools/<id>/targets` `{targets}`, or `{instanceIDs, port}` | the whole target set → `{resource, operation}`; does not change the pool's etag |
 * | `GET /_calls`, `DELETE /_calls` | counts by verb, collection, code, caller → CallCounts; reset |
 * | `PUT /_faults`, `GET /_faults` | fault rules → FaultStatus |
 * | `POST /_drift` | changes something behind the operator's back, see DriftRequest → `{resource?}` |
 * | `GET /_topology`, `GET /healthz`, `GET /metrics` | tier and addresses; readiness (no token); Prometheus text |
 *
 * Every call about pools takes `?view=digest`: then `targetsDigest` and `targetCount` stand in place of `targets` and `health`, which thousands of Nodes make long.
 *
 * A write answers once the data plane has carried it out and the journal holds it. When the data plane can't, the answer is 503 `Unavailable`, the
 * resource stays with `state: error` and a message, and the cloud goes on trying; the same call again waits for the next try.
 *
 * A clientToken belongs to the resource that it made and is forgotten when that is deleted. With another spec it is refused: 409 `TokenMismatch`.
 * Codes and statuses: InvalidArgument 400 (405 wrong method, 413 body too large), Unauthorized 401, Forbidden and QuotaExceeded 403, NotFound 404;
 * NameTaken, InUse, AddressInUse and TokenMismatch 409, EtagMismatch 412, Throttled 429 (with `Retry-After`), Internal 500, Unavailable 503.
 */
export type Collection = 'instances' | 'addresses' | 'loadbalancers' | 'pools' | 'routetables' | 'routes' | 'operations';

/** What every resource has. Ownership travels in `tags`. */
export interface Resource {
  id: string;
  /** Unique in its collection among resources that live. */
  name: string;
  tags: Tags;
  etag: string;
  state: 'pending' | 'active' | 'updating' | 'deleting' | 'error';
  message?: string;
  createdAt: string;
  updatedAt: string;
}

/** Our marks on every cloud resource (design: Crashes and drift). */
export interface Tags {
  clusterID?: string;
  /** Pulumi stack. */
  stack?: string;
  /** Name of the resource in the stack's program. */
  resource?: string;
  /** UID of the owner in Kubernetes. */
  ownerUID?: string;
  /** namespace/name, for people. */
  owner?: string;
  [key: string]: string | undefined;
}

export type Family = 'IPv4' | 'IPv6';

export interface Instance extends Resource {
  providerID: string;
  zone: string;
  region: string;
  type: string;
  /** One for each family that was asked for; at create `ipFamilies`, absent = IPv4. */
  addresses: { family: Family; ip: string }[];
  podCIDRs: string[];
  power: 'running' | 'stopped' | 'terminated';
  sourceDestCheck: boolean;
  /** Run on the instance once its network is up, with LOCALCLOUD_INSTANCE, _ADDRESS, _POD_CIDRS and _SOCKET (a unix socket path to listen on) in its environment. */
  process?: { command: string[]; env?: Record<string, string> };
  /** Network namespace, in the tiers that have them. */
  netns?: string;
  /** Unix socket that the process listens on; host processes can reach it in every tier. */
  socket?: string;
}

export interface Address extends Resource {
  family: Family;
  ip: string;
  /** Asked for at create: a fixed IP of the pool. */
  requestedIP?: string;
  loadBalancerID?: string;
}

export interface LoadBalancer extends Resource {
  scheme: 'Public' | 'Internal';
  /**
   * proxy (absent): connections end here, and new ones go to the targets. passthrough: packets go on to the targets as they are, from the client's
   * address to the load balancer's; targets must take them (as kube-proxy does for a Service's load balancer address), and their port is the listener's.
   */
  mode?: 'proxy' | 'passthrough';
  addressIDs: string[];
  listeners: LoadBalancerListener[];
  /** Clients that are let in where a listener does not say it itself; empty = everybody. */
  sourceRanges: string[];
  /** How a client on the host reaches each listener: equal to the address in `vpc-root`, mapped in the other tiers. */
  hostPorts: { listener: string; ip: string; port: number; protocol: 'TCP' | 'UDP' }[];
}

export interface LoadBalancerListener {
  name: string;
  protocol: 'TCP' | 'UDP';
  port: number;
  poolID: string;
  idleTimeoutMs?: number;
  /** Those of the load balancer's addresses that it answers on; absent = all of them. */
  addressIDs?: string[];
  /** Clients that are let in here; absent = those of the load balancer, empty = everybody. */
  sourceRanges?: string[];
  /** Whose listener it is, on a load balancer that several share: UID and namespace/name of the owner in Kubernetes. */
  ownerUID?: string;
  owner?: string;
}

export interface TargetPool extends Resource {
  protocol: 'TCP' | 'UDP';
  targets: PoolTarget[];
  healthCheck: PoolHealthCheck;
  drainMs: number;
  /** How long a client keeps its target after its last new connection; absent or 0 = it keeps none. */
  affinityMs?: number;
  /** What a TCP target is told of the client before the client's first byte, by the PROXY protocol; absent = none. */
  proxyProtocol?: ProxyProtocol;
  /** Whether all targets are tried while none is healthy, as is usual; false = none gets traffic then. Absent = true. */
  failOpen?: boolean;
  /** Read only: what the data plane sees, by instance id. */
  health: {
    instanceID: string;
    port: number;
    /** Where it is reached; absent while the data plane does not know it. A target with two families has two rows on a load balancer of both. */
    address?: string;
    state: 'healthy' | 'unhealthy' | 'draining' | 'initial';
    reason?: string;
    connections: number;
  }[];
}

export type ProxyProtocol = 'none' | 'v1' | 'v2';

/** A pool with `?view=digest`. */
export interface PoolDigest extends Omit<TargetPool, 'targets' | 'health'> {
  /** Of the target set, as `target-digest.ts` has it. */
  targetsDigest: string;
  targetCount: number;
}

export interface PoolTarget {
  instanceID: string;
  port: number;
}

export interface PoolHealthCheck {
  protocol: 'HTTP' | 'TCP';
  /** Absent: the target's own port. UDP pools need one, or are never checked. */
  port?: number;
  path?: string;
  intervalMs: number;
  timeoutMs: number;
  healthyThreshold: number;
  unhealthyThreshold: number;
}

/** One per VPC; made by the cloud itself at first start, id `rtb-main`. */
export interface RouteTable extends Resource {
  main: boolean;
}

export interface Route extends Resource {
  routeTableID: string;
  destinationCIDR: string;
  instanceID: string;
  /** blackhole: the instance is gone. */
  routeState: 'active' | 'blackhole';
  enforced: 'kernel' | 'userland' | 'none';
}

export interface Operation {
  id: string;
  verb: 'create' | 'update' | 'delete' | 'targets';
  collection: Collection;
  resourceID: string;
  state: 'running' | 'done' | 'failed';
  error?: ApiError;
}

/** Body of every answer that is not 2xx. */
export interface ApiError {
  code:
    | 'Unauthorized'
    | 'Forbidden'
    | 'NotFound'
    | 'NameTaken'
    | 'InUse'
    | 'EtagMismatch'
    | 'Throttled'
    | 'QuotaExceeded'
    | 'InvalidArgument'
    | 'AddressInUse'
    | 'TokenMismatch'
    | 'Unavailable'
    | 'Internal';
  message: string;
  field?: string;
  retryAfterMs?: number;
}

/** One rule of `PUT /_faults` `{seed?, rules}`; the first that matches acts, and is counted. */
export interface FaultRule {
  match: {
    verb?: 'create' | 'get' | 'list' | 'update' | 'delete' | 'targets';
    collection?: Collection;
    nameRegex?: string;
    caller?: string;
  };
  /** Act at most so often. */
  times?: number;
  /** 0…1, drawn from the seeded generator. */
  probability?: number;
  /** Let so many matches pass first. */
  after?: number;
  act:
    | { latencyMs: { min: number; max: number } }
    | { status: number; code: ApiError['code']; retryAfterMs?: number }
    | { throttle: { rps: number; burst: number } }
    /** Creates are refused (403 QuotaExceeded) while the collection holds `max` resources. */
    | { quota: { max: number } }
    /** The call is carried out, then its connection is closed without an answer. */
    | { loseResponse: true }
    /** The write is recorded and answered, but stays pending, updating or deleting until other rules are set or the cloud restarts. */
    | { stuckPending: true }
    /** Lists show the collection as it was so long ago. */
    | { listLagMs: number }
    /**
     * The cloud's process kills itself: `before-journal` before the write's record is written, `torn-journal` with half of it written,
     * `journal` when it is durable, `dataplane` when the data plane has carried it out and the end is not recorded yet.
     */
    | { crash: 'before-journal' | 'torn-journal' | 'journal' | 'dataplane' };
}

/** Body of `PUT /_faults`. */
export interface FaultRules {
  /** Of the generator for probabilities and latencies; 1 when absent. */
  seed?: number;
  rules: FaultRule[];
}

/** Answer of `GET /_faults` and `PUT /_faults`: each rule with how often it matched and acted. */
export interface FaultStatus {
  seed: number;
  rules: (FaultRule & { matched: number; acted: number })[];
}

/** `POST /_drift`: a change in the cloud that the operator did not make. Not counted as a call, and no fault rule sees it. */
export type DriftRequest =
  | { kind: 'deleteRoute'; destinationCIDR: string }
  | { kind: 'deleteKernelRoute'; destinationCIDR: string }
  | { kind: 'patch'; collection: Collection; id: string; fields: Record<string, unknown> }
  | { kind: 'delete'; collection: Collection; id: string }
  | { kind: 'setTargets'; id: string; targets: PoolTarget[] }
  | { kind: 'power'; id: string; power: Instance['power'] };

export interface Topology {
  /** none: nothing moves packets; for tests with thousands of objects. */
  tier: 'vpc-root' | 'vpc-userns' | 'loopback' | 'netns' | 'none';
  /** One line for people: which tier and why not a better one. */
  reason: string;
  loadBalancerCIDR: string;
  /** Absent where the cloud makes no machines: all are registered with addresses of their own. */
  nodeCIDR?: string;
  podCIDR: string;
  /** `nodeCIDR` is absent where machines have no IPv6 addresses. */
  ipv6: { loadBalancerCIDR: string; nodeCIDR?: string };
  netns: string[];
  /** Why this tier has no load balancers of mode passthrough; absent = it has. */
  noPassthrough?: string;
}

export interface CallCounts {
  total: number;
  writes: number;
  calls: { verb: string; collection: Collection; code: number; caller: string; count: number }[];
}
