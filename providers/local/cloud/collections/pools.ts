import { z } from 'zod';
import type { LoadBalancer, PoolDigest, PoolHealthCheck, PoolTarget, TargetPool } from '../../api';
import { targetsDigest } from '../../../target-digest';
import { invalid } from '../api-failure';
import type { Entry } from '../entry';
import { id, milliseconds, name, parse, port, tags, transport, unique } from '../schema';
import { livingInstance } from './instances';
import type { CollectionRules, Part, View } from './rules';

const target = z.strictObject({ instanceID: id, port });
const MAX_TARGETS = 10_000;
const targets = z.array(target).max(MAX_TARGETS);
const instancesOfPort = z.strictObject({ instanceIDs: z.array(id).max(MAX_TARGETS), port });

const healthCheck = z.strictObject({
  protocol: z.enum(['HTTP', 'TCP']),
  port: port.exactOptional(),
  path: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, 'must start with "/" and have no spaces')
    .max(1024)
    .exactOptional(),
  intervalMs: milliseconds.min(50).exactOptional(),
  timeoutMs: milliseconds.min(10).exactOptional(),
  healthyThreshold: z.int().min(1).max(100).exactOptional(),
  unhealthyThreshold: z.int().min(1).max(100).exactOptional(),
});

const mutable = {
  tags: tags.exactOptional(),
  healthCheck: healthCheck.transform(complete).exactOptional(),
  drainMs: milliseconds.exactOptional(),
  affinityMs: milliseconds.exactOptional(),
  proxyProtocol: z.enum(['none', 'v1', 'v2']).exactOptional(),
  failOpen: z.boolean().exactOptional(),
};

const spec = z.strictObject({ name, protocol: transport, targets: targets.exactOptional(), ...mutable });

type Spec = z.infer<typeof spec>;

/** Target pools: where listeners send. Their targets change far more often than the rest, by a call of their own. */
export const poolRules: CollectionRules<'pools', Spec> = {
  collection: 'pools',
  idPrefix: 'pool',
  createSchema: spec,
  patchSchema: z.strictObject(mutable),
  create: (wanted, _id, view) => {
    checkTargets(wanted.targets ?? [], view);
    return {
      fields: {
        protocol: wanted.protocol,
        targets: wanted.targets ?? [],
        healthCheck: wanted.healthCheck ?? complete({ protocol: 'TCP' }),
        drainMs: wanted.drainMs ?? 30_000,
        affinityMs: wanted.affinityMs ?? 0,
        proxyProtocol: wanted.proxyProtocol ?? 'none',
        failOpen: wanted.failOpen ?? true,
        health: [],
      },
    };
  },
  check: ({ resource: { healthCheck: check, protocol, proxyProtocol = 'none' } }) => {
    if (protocol === 'UDP' && proxyProtocol !== 'none') throw invalid('proxyProtocol', 'only TCP targets can be told of their clients');
    if (check.protocol === 'TCP' && check.path !== undefined) throw invalid('healthCheck.path', 'a TCP check has no path');
    if (check.timeoutMs > check.intervalMs) {
      throw invalid('healthCheck.timeoutMs', `${check.timeoutMs} is longer than the interval, ${check.intervalMs}`);
    }
  },
  effects: (before, after, view) => ({ changes: [], parts: partsOfPool((after ?? before)?.resource.id ?? '', view) }),
  inUseBy: ({ resource }, view) => {
    const user = usersOf(resource.id, view)[0]?.resource;
    return user === undefined ? undefined : `a listener of load balancer ${user.name} (${user.id})`;
  },
};

/**
 * Reads and checks the body of `PUT /v1/pools/<id>/targets`.
 * @throws ApiFailure InvalidArgument
 */
export function parseTargets(body: unknown, view: View): PoolTarget[] {
  const ofOnePort = typeof body === 'object' && body !== null && 'instanceIDs' in body;
  const parsed = ofOnePort ? targetsOf(parse(instancesOfPort, body)) : parse(z.strictObject({ targets }), body).targets;
  checkTargets(parsed, view);
  return parsed;
}

function targetsOf({ instanceIDs, port: at }: z.infer<typeof instancesOfPort>): PoolTarget[] {
  return instanceIDs.map((instanceID) => ({ instanceID, port: at }));
}

/** By target set: a set is never changed, but replaced. */
const digests = new WeakMap<readonly PoolTarget[], string>();

/** Digest of a pool's target set, worked out once for each set. */
export function digestOf({ targets: set }: Pick<TargetPool, 'targets'>): string {
  const known = digests.get(set) ?? targetsDigest(set);
  digests.set(set, known);
  return known;
}

/** The pool with the view `digest`. */
export function withDigest(pool: TargetPool): PoolDigest {
  const shown: Partial<TargetPool> = { ...pool };
  delete shown.targets;
  delete shown.health;
  return { ...(shown as Omit<TargetPool, 'targets' | 'health'>), targetsDigest: digestOf(pool), targetCount: pool.targets.length };
}

/** The load balancers that the data plane must look at when the pool changes. */
export function partsOfPool(poolID: string, view: View): Part[] {
  return usersOf(poolID, view).map(({ resource }) => ({ kind: 'loadbalancer', id: resource.id }));
}

/** The pool with what the data plane sees now; a target that it does not know yet is `initial`. */
export function withHealth(pool: TargetPool, seen: TargetPool['health'] | undefined): TargetPool {
  const known = new Set((seen ?? []).map(({ instanceID, port: at }) => `${instanceID}:${at}`));
  const unseen = pool.targets
    .filter((one) => !known.has(`${one.instanceID}:${one.port}`))
    .map((one) => ({ ...one, state: 'initial' as const, connections: 0 }));
  return { ...pool, health: [...(seen ?? []), ...unseen] };
}

function usersOf(poolID: string, { state }: View): Entry<LoadBalancer>[] {
  return state.all('loadbalancers').filter(({ resource }) => resource.listeners.some((listener) => listener.poolID === poolID));
}

function checkTargets(wanted: readonly PoolTarget[], view: View): void {
  wanted.forEach(({ instanceID }, index) => livingInstance(view, instanceID, `targets[${index}].instanceID`));
  unique(
    wanted,
    (one) => `${one.instanceID}:${one.port}`,
    (index) => `targets[${index}]`,
  );
}

function complete(check: z.infer<typeof healthCheck>): PoolHealthCheck {
  const intervalMs = check.intervalMs ?? 1000;
  return {
    protocol: check.protocol,
    ...(check.port === undefined ? {} : { port: check.port }),
    ...(check.protocol === 'HTTP' ? { path: check.path ?? '/' } : {}),
    ...(check.protocol === 'TCP' && check.path !== undefined ? { path: check.path } : {}),
    intervalMs,
    timeoutMs: check.timeoutMs ?? Math.min(500, intervalMs),
    healthyThreshold: check.healthyThreshold ?? 2,
    unhealthyThreshold: check.unhealthyThreshold ?? 2,
  };
}
