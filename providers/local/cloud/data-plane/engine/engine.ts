import type { Clock } from '../../../../../operator/base/clock';
import type { Logger } from '../../../../../operator/base/log';
import type { Family, LoadBalancer, TargetPool } from '../../../api';
import { placesOf, type ListenerPlan, type LoadBalancerPlan } from '../../data-plane';
import { familyOf } from '../ip-range';
import { KeyedLock } from '../keyed-lock';
import { poolIDOf, poolKey, poolOfFamily, type FamilyPoolPlan } from './family-pool';
import { checkTarget, type Checker } from './health-check';
import { portCandidates } from './host-port';
import type { Listener, ListenerSettings } from './listener';
import { Pool } from './pool';
import { SourceRanges } from './source-ranges';
import { TcpListener } from './tcp-listener';
import { UdpListener } from './udp-listener';

export interface EngineOptions {
  clock: Clock;
  logger: Logger;
  /** Open another port where a listener's own is forbidden or taken (tiers whose addresses are the host's). */
  offsetPorts: boolean;
  check?: Checker;
}

/** A target that does not accept within this is passed over, milliseconds; less than what clients wait. */
const MAX_CONNECT_TIMEOUT_MS = 1000;

interface OpenListener {
  loadBalancerID: string;
  plan: ListenerPlan;
  ip: string;
  listener: TcpListener | UdpListener;
}

/** Balances TCP and UDP in this process: listeners, pools, and what joins them. */
export class Engine {
  /** Keyed by load balancer, protocol, address and port: what must be closed and opened anew when it changes. */
  private readonly listeners = new Map<string, OpenListener>();
  private readonly pools = new Map<string, Pool>();
  /** Ids of the pools that each load balancer needs, set before its listeners open. */
  private readonly uses = new Map<string, Set<string>>();
  private readonly lock = new KeyedLock();

  constructor(private readonly options: EngineOptions) {}

  /**
   * Opens, changes and closes ports until the load balancer is as planned. What stays the same is not touched.
   * @throws OperatorError Conflict when a port can't be opened, Invalid on a source range; the other listeners are in place then
   */
  applyLoadBalancer(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    return this.lock.run(plan.id, () => this.apply(plan));
  }

  /** Closes all its ports and cuts its connections; no-op when it is not there. */
  async removeLoadBalancer(id: string): Promise<void> {
    await this.lock.run(id, async () => {
      await this.closeWhere((open) => open.loadBalancerID === id);
      this.uses.delete(id);
      this.retireUnusedPools();
    });
  }

  /** The listener of a load balancer by protocol, address and port: where the bridge from the host delivers. */
  find(loadBalancerID: string, protocol: 'TCP' | 'UDP', ip: string, port: number): Listener | undefined {
    return this.listeners.get(listenerKey(loadBalancerID, protocol, ip, port))?.listener;
  }

  health(): Map<string, TargetPool['health']> {
    const health = new Map<string, TargetPool['health']>();
    for (const pool of this.pools.values()) {
      const id = poolIDOf(pool.id);
      health.set(id, [...(health.get(id) ?? []), ...pool.health()]);
    }
    return health;
  }

  async close(): Promise<void> {
    await this.closeWhere(() => true);
    for (const pool of this.pools.values()) pool.close();
    this.pools.clear();
  }

  private async apply(plan: LoadBalancerPlan): Promise<LoadBalancer['hostPorts']> {
    const everywhere = new SourceRanges(plan.sourceRanges);
    const wanted = new Map(
      placesOf(plan).map(({ ip, listener }) => {
        const sourceRanges = listener.sourceRanges === undefined ? everywhere : new SourceRanges(listener.sourceRanges);
        return [listenerKey(plan.id, listener.protocol, ip, listener.port), { ip, listener, sourceRanges }];
      }),
    );
    this.uses.set(plan.id, new Set(placesOf(plan).map(({ ip, listener }) => poolKey(listener.pool.id, familyOf(ip)))));
    await this.closeWhere((open, key) => open.loadBalancerID === plan.id && !wanted.has(key));
    const failures: unknown[] = [];
    for (const [key, { ip, listener, sourceRanges }] of wanted) {
      const settings = this.settingsOf(listener, sourceRanges, familyOf(ip));
      const open = this.listeners.get(key);
      if (open !== undefined) Object.assign(open, { plan: listener }).listener.settings = settings;
      else await this.open(key, { loadBalancerID: plan.id, ip, plan: listener }, settings).catch((error) => failures.push(error));
    }
    this.retireUnusedPools();
    if (failures.length > 0) throw failures[0];
    return this.hostPorts(plan.id);
  }

  private async open(key: string, place: Omit<OpenListener, 'listener'>, settings: ListenerSettings): Promise<void> {
    const { clock, offsetPorts } = this.options;
    const parts = { clock, ip: place.ip, candidates: portCandidates(place.plan.port, offsetPorts) };
    const listener = place.plan.protocol === 'TCP' ? new TcpListener(settings, parts) : new UdpListener(settings, parts);
    await listener.open();
    this.listeners.set(key, { ...place, listener });
  }

  private settingsOf(listener: ListenerPlan, sourceRanges: SourceRanges, family: Family): ListenerSettings {
    return {
      pool: this.poolFor(poolOfFamily(listener.pool, family), listener.protocol),
      sourceRanges,
      idleTimeoutMs: listener.idleTimeoutMs,
      connectTimeoutMs: Math.min(listener.pool.healthCheck.timeoutMs, MAX_CONNECT_TIMEOUT_MS),
    };
  }

  private poolFor(plan: FamilyPoolPlan, protocol: 'TCP' | 'UDP'): Pool {
    let pool = this.pools.get(plan.id);
    if (pool === undefined) {
      const { clock, check = checkTarget, logger } = this.options;
      pool = new Pool(plan, { clock, check, logger, onEmpty: () => this.forgetUnused(plan.id) });
      this.pools.set(plan.id, pool);
    }
    pool.update(plan, protocol);
    return pool;
  }

  private hostPorts(loadBalancerID: string): LoadBalancer['hostPorts'] {
    return [...this.listeners.values()]
      .filter((open) => open.loadBalancerID === loadBalancerID)
      .map(({ plan, ip, listener }) => ({ listener: plan.name, ip, port: listener.port, protocol: plan.protocol }));
  }

  private async closeWhere(matches: (open: OpenListener, key: string) => boolean): Promise<void> {
    const closing = [...this.listeners].filter(([key, open]) => matches(open, key));
    for (const [key] of closing) this.listeners.delete(key);
    await Promise.all(closing.map(([, open]) => open.listener.close()));
  }

  private retireUnusedPools(): void {
    for (const pool of [...this.pools.values()]) {
      if (this.isUsed(pool.id)) continue;
      pool.retire();
      this.forgetUnused(pool.id);
    }
  }

  private forgetUnused(id: string): void {
    const pool = this.pools.get(id);
    if (pool?.empty === true && !this.isUsed(id)) this.pools.delete(id);
  }

  private isUsed(poolID: string): boolean {
    return [...this.uses.values()].some((ids) => ids.has(poolID));
  }
}

function listenerKey(loadBalancerID: string, protocol: string, ip: string, port: number): string {
  return `${loadBalancerID}|${protocol}|${ip}|${port}`;
}
