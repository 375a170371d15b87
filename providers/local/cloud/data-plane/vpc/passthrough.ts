import { systemClock } from '../../../../../operator/base/clock';
import { toOperatorError } from '../../../../../operator/base/errors';
import type { Logger } from '../../../../../operator/base/log';
import type { Family, LoadBalancer, TargetPool } from '../../../api';
import { placesOf, type LoadBalancerPlan } from '../../data-plane';
import { poolIDOf, poolKey, poolOfFamily, type FamilyPoolPlan } from '../engine/family-pool';
import { checkTarget } from '../engine/health-check';
import { Pool } from '../engine/pool';
import type { Flow } from '../engine/target';
import { familyOf } from '../ip-range';
import { KeyedLock } from '../keyed-lock';
import { run } from './commands';
import { REMOVE_SCRIPT, rulesetOf, scriptFor, type PassthroughListener, type Ruleset } from './nft-ruleset';
import { noPassthrough } from './passthrough-probe';
import { removeWays, TargetWays } from './target-ways';

/** Connections can't be counted here: each target counts as having one, so that it keeps what it has until its drain is over. */
const HELD: Flow = { cut: () => undefined };

/**
 * The engine that hands packets on as they are, from the client's address to the load balancer's: the Node that gets them does with them what
 * kube-proxy does with a Service's load balancer address, so that no node port is needed. The kernel moves the packets (nftables chooses, routes
 * lead); health checks and drains are kept here.
 */
export class Passthrough {
  private readonly plans = new Map<string, LoadBalancerPlan>();
  private readonly pools = new Map<string, Pool>();
  private readonly ways = new TargetWays();
  private readonly lock = new KeyedLock();
  private ruleset: Ruleset = { sets: new Map(), chains: new Map() };
  /** True while a write waits for its turn: it will see whatever changes until then. */
  private waiting = false;
  private used = false;
  /** Targets to which no way could be made at the last write. */
  private refused: ReadonlyMap<string, string> = new Map();

  constructor(private readonly logger: Logger) {}

  /** @throws OperatorError with what the kernel refused */
  async applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    this.plans.set(plan.id, plan);
    this.updatePools();
    await this.write();
    return placesOf(plan).map(({ ip, listener: { name, port, protocol } }) => ({ listener: name, ip, port, protocol }));
  }

  /** No-op when it is not there. */
  async removeLoadBalancer(id: string): Promise<void> {
    if (!this.plans.delete(id)) return;
    this.updatePools();
    await this.write();
  }

  health(): Map<string, TargetPool['health']> {
    const health = new Map<string, TargetPool['health']>();
    for (const pool of this.pools.values()) {
      const rows = pool.health().map((row) => ({ ...row, connections: 0 }));
      health.set(poolIDOf(pool.id), [...(health.get(poolIDOf(pool.id)) ?? []), ...rows]);
    }
    return health;
  }

  async close(): Promise<void> {
    this.plans.clear();
    for (const pool of this.pools.values()) pool.close();
    this.pools.clear();
    if (!this.used) return;
    await this.lock.run('kernel', async () => {
      await run(['nft', '-f', '-'], REMOVE_SCRIPT);
      await this.ways.keepOnly(new Set());
    });
  }

  /** Takes away what an agent that was killed left in this namespace. Where it can't be used, it left nothing. */
  async clear(): Promise<void> {
    if (noPassthrough('netns') !== undefined) return;
    await run(['nft', '-f', '-'], REMOVE_SCRIPT);
    await removeWays();
  }

  private updatePools(): void {
    const wanted = new Map<string, { plan: FamilyPoolPlan; protocol: 'TCP' | 'UDP' }>();
    for (const { ip, listener } of [...this.plans.values()].flatMap(placesOf)) {
      const plan = poolOfFamily(listener.pool, familyOf(ip));
      // What is handed on as it is stays in its family.
      const targets = plan.targets.filter(({ address }) => familyOf(address) === familyOf(ip));
      wanted.set(plan.id, { plan: { ...plan, targets }, protocol: listener.protocol });
    }
    for (const [key, { plan, protocol }] of wanted) this.poolFor(key, plan).update(plan, protocol);
    for (const [key, pool] of this.pools) {
      if (wanted.has(key)) for (const target of pool.members()) pool.hold(target, HELD);
      else this.drop(key, pool);
    }
  }

  private poolFor(key: string, plan: FamilyPoolPlan): Pool {
    const known = this.pools.get(key);
    if (known !== undefined) return known;
    const parts = { clock: systemClock, check: checkTarget, logger: this.logger, onEmpty: () => undefined, onChange: () => this.changed() };
    const pool = new Pool({ ...plan, targets: [] }, parts);
    this.pools.set(key, pool);
    return pool;
  }

  private drop(key: string, pool: Pool): void {
    this.pools.delete(key);
    pool.close();
  }

  private changed(): void {
    this.write().catch((error: unknown) =>
      this.logger.error({ error: toOperatorError(error).message }, 'targets are not as they should be'),
    );
  }

  /** Makes the kernel's rules and routes follow. Resolves when they do. */
  private async write(): Promise<void> {
    if (this.waiting) return this.lock.run('kernel', () => Promise.resolve());
    this.waiting = true;
    return this.lock.run('kernel', async () => {
      this.waiting = false;
      this.used = true;
      // Of one moment: what changes meanwhile has a write of its own.
      const addresses = new Set([...this.pools.values()].flatMap((pool) => pool.members().map(({ address }) => address)));
      const listeners = this.listeners();
      // The way before the packets; and it stays until none are sent there.
      const refused = await this.ways.add(addresses);
      this.complain(refused);
      const lost = new Set([...refused.keys()].map((address) => this.ways.markOf(address)));
      const next = rulesetOf(listeners.map((listener) => without(listener, lost)));
      await run(['nft', '-f', '-'], scriptFor(this.ruleset, next));
      this.ruleset = next;
      await this.ways.keepOnly(addresses);
    });
  }

  /** Once, as long as the kernel says the same. */
  private complain(refused: ReadonlyMap<string, string>): void {
    for (const [target, why] of refused) {
      if (this.refused.get(target) !== why) this.logger.warn({ target, why }, 'no packets go to this target: there is no way to it');
    }
    this.refused = refused;
  }

  private listeners(): PassthroughListener[] {
    return [...this.plans.values()].flatMap((plan) =>
      placesOf(plan).map(({ ip, listener }) => {
        const { protocol, port, sourceRanges = plan.sourceRanges, pool } = listener;
        return { ip, protocol, port, sourceRanges, affinityMs: pool.affinityMs, ...this.marksOf(pool.id, familyOf(ip), protocol) };
      }),
    );
  }

  /** An open TCP connection stays with a target that has become unhealthy; a UDP client is better off with another one. */
  private marksOf(poolID: string, family: Family, protocol: 'TCP' | 'UDP'): { fresh: number[]; kept: number[] } {
    const pool = this.pools.get(poolKey(poolID, family));
    const fresh = (pool?.best() ?? []).map(({ address }) => this.ways.markOf(address));
    const staying = (pool?.members() ?? []).filter(({ draining }) => draining || protocol === 'TCP');
    return { fresh, kept: staying.map(({ address }) => this.ways.markOf(address)).filter((mark) => !fresh.includes(mark)) };
  }
}

/** A packet with a mark whose way is missing would go to its destination, which is nowhere. Pure. */
function without(listener: PassthroughListener, marks: ReadonlySet<number>): PassthroughListener {
  const rest = (some: readonly number[]): number[] => some.filter((mark) => !marks.has(mark));
  return { ...listener, fresh: rest(listener.fresh), kept: rest(listener.kept) };
}
