import type { Clock } from '../../../../../operator/base/clock';
import type { Logger } from '../../../../../operator/base/log';
import type { ProxyProtocol } from '../../../api';
import { Affinity } from './affinity';
import type { Checker } from './health-check';
import type { FamilyPoolPlan } from './family-pool';
import { ownProxyHeader } from './proxy-header';
import { isChecked, nextHealth, targetKey, type Flow, type Target, type TargetHealth } from './target';

export interface PoolParts {
  clock: Clock;
  check: Checker;
  logger: Logger;
  /** Called when the last target has left: the engine then drops a pool that nobody uses. */
  onEmpty: () => void;
  /** Called when a target's health has changed, or one has left. */
  onChange?: () => void;
}

/**
 * The targets of one pool: who is well, whose turn it is, who is leaving.
 * Healthy targets come first, then those not heard of yet; when all have failed, all are tried: a wrong health check must not
 * take a Service down that works. In a pool that does not fail open only healthy ones get traffic.
 */
export class Pool {
  private readonly targets = new Map<string, Target>();
  /** Cancels the next health check or the end of the drain. */
  private readonly timers = new Map<Target, () => void>();
  private checked = true;
  private turn = 0;
  private closed = false;
  private readonly affinity: Affinity;

  constructor(
    private plan: FamilyPoolPlan,
    private readonly parts: PoolParts,
  ) {
    this.affinity = new Affinity(parts.clock);
  }

  get id(): string {
    return this.plan.id;
  }

  get proxyProtocol(): ProxyProtocol {
    return this.plan.proxyProtocol;
  }

  /** True while a target that may yet turn out healthy has to be waited for. */
  get undecided(): boolean {
    return !this.plan.failOpen && [...this.targets.values()].some(({ draining, health }) => !draining && health.state === 'initial');
  }

  get empty(): boolean {
    return this.targets.size === 0;
  }

  /** Makes `plan` true: new targets are checked at once, missing ones drain, a target that comes back keeps its connections. */
  update(plan: FamilyPoolPlan, protocol: 'TCP' | 'UDP'): void {
    const checkChanged = JSON.stringify(plan.healthCheck) !== JSON.stringify(this.plan.healthCheck);
    this.plan = plan;
    if (plan.affinityMs === 0) this.affinity.clear();
    this.checked = isChecked(plan, protocol);
    const wanted = new Map(plan.targets.map((target) => [targetKey(target), target]));
    for (const target of this.targets.values()) {
      if (!wanted.has(target.key)) this.drain(target);
      else if (target.draining || checkChanged) this.keep(target);
    }
    for (const [key, target] of wanted) if (!this.targets.has(key)) this.admit(key, target);
  }

  /** Every target leaves as if it had been removed; for a pool that no listener uses any more. */
  retire(): void {
    this.update({ ...this.plan, targets: [] }, 'TCP');
  }

  /**
   * The target for a new connection of `client` (its address), none of `tried`; undefined when there is none left. With affinity it is the one
   * that the client had before, as long as that is as good as the best; else the one whose turn it is.
   */
  pick(tried: ReadonlySet<Target>, client: string): Target | undefined {
    const candidates = this.candidates(tried);
    const { affinityMs } = this.plan;
    if (affinityMs === 0) return this.next(candidates);
    const former = this.affinity.targetOf(client, affinityMs);
    const target = candidates.find(({ key }) => key === former) ?? this.next(candidates);
    if (target !== undefined) this.affinity.bind(client, target.key);
    return target;
  }

  /** All targets, those that leave included. */
  members(): Target[] {
    return [...this.targets.values()];
  }

  /** Those that new connections may go to. */
  best(): Target[] {
    return this.candidates(new Set());
  }

  /** Counts `flow` as a connection of `target` until it is released. */
  hold(target: Target, flow: Flow): void {
    target.flows.add(flow);
  }

  release(target: Target, flow: Flow): void {
    target.flows.delete(flow);
    if (target.draining && target.flows.size === 0) this.drop(target);
  }

  /** What traffic learnt of a target counts as a failed health check, so that a dead target leaves sooner. */
  reportFailure(target: Target, reason: string): void {
    if (this.checked && !target.draining) this.record(target, reason);
  }

  /** For people and the API, sorted by target. */
  health(): TargetHealth[] {
    const rows = [...this.targets.values()].map((target) => ({
      instanceID: target.instanceID,
      port: target.port,
      address: target.address,
      state: target.draining ? ('draining' as const) : target.health.state,
      ...(target.health.reason === undefined ? {} : { reason: target.health.reason }),
      connections: target.flows.size,
    }));
    return rows.sort((a, b) => (`${a.instanceID}:${a.port}` < `${b.instanceID}:${b.port}` ? -1 : 1));
  }

  /** Cuts everything at once. */
  close(): void {
    this.closed = true;
    for (const target of [...this.targets.values()]) this.drop(target);
  }

  /** The best of those that may be tried. */
  private candidates(tried: ReadonlySet<Target>): Target[] {
    const able = [...this.targets.values()].filter((target) => !target.draining && !tried.has(target));
    const states = this.plan.failOpen ? (['healthy', 'initial', 'unhealthy'] as const) : (['healthy'] as const);
    const ofState = states.map((state) => able.filter(({ health }) => health.state === state));
    return ofState.find((targets) => targets.length > 0) ?? [];
  }

  private next(candidates: Target[]): Target | undefined {
    return candidates.length === 0 ? undefined : candidates[this.turn++ % candidates.length];
  }

  private admit(key: string, planned: FamilyPoolPlan['targets'][number]): void {
    const target: Target = {
      key,
      instanceID: planned.instanceID,
      address: planned.address,
      port: planned.port,
      flows: new Set(),
      health: { state: 'initial', against: 0 },
      draining: false,
    };
    this.targets.set(key, target);
    this.keep(target);
  }

  private keep(target: Target): void {
    target.draining = false;
    this.timers.get(target)?.();
    if (this.checked) this.checkNow(target);
    else target.health = { state: 'healthy', against: 0, reason: 'not checked' };
  }

  private drain(target: Target): void {
    if (target.draining) return;
    target.draining = true;
    this.timers.get(target)?.();
    if (target.flows.size === 0) return this.drop(target);
    this.timers.set(
      target,
      this.parts.clock.after(this.plan.drainMs, () => this.drop(target)),
    );
  }

  private drop(target: Target): void {
    this.timers.get(target)?.();
    this.timers.delete(target);
    if (!this.targets.delete(target.key)) return;
    for (const flow of [...target.flows]) flow.cut();
    if (this.empty) this.parts.onEmpty();
    this.parts.onChange?.();
  }

  private checkNow(target: Target): void {
    let current = true;
    this.timers.set(target, () => (current = false));
    const check = this.plan.healthCheck;
    const started = this.parts.clock.monotonic();
    // On a port of its own the check meets somebody who expects no header.
    const preface = check.port === undefined ? ownProxyHeader(this.plan.proxyProtocol) : undefined;
    void this.parts.check(target.address, check.port ?? target.port, check, preface).then((failure) => {
      // Removed, drained or configured anew while the check was under way: its result is of no use.
      if (!current || this.closed) return;
      this.record(target, failure);
      const wait = Math.max(0, this.plan.healthCheck.intervalMs - (this.parts.clock.monotonic() - started));
      this.timers.set(
        target,
        this.parts.clock.after(wait, () => this.checkNow(target)),
      );
    });
  }

  private record(target: Target, failure: string | undefined): void {
    const before = target.health;
    target.health = nextHealth(before, failure, this.plan.healthCheck);
    if (before.state === target.health.state) return;
    const fields = { pool: this.id, instance: target.instanceID, port: target.port, reason: failure };
    this.parts.logger.debug(fields, `target is ${target.health.state}`);
    this.parts.onChange?.();
  }
}
