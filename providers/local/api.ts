/**
 * The local cloud's HTTP API: JSON over 127.0.0.1 or a unix socket, `Authorization: Bearer <token>`, `X-Caller: <who>` for the call counts.
 *
 * | call | does |
 * |---|---|
 * | `POST /v1/<collection>` `{...spec, clientToken}` | creates; the same clientToken again gives the same resource → 201 `{resource, operation}` |
 * | `GET /v1/<collection>?cluster=&stack=&name=&pageSize=&pageToken=` | lists → `{items, nextPageToken?}` |
 * | `GET /v1/<collection>/<id>` | one resource, `ETag` header |
 * | `PATCH /v1/<collection>/<id>` (If-Match: etag, optional) | merges the given spec fields → `{resource, operation}` |
 * | `DELETE /v1/<collection>/<id>` | → `{operation}`; 404 when gone; 409 `InUse` while something refers to it |
 * | `PUT /v1/pools/<id>/targets` `{targets}` | the whole target set → `{resource, operation}`; does not change the pool's etag |
 * | `GET /_calls`, `DELETE /_calls` | counts by verb, collection, code, caller; reset |
 * | `PUT /_faults`, `GET /_faults` | fault rules |
 * | `POST /_drift` | changes something behind the operator's back, see DriftRequest |
 * | `GET /_topology`, `GET /healthz`, `GET /metrics` | tier and addresses; readiness (no token); Prometheus text |
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

export interface Instance extends Resource {
  providerID: string;
  zone: string;
  region: string;
  type: string;
  addresses: { family: 'IPv4' | 'IPv6'; ip: string }[];
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
  family: 'IPv4' | 'IPv6';
  ip: string;
  /** Asked for at create: a fixed IP of the pool. */
  requestedIP?: string;
  loadBalancerID?: string;
}

export interface LoadBalancer extends Resource {
  scheme: 'Public' | 'Internal';
  addressIDs: string[];
  listeners: LoadBalancerListener[];
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
}

export interface TargetPool extends Resource {
  protocol: 'TCP' | 'UDP';
  targets: PoolTarget[];
  healthCheck: PoolHealthCheck;
  drainMs: number;
  /** Read only: what the data plane sees, by instance id. */
  health: {
    instanceID: string;
    port: number;
    state: 'healthy' | 'unhealthy' | 'draining' | 'initial';
    reason?: string;
    connections: number;
  }[];
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
    | { quota: { max: number } }
    | { loseResponse: true }
    | { stuckPending: true }
    | { listLagMs: number }
    | { crash: 'journal' | 'dataplane' };
}

/** `POST /_drift`: a change in the cloud that the operator did not make. */
export type DriftRequest =
  | { kind: 'deleteRoute'; destinationCIDR: string }
  | { kind: 'deleteKernelRoute'; destinationCIDR: string }
  | { kind: 'patch'; collection: Collection; id: string; fields: Record<string, unknown> }
  | { kind: 'delete'; collection: Collection; id: string }
  | { kind: 'setTargets'; id: string; targets: PoolTarget[] }
  | { kind: 'power'; id: string; power: Instance['power'] };

export interface Topology {
  tier: 'vpc-root' | 'vpc-userns' | 'loopback';
  /** One line for people: which tier and why not a better one. */
  reason: string;
  loadBalancerCIDR: string;
  nodeCIDR: string;
  podCIDR: string;
  netns: string[];
}

export interface CallCounts {
  total: number;
  writes: number;
  calls: { verb: string; collection: Collection; code: number; caller: string; count: number }[];
}
